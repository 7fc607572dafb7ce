//! `<compiler>` and `<option>`: conventions of the file, and global options.

use std::f64::consts::PI;

use nalgebra::Vector3;

use super::super::element::Element;
use super::super::error::ImportError;

/// Conventions of the file.
#[derive(Clone, Debug)]
pub(super) struct Compiler {
    /// Radians for each unit of angle in the file.
    pub angle: f64,
    /// Axes of Euler angles; lower case turns with the frame, upper case does not.
    pub euler: [char; 3],
    pub autolimits: bool,
    pub mesh_directory: String,
    pub strip_path: bool,
    /// Whether inertia comes from the geoms: always, never, or if there is no `<inertial>`.
    pub inertia_from_geom: Option<bool>,
    pub inertia_groups: [i64; 2],
    /// Least mass \[kg\] and principal moment of inertia \[kg m^2\] of every body.
    pub least_mass: f64,
    pub least_inertia: f64,
    pub balance_inertia: bool,
    /// Mass that all bodies together are scaled to \[kg\].
    pub total_mass: Option<f64>,
    pub discard_visual: bool,
}

impl Default for Compiler {
    fn default() -> Self {
        Self {
            angle: PI / 180.0,
            euler: ['x', 'y', 'z'],
            autolimits: true,
            mesh_directory: String::new(),
            strip_path: false,
            inertia_from_geom: None,
            inertia_groups: [0, 5],
            least_mass: 0.0,
            least_inertia: 0.0,
            balance_inertia: false,
            total_mass: None,
            discard_visual: false,
        }
    }
}

impl Compiler {
    pub fn read(root: &Element) -> Result<Self, ImportError> {
        let mut c = Self::default();
        for element in root.all("compiler") {
            if let Some(word) = element.word("angle", &["degree", "radian"])? {
                c.angle = [PI / 180.0, 1.0][word];
            }
            if let Some(text) = element.text("eulerseq") {
                let axes: Vec<char> = text.chars().collect();
                match <[char; 3]>::try_from(axes) {
                    Ok(axes) if axes.iter().all(|axis| "xyzXYZ".contains(*axis)) => c.euler = axes,
                    _ => return Err(element.bad("eulerseq", "three of the letters x, y, z, X, Y, Z")),
                }
            }
            c.autolimits = element.flag("autolimits", c.autolimits)?;
            for attribute in ["assetdir", "meshdir"] {
                if let Some(directory) = element.text(attribute) {
                    directory.clone_into(&mut c.mesh_directory);
                }
            }
            c.strip_path = element.flag("strippath", c.strip_path)?;
            if element.text("inertiafromgeom").is_some() {
                c.inertia_from_geom = element.tristate("inertiafromgeom")?;
            }
            if let Some([low, high]) = element.array::<2>("inertiagrouprange")? {
                c.inertia_groups = [low as i64, high as i64];
            }
            c.least_mass = element.not_negative("boundmass")?.unwrap_or(c.least_mass);
            c.least_inertia = element.not_negative("boundinertia")?.unwrap_or(c.least_inertia);
            c.balance_inertia = element.flag("balanceinertia", c.balance_inertia)?;
            // Not positive: masses stay as they are.
            c.total_mass = element.number("settotalmass")?.filter(|mass| *mass > 0.0).or(c.total_mass);
            c.discard_visual = element.flag("discardvisual", c.discard_visual)?;
        }
        Ok(c)
    }
}

/// Global options.
#[derive(Clone, Debug)]
pub(super) struct Options {
    /// Gravity \[m/s^2\].
    pub gravity: Vector3<f64>,
    /// Time step \[s\].
    pub time_step: Option<f64>,
    pub hints: Vec<(String, String)>,
}

impl Options {
    pub fn read(root: &Element) -> Result<Self, ImportError> {
        let mut options = Self { gravity: Vector3::new(0.0, 0.0, -9.81), time_step: None, hints: Vec::new() };
        let mut weightless = false;
        for element in root.all("option") {
            if let Some(gravity) = element.vector("gravity")? {
                options.gravity = gravity;
            }
            if let Some(step) = element.number("timestep")? {
                if step <= 0.0 {
                    return Err(element.bad("timestep", "positive (s)"));
                }
                options.time_step = Some(step);
            }
            let read = ["gravity", "timestep"];
            let mut hand = |element: &Element| {
                let hints = element.attributes.iter().filter(|(name, _)| !read.contains(&name.as_str()));
                options.hints.extend(hints.cloned());
            };
            hand(element);
            for flag in element.all("flag") {
                weightless |= flag.word("gravity", &["enable", "disable"])? == Some(1);
                hand(flag);
            }
        }
        if weightless {
            options.gravity = Vector3::zeros();
        }
        Ok(options)
    }
}
