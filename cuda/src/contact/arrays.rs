//! The contacts of a substep: arrays on the device, and one contact on the host.

use crate::kernels::{ContactArrays, ConvexContacts};
use crate::layout::Span;
use crate::{Buffer, Device, DeviceError};

macro_rules! contacts {
    ($($field:ident: $type:ty,)*) => {
        /// A contact; [`ContactArrays`] documents its fields.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct DetectedContact {
            $(#[doc = concat!("See [`ContactArrays::", stringify!($field), "`].")] pub $field: $type,)*
        }

        /// The buffers of [`ContactArrays`].
        #[derive(Debug)]
        pub(crate) struct Contacts {
            count: Buffer<u32>,
            /// Empty where contacts act at their particles.
            arm: Buffer<[f32; 3]>,
            $($field: Buffer<$type>,)*
        }

        impl Contacts {
            pub(crate) fn new(device: &Device, capacity: usize) -> Result<Self, DeviceError> {
                let (count, arm) = (device.upload(&[0])?, device.allocate(0)?);
                Ok(Self { count, arm, $($field: device.allocate(capacity)?,)* })
            }

            /// Lets contacts act beside their particles.
            pub(crate) fn with_arms(self, device: &Device) -> Result<Self, DeviceError> {
                Ok(Self { arm: device.allocate(self.particle.len())?, ..self })
            }

            /// Whether they may.
            pub(crate) fn has_arms(&self) -> bool {
                !self.arm.is_empty()
            }

            /// What [`Contacts::new`] allocates, in bytes.
            pub(crate) fn bytes_needed(capacity: usize) -> u64 {
                (size_of::<u32>() + capacity * (0 $(+ size_of::<$type>())*)) as u64
            }

            pub(crate) fn arrays(&self) -> ContactArrays {
                ContactArrays { count: self.count.span(), arm: self.arm.span(), $($field: self.$field.span(),)* }
            }

            pub(crate) fn download(&self) -> Result<Vec<DetectedContact>, DeviceError> {
                let count = self.count.download()?.first().map_or(0, |count| *count as usize);
                let count = count.min(self.particle.len());
                $(
                    let mut $field = vec![<$type>::default(); count];
                    self.$field.download_at(0, &mut $field)?;
                )*
                Ok((0..count).map(|c| DetectedContact { $($field: $field[c],)* }).collect())
            }
        }
    };
}

contacts! {
    particle: u32,
    geometry: u32,
    body: u32,
    feature: u32,
    base: [i32; 3],
    offset: [f32; 3],
    normal: [f32; 3],
    body_velocity: [f32; 3],
    lever: [f32; 3],
    gap: f32,
    distance: f32,
    exit_distance: f32,
    stiffness: f32,
    dissipation: f32,
    friction: f32,
    lagged_normal_impulse: f32,
    tension: f32,
    last_impulse: [f32; 3],
}

impl From<&ContactArrays> for ConvexContacts {
    /// As the solver reads them. Their stiction tolerance is the solver's setting.
    fn from(contacts: &ContactArrays) -> Self {
        Self {
            count: contacts.count,
            base: contacts.base,
            offset: contacts.offset,
            arm: contacts.arm,
            normal: contacts.normal,
            body_velocity: contacts.body_velocity,
            gap: contacts.gap,
            stiffness: contacts.stiffness,
            friction: contacts.friction,
            lagged_normal_impulse: contacts.lagged_normal_impulse,
            tension: contacts.tension,
            dissipation: contacts.dissipation,
            stiction_tolerance: Span::EMPTY,
            body: contacts.body,
            lever: contacts.lever,
        }
    }
}
