//! PNG and GIF files against the decoders of the crate `image`.

// A test fails by panicking, in its helpers too.
#![allow(clippy::unwrap_used)]

mod render_support;

use std::io::Cursor;

use image::AnimationDecoder;
use nalgebra::Point3;
use pliant_numeric::random::SplitMix64;
use pliant_render::{Camera, GifWriter, Image, Picture, RenderSphere, encode_png, render, write_png};
use render_support::{RED, front_camera};

#[test]
fn a_png_decodes_to_the_same_pixels() {
    let ball = [RenderSphere { center: [0.0; 3], radius: 0.3, color: RED }];
    let mut picture = Picture::new(64, 48, front_camera(2.0));
    picture.particles = &ball;
    let image = render(&picture).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("preview.png");
    write_png(&path, &image).unwrap();
    let decoded = image::load_from_memory(&std::fs::read(&path).unwrap()).unwrap().to_rgb8();
    assert_eq!(decoded.dimensions(), (64, 48));
    assert_eq!(decoded.into_raw(), image.pixels);
    let short = Image { width: 2, height: 2, pixels: vec![0; 11] };
    assert!(encode_png(&short, &mut Vec::new()).is_err());
}

/// Frames of the GIF as the `image` crate's decoder shows them.
fn decode(bytes: &[u8]) -> Vec<image::Frame> {
    let decoder = image::codecs::gif::GifDecoder::new(Cursor::new(bytes)).unwrap();
    decoder.into_frames().collect::<Result<_, _>>().unwrap()
}

// A ball crosses the picture: every frame is there, at its time, and shows what was drawn within
// the palette's error plus the tolerance for leaving a pixel as it is.
#[test]
fn a_gif_shows_the_frames_it_was_given() {
    let (width, height, frames) = (96, 60, 12);
    let mut writer = GifWriter::new(Vec::new(), width, height, 0.05).unwrap();
    let mut images = Vec::new();
    for frame in 0..frames {
        let ball = [RenderSphere { center: [-0.5 + 0.08 * frame as f32, 0.0, 0.1], radius: 0.1, color: RED }];
        let mut picture = Picture::new(
            width,
            height,
            Camera { position: Point3::new(0.0, -3.0, 1.0), ..front_camera(1.0) },
        );
        picture.particles = &ball;
        picture.ground = Some(0.0);
        images.push(render(&picture).unwrap());
        writer.add(&images[frame]).unwrap();
    }
    // Twice the same: a frame with nothing new must still be one.
    writer.add(&images[frames - 1]).unwrap();
    let wrong = Image { width: 1, height: 1, pixels: vec![0; 3] };
    assert!(writer.add(&wrong).is_err());
    let bytes = writer.finish().unwrap();
    let decoded = decode(&bytes);
    assert_eq!(decoded.len(), frames + 1);
    for (frame, image) in decoded.iter().zip(&images) {
        assert_eq!(frame.delay().numer_denom_ms(), (50, 1));
        let shown = frame.buffer().pixels().flat_map(|p| [p[0], p[1], p[2]]);
        let worst = shown.zip(&image.pixels).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
        assert!(worst <= 40, "{worst}");
        let shown = frame.buffer().pixels().flat_map(|p| [p[0], p[1], p[2]]);
        let sum: u64 = shown.zip(&image.pixels).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
        assert!((sum as f64 / image.pixels.len() as f64) < 4.0, "mean error {sum}");
    }
    assert!(GifWriter::new(Vec::new(), 0, 10, 0.1).is_err());
    assert!(GifWriter::new(Vec::new(), 10, 10, f64::NAN).is_err());
}

// LZW against an independent decoder, on what strains it: noise fills the table of 4096 codes again
// and again, and lengths around the changes of width try the last code of each.
#[test]
fn gif_compression_is_understood_at_every_length() {
    let mut random = SplitMix64::new(2);
    for (width, height) in
        (1..60).map(|n| (n * 9, 1)).chain([(251, 1), (252, 1), (253, 1), (254, 1), (255, 1), (300, 200)])
    {
        // Few colours, so that the palette is exact and the pixels come back the same.
        let pixels = (0..width * height).flat_map(|_| [(random.next_u64() % 200) as u8 & 0xFC; 3]).collect();
        let image = Image { width, height, pixels };
        let mut writer = GifWriter::new(Vec::new(), width, height, 0.1).unwrap();
        writer.add(&image).unwrap();
        let frames = decode(&writer.finish().unwrap());
        let shown: Vec<u8> = frames[0].buffer().pixels().flat_map(|p| [p[0], p[1], p[2]]).collect();
        assert!(shown == image.pixels, "{width} x {height}, seed 2");
    }
}
