//! Hostile captures: nothing panics, nothing is lost silently, and damage shows as a bad ICRC.

mod captures;

use captures::{generated, pcap, pcapng};
use metaroce_model::rocev2::*;
use proptest::prelude::*;

/// Reads what may be no capture; whatever was read must add up.
fn read(bytes: &[u8]) -> Option<CaptureSummary> {
    let capture = match Capture::from_bytes("hostile", bytes) {
        Ok(capture) => capture,
        Err(CaptureError::Record { read, .. }) => *read,
        Err(_) => return None,
    };
    let summary = capture.summary;
    assert_eq!(
        summary.frames,
        summary.data + summary.acknowledgements + summary.skipped.total()
    );
    assert_eq!(summary.frames, capture.frames.len() as u64);
    let folded = Messages::from_packets(capture.packets());
    let in_messages: usize = folded.messages.iter().map(|message| message.packets.len()).sum();
    assert_eq!(
        in_messages as u64 + folded.duplicates + folded.orphans,
        summary.data
    );
    Some(summary)
}

/// A few frames of every size and kind.
fn frames() -> Vec<Vec<u8>> {
    let link = Link {
        source: [2; 6],
        destination: [4; 6],
        identification: 1,
    };
    let (_, capture) = generated(11);
    capture
        .packets()
        .take(40)
        .step_by(4)
        .map(|(_, packet)| packet.to_frame(&link).unwrap())
        .collect()
}

/// Cut after every byte, a capture gives the frames before the cut, and complains unless the cut is between records.
#[test]
fn every_truncation_is_told() {
    let frames = frames();
    let frames: Vec<&[u8]> = frames.iter().map(|frame| &frame[..]).collect();
    for file in [
        pcap(0xa1b2_c3d4, true, 1, &frames),
        pcapng(false, 1, &frames),
        pcapng(true, 1, &frames),
    ] {
        let whole = Capture::from_bytes("whole", &file).unwrap();
        for length in 0..file.len() {
            let before = whole
                .frames
                .iter()
                .filter(|frame| frame.offset < length as u64)
                .count();
            match Capture::from_bytes("cut", &file[..length]) {
                // Cut between two records, that is, where the next one begins or between other blocks.
                Ok(capture) => assert_eq!(capture.frames, whole.frames[..before], "at {length}"),
                Err(CaptureError::Record { read, .. }) => {
                    let complete = before.saturating_sub(1);
                    assert_eq!(read.frames, whole.frames[..complete], "at {length}");
                    assert!(read.summary.incomplete);
                }
                Err(CaptureError::Format { .. }) => assert!(length < 24, "at {length}"),
                Err(error) => panic!("at {length}: {error}"),
            }
        }
    }
}

/// A frame kept to every length by the snap length is a truncated one from the first byte that may be RoCEv2's on.
#[test]
fn every_snap_length_is_told() {
    for frame in frames() {
        for captured in 0..frame.len() {
            let original = frame.len();
            let skip = Packet::from_frame(&frame[..captured], original).unwrap_err();
            assert_eq!(skip, Skip::Truncated { captured, original });
            assert!(Packet::from_frame(&frame[..captured], captured).is_err());
        }
    }
}

/// A flipped bit after the IP header is a bad ICRC, unless it is in a field that the ICRC leaves out, or changes
/// lengths or ports. No flip at all gives another packet.
#[test]
fn every_bit_flip_is_found() {
    // After Ethernet (14 bytes) and IPv4 (20): ports and length (6), checksum (2), then the base transport header.
    let (ports_and_length, checksum, reserved) = (34..40, 40..42, 46);
    for mut frame in frames() {
        let packet = Packet::from_frame(&frame, frame.len()).unwrap();
        for bit in 0..frame.len() * 8 {
            let byte = bit / 8;
            frame[byte] ^= 1 << (bit % 8);
            let result = Packet::from_frame(&frame, frame.len());
            if byte < 14 || checksum.contains(&byte) || byte == reserved {
                assert!(
                    result.as_ref() == Ok(&packet) || byte == 12 || byte == 13,
                    "bit {bit}"
                );
            } else if byte >= 34 && !ports_and_length.contains(&byte) {
                assert!(
                    matches!(result, Err(Skip::BadIcrc { .. })),
                    "bit {bit}: {result:?}"
                );
            } else if let Ok(other) = result {
                // Type of service, time to live and header checksum are not covered; congestion bits are in the first.
                assert_eq!(
                    Packet {
                        ecn: packet.ecn,
                        ..other
                    },
                    packet,
                    "bit {bit}"
                );
            }
            frame[byte] ^= 1 << (bit % 8);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Random bytes, bare and after each kind of file header.
    #[test]
    fn random_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..512), big_endian in any::<bool>()) {
        read(&bytes);
        for header in [pcap(0xa1b2_c3d4, big_endian, 1, &[]), pcapng(big_endian, 1, &[])] {
            read(&[&header[..], &bytes].concat());
        }
        let _ = Packet::from_frame(&bytes, 1500);
    }

    /// Random bytes behind right headers down to UDP.
    #[test]
    fn random_transport_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..128), v6 in any::<bool>()) {
        let builder = etherparse::PacketBuilder::ethernet2([2; 6], [4; 6]);
        let builder = if v6 { builder.ipv6([1; 16], [2; 16], 64) } else { builder.ipv4([1; 4], [2; 4], 64) };
        let mut frame = Vec::new();
        builder.udp(50_000, UDP_PORT).write(&mut frame, &bytes).unwrap();
        let skip = Packet::from_frame(&frame, frame.len()).unwrap_err();
        prop_assert!(matches!(skip, Skip::BadIcrc { .. } | Skip::Malformed(Malformed::HeaderCutOff)), "{}", skip);
    }

    /// Bytes changed anywhere in a file: blocks of every kind, with lengths that lie.
    #[test]
    fn damaged_files_do_not_panic(
        big_endian in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let frames = frames();
        let frames: Vec<&[u8]> = frames.iter().map(|frame| &frame[..]).take(4).collect();
        for mut file in [pcap(0xa1b2_c3d4, big_endian, 1, &frames), pcapng(big_endian, 1, &frames)] {
            for (index, value) in &changes {
                let place = index.index(file.len());
                file[place] = *value;
            }
            read(&file);
        }
    }
}

/// Block kinds and lengths of a pcapng file that lie: every kind with every short length.
#[test]
fn every_short_block_is_survived() {
    let kinds = [
        0x0a0d_0d0a,
        1,
        2,
        3,
        4,
        5,
        6,
        9,
        10,
        0x0bad,
        0x4000_0bad,
        0x8000_0001_u32,
    ];
    for kind in kinds {
        for length in 0..64_u32 {
            for fill in [0x00, 0xff] {
                let mut file = pcapng(false, 1, &[]);
                file.extend(kind.to_le_bytes());
                file.extend(length.to_le_bytes());
                file.extend([fill; 64]);
                read(&file);
            }
        }
    }
}
