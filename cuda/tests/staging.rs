//! What a step gets from the host and leaves to it: every word at its place and no other touched,
//! whatever the sizes, with one copy each way.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use pliant_cuda::staging::Staging;
use pliant_cuda::{Buffer, Commands, Device, DeviceError, HostCopies, Recording};
use support::{Random, devices};

/// A run that does nothing but bring values and take them back.
fn record(device: &Device, staging: &Staging) -> Recording {
    let commands = |commands: &mut Commands| {
        staging.issue_inputs(commands);
        staging.issue_results(commands);
    };
    device.record(commands).unwrap()
}

/// A number below `end`.
fn below(random: &mut Random, end: usize) -> usize {
    (random.unit() * end as f64) as usize
}

/// Buffers of random lengths, from none to a few thousand words, and their values.
fn buffers(device: &Device, random: &mut Random, count: usize) -> Vec<(Buffer<u32>, Vec<u32>)> {
    let lengths = (0..count).map(|n| if n % 5 == 0 { 0 } else { 1 + below(random, 1 << (n % 12)) });
    let lengths: Vec<_> = lengths.collect();
    let of_length = |length: usize| {
        let values = random.words(length);
        (device.upload(&values).unwrap(), values)
    };
    lengths.into_iter().map(of_length).collect()
}

// Law: copying is the identity. A part of each buffer is replaced, the rest stays; what comes back
// is what lies there. Images grow from run to run, and with them the recording.
#[test]
fn every_word_comes_to_its_place_and_back() {
    for device in devices() {
        for seed in 0..6 {
            let mut random = Random(seed);
            let mut staging = Staging::new(&device).unwrap();
            let mut recording = None;
            for run in 0..4 {
                let mut all = buffers(&device, &mut random, [3, 40, 12, 150][run]);
                for (buffer, values) in &mut all {
                    let first = below(&mut random, values.len() + 1);
                    let given_count = below(&mut random, values.len() - first + 1);
                    let given = random.words(given_count);
                    staging.upload(buffer.span().skip(first as u32), &given).unwrap();
                    values[first..first + given.len()].copy_from_slice(&given);
                }
                let results: Vec<_> = all.iter().map(|(buffer, _)| staging.download(buffer.span())).collect();
                if staging.prepare().unwrap() {
                    recording = None;
                }
                recording.get_or_insert_with(|| record(&device, &staging)).run().unwrap();
                staging.receive().unwrap();
                for ((buffer, values), result) in all.iter().zip(&results) {
                    assert_eq!(staging.result(result), values, "seed {seed}, run {run}");
                    assert_eq!(&buffer.download().unwrap(), values, "seed {seed}, run {run}");
                }
                staging.forget_results();
            }
        }
    }
}

// A run costs one copy from the host and one to it, however many pieces there are, and values of
// more than a word keep their alignment.
#[test]
fn a_run_is_one_copy_each_way() {
    for device in devices() {
        let mut staging = Staging::new(&device).unwrap();
        let numbers: Vec<_> = (0..20).map(|n| device.upload(&[0.5 * f64::from(n); 3]).unwrap()).collect();
        let words = device.upload(&[7_u32; 5]).unwrap();
        let odd = staging.download(words.span());
        let results: Vec<_> = numbers.iter().map(|buffer| staging.download(buffer.span().skip(1))).collect();
        for (n, buffer) in numbers.iter().enumerate() {
            staging.upload(buffer.span(), &[-(n as f64)]).unwrap();
        }
        staging.clear(numbers[9].span());
        staging.prepare().unwrap();
        let recording = record(&device, &staging);
        let before = device.host_copies();
        recording.run().unwrap();
        staging.receive().unwrap();
        let HostCopies { uploads, downloads } = device.host_copies();
        assert_eq!((uploads - before.uploads, downloads - before.downloads), (1, 1));
        assert_eq!(staging.result(&odd), [7; 5]);
        for (n, result) in results.iter().enumerate() {
            let kept = if n == 9 { 0.0 } else { 0.5 * n as f64 };
            assert_eq!(staging.result(result), [kept; 2]);
            let first = if n == 9 { 0.0 } else { -(n as f64) };
            assert_eq!(numbers[n].download().unwrap()[0], first);
        }
    }
}

// Too many values are refused with their figures, and memory that is gone before anything is
// written.
#[test]
fn pieces_that_do_not_fit_are_errors() {
    for device in devices() {
        let mut staging = Staging::new(&device).unwrap();
        let buffer = device.upload(&[1_u32, 2, 3]).unwrap();
        let error = staging.upload(buffer.span(), &[0; 4]).unwrap_err();
        assert_eq!(error, DeviceError::LengthMismatch { given: 4, first: 0, length: 3 });
        staging.upload(buffer.span(), &[9; 3]).unwrap();
        staging.download(device.allocate::<u32>(1000).unwrap().span());
        let error = staging.prepare().unwrap_err();
        assert!(
            matches!(error, DeviceError::DanglingSpan { command: "staging", bytes: 4000, .. }),
            "{error}"
        );
        assert_eq!(buffer.download().unwrap(), [1, 2, 3]);
        staging.forget();
        staging.send().unwrap();
        assert_eq!(buffer.download().unwrap(), [1, 2, 3]);
    }
}
