//! Pictures as samples of H.264.

use openh264::OpenH264API;
use openh264::encoder::{
    BitRate, Encoder, EncoderConfig, FrameRate, FrameType, IntraFramePeriod, QpRange, RateControlMode,
    VuiConfig,
};
use pliant_render::Image;

use super::colour::Planes;
use crate::error::ExportError;

/// Most frames a second.
pub const RATE: f64 = 30.0;

/// Frames between those that need no other, to which players jump: two seconds.
const KEY_INTERVAL: u32 = 2 * RATE as u32;

/// Coarseness of the numbers, of 0 to 51: at 18 a step is 5 of 255, hardly to be seen. Pictures that
/// differ much from the one before are coarser, by 2 at most.
const COARSENESS: QpRange = QpRange::new(18, 20);

/// Bits a pixel that the encoder is told \[-\]; it only chooses the level by them.
const BITS_PER_PIXEL: f64 = 0.25;

/// Kinds of units of H.264 that describe the stream (ITU-T H.264, table 7-1).
const SEQUENCE_PARAMETERS: u8 = 7;
const PICTURE_PARAMETERS: u8 = 8;

/// The descriptions of the stream, without start codes.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    /// Sequence parameter set.
    pub sequence: Vec<u8>,
    /// Picture parameter set.
    pub picture: Vec<u8>,
}

/// A picture as the file has it: units, each after its length.
pub struct Sample<'a> {
    /// The units.
    pub bytes: &'a [u8],
    /// Needs no other picture.
    pub is_key: bool,
}

/// Encodes pictures of one size, one after the other. One thread: the bytes do not depend on the
/// machine's.
pub struct VideoEncoder {
    encoder: Encoder,
    planes: Planes,
    bytes: Vec<u8>,
    parameters: Parameters,
}

/// A refusal of the encoder at a frame.
fn refused(frame: usize) -> impl Fn(openh264::Error) -> ExportError {
    move |error| ExportError::Encoder { frame, reason: error.to_string() }
}

impl VideoEncoder {
    /// For pictures of `size`, even sides \[pixels\].
    pub fn new([width, height]: [u32; 2]) -> Result<Self, ExportError> {
        let bits = BITS_PER_PIXEL * RATE * f64::from(width) * f64::from(height);
        let config = EncoderConfig::new()
            .vui(VuiConfig::bt709())
            .num_threads(1)
            .skip_frames(false)
            // The mode that keeps to the least coarseness, whatever comes out.
            .rate_control_mode(RateControlMode::Bufferbased)
            .bitrate(BitRate::from_bps(bits as u32))
            .qp(COARSENESS)
            .max_frame_rate(FrameRate::from_hz(RATE as f32))
            .intra_frame_period(IntraFramePeriod::from_num_frames(KEY_INTERVAL));
        let encoder = Encoder::with_api_config(OpenH264API::from_source(), config).map_err(refused(0))?;
        let planes = Planes::new(width as usize, height as usize);
        Ok(Self { encoder, planes, bytes: Vec::new(), parameters: Parameters::default() })
    }

    /// Encodes the picture of a frame.
    pub fn encode(&mut self, frame: usize, image: &Image) -> Result<Sample<'_>, ExportError> {
        self.planes.fill(image);
        let stream = self.encoder.encode(&self.planes).map_err(refused(frame))?;
        self.bytes.clear();
        for layer in (0..stream.num_layers()).filter_map(|at| stream.layer(at)) {
            for unit in (0..layer.nal_count()).filter_map(|at| layer.nal_unit(at)) {
                sort(unit, &mut self.bytes, &mut self.parameters);
            }
        }
        if self.bytes.is_empty() {
            return Err(ExportError::Encoder { frame, reason: "it leaves the picture out".to_owned() });
        }
        let is_key = stream.frame_type() == FrameType::IDR;
        Ok(Sample { bytes: &self.bytes, is_key })
    }

    /// The descriptions of the stream, known after the first picture.
    pub fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }
}

/// Takes over a unit of the stream: a description, or a part of the sample, after its length.
fn sort(unit: &[u8], sample: &mut Vec<u8>, parameters: &mut Parameters) {
    // The start code is zeros and a one.
    let zeros = unit.iter().take_while(|&&byte| byte == 0).count();
    let unit = unit.get(zeros + 1..).unwrap_or_default();
    match unit.first().map_or(0, |head| head & 0x1f) {
        SEQUENCE_PARAMETERS => parameters.sequence = unit.to_vec(),
        PICTURE_PARAMETERS => parameters.picture = unit.to_vec(),
        _ => {
            sample.extend((unit.len() as u32).to_be_bytes());
            sample.extend(unit);
        }
    }
}
