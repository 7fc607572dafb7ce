//! The MP4 file: what the samples are, then the samples, so that a player begins while it loads.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use mp4_atom::{
    Avc1, Avcc, Co64, Colr, Dinf, Dref, Encode, FourCC, Ftyp, Hdlr, Header, Mdhd, Mdia, Minf, Moov, Mvhd,
    Stbl, Stsc, StscEntry, Stsd, Stss, Stsz, StszSamples, Stts, SttsEntry, Tkhd, Trak, Url, Visual, Vmhd,
};

use super::encoder::Parameters;
use crate::error::{ExportError, failed};

/// Ticks a second: that of streams, a multiple of all usual rates.
pub const TIMESCALE: u32 = 90_000;

/// The only track.
const TRACK: u32 = 1;

/// BT.709 as colours, curve and matrix (ISO/IEC 23091-2).
const BT709: u16 = 1;

/// Sizes of the samples, and which of them need no other.
#[derive(Default)]
pub struct Index {
    sizes: Vec<u32>,
    keys: Vec<u32>,
}

/// Neighbours of one duration, as the file counts them.
fn runs(durations: &[u32]) -> Vec<SttsEntry> {
    let same = |run: &[u32]| SttsEntry { sample_count: run.len() as u32, sample_delta: run[0] };
    durations.chunk_by(|a, b| a == b).map(same).collect()
}

impl Index {
    /// Adds a sample of `bytes`.
    pub fn add(&mut self, bytes: usize, is_key: bool) {
        self.sizes.push(bytes as u32);
        if is_key {
            // Samples are counted from 1.
            self.keys.push(self.sizes.len() as u32);
        }
    }

    /// The description of a track of pictures of `size` \[pixels\], shown for `durations` \[ticks\].
    pub fn describe(self, size: [u32; 2], parameters: &Parameters, durations: &[u32]) -> Moov {
        let [width, height] = size.map(|side| side as u16);
        let duration: u64 = durations.iter().map(|&ticks| u64::from(ticks)).sum();
        // The version of the box with 64 bits is chosen where needed.
        let header = Tkhd { track_id: TRACK, duration, enabled: true, in_movie: true, ..Tkhd::default() };
        let header = Tkhd { width: width.into(), height: height.into(), ..header };
        let media = Mdhd { timescale: TIMESCALE, duration, language: "und".into(), ..Mdhd::default() };
        let handler = Hdlr { handler: b"vide".into(), name: "video".to_owned() };
        let table = self.table(sample_entry([width, height], parameters), durations);
        let dinf = Dinf { dref: Dref { entries: vec![Url::default().into()] } };
        let minf = Minf { vmhd: Some(Vmhd::default()), dinf, stbl: table, ..Minf::default() };
        let mdia = Mdia { mdhd: media, hdlr: handler, minf };
        let mvhd = Mvhd { timescale: TIMESCALE, duration, next_track_id: TRACK + 1, ..Mvhd::default() };
        Moov { mvhd, trak: vec![Trak { tkhd: header, mdia, ..Trak::default() }], ..Moov::default() }
    }

    /// All samples lie in one chunk, whose place is set when the file is written.
    fn table(self, entry: Avc1, durations: &[u32]) -> Stbl {
        let samples_per_chunk = self.sizes.len() as u32;
        let chunk = StscEntry { first_chunk: 1, samples_per_chunk, sample_description_index: 1 };
        Stbl {
            stsd: Stsd { codecs: vec![entry.into()] },
            stts: Stts { entries: runs(durations) },
            stss: Some(Stss { entries: self.keys }),
            stsc: Stsc { entries: vec![chunk] },
            stsz: Stsz { samples: StszSamples::Different { sizes: self.sizes } },
            co64: Some(Co64 { entries: vec![0] }),
            ..Stbl::default()
        }
    }
}

/// Size, descriptions and colours of the pictures.
fn sample_entry([width, height]: [u16; 2], Parameters { sequence, picture }: &Parameters) -> Avc1 {
    let visual = Visual { data_reference_index: 1, width, height, ..Visual::default() };
    // Bytes 1 to 3 of the parameters: profile, its limits, level.
    let byte = |at: usize| sequence.get(at).copied().unwrap_or_default();
    let avcc = Avcc {
        configuration_version: 1,
        avc_profile_indication: byte(1),
        profile_compatibility: byte(2),
        avc_level_indication: byte(3),
        length_size: 4,
        sequence_parameter_sets: vec![sequence.clone()],
        picture_parameter_sets: vec![picture.clone()],
        ext: None,
    };
    let colr = Colr::Nclx {
        colour_primaries: BT709,
        transfer_characteristics: BT709,
        matrix_coefficients: BT709,
        full_range_flag: false,
    };
    Avc1 { visual, avcc, colr: Some(colr), ..Avc1::default() }
}

/// Writes the file at `path` with the samples of the file `samples`.
pub fn write(moov: &Moov, samples: &Path, path: &Path) -> Result<(), ExportError> {
    let mut from = File::open(samples).map_err(failed("open", samples))?;
    let bytes = from.metadata().map_err(failed("read", samples))?.len();
    let head = head(moov, bytes).map_err(|e| failed("write", path)(io::Error::other(e)))?;
    let mut file = File::create_new(path).map_err(failed("create", path))?;
    file.write_all(&head).map_err(failed("write", path))?;
    io::copy(&mut from, &mut file).map_err(failed("write", path))?;
    Ok(())
}

/// All of the file before the samples, of which there are `bytes`.
fn head(moov: &Moov, bytes: u64) -> Result<Vec<u8>, mp4_atom::Error> {
    let ftyp = Ftyp {
        major_brand: b"isom".into(),
        minor_version: 0x200,
        compatible_brands: vec![b"isom".into(), b"iso2".into(), b"avc1".into(), b"mp41".into()],
    };
    let made = |moov: &Moov| -> Result<Vec<u8>, mp4_atom::Error> {
        let mut head = Vec::new();
        ftyp.encode(&mut head)?;
        moov.encode(&mut head)?;
        let size = usize::try_from(bytes).map_err(|_| mp4_atom::Error::TooLarge(FourCC::new(b"mdat")))?;
        Header { kind: FourCC::new(b"mdat"), size: Some(size) }.encode(&mut head)?;
        Ok(head)
    };
    // The place of the samples has 64 bits wherever it is: its value does not move it.
    let start = made(moov)?.len() as u64;
    let mut moov = moov.clone();
    for track in &mut moov.trak {
        track.mdia.minf.stbl.co64 = Some(Co64 { entries: vec![start] });
    }
    made(&moov)
}
