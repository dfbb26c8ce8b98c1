//! Captures: real, generated and broken ones (main job on real input, R5, R13; input that is not what it seems).

mod captures;

use captures::{PUBLIC_CAPTURES, generated, pcap, pcapng, public_captures};
use metaroce_model::rocev2::pcap::{FormatError, RecordError, WriteError, write_pcap};
use metaroce_model::rocev2::*;
use std::path::Path;
use std::time::Duration;

/// Every RoCEv2 packet of the public captures has a right ICRC, and every frame is accounted for. The counts are
/// those of tshark.
#[test]
fn public_captures_verify() {
    let Some(folder) = public_captures("public_captures_verify") else {
        return;
    };
    let expected = [
        (275, 184, 91),
        (229, 184, 45),
        (230, 184, 46),
        (60, 20, 40),
        (50, 20, 30),
    ];
    for (name, (frames, rocev2, other)) in PUBLIC_CAPTURES.iter().zip(expected) {
        let capture = Capture::read(&folder.join(name)).unwrap();
        let summary = capture.summary;
        assert_eq!(summary.frames, frames, "{name}");
        assert_eq!(summary.data + summary.acknowledgements, rocev2, "{name}");
        let skipped = SkippedFrames {
            other_traffic: other,
            ..Default::default()
        };
        assert_eq!(summary.skipped, skipped, "{name}");
        for frame in &capture.frames {
            let Ok(packet) = &frame.packet else { continue };
            assert_eq!(
                Packet::from_frame(&to_frame(packet), 0).as_ref(),
                Ok(packet),
                "{name} {}",
                frame.number
            );
        }
    }
}

/// The messages of node 0 of the public ring: four chunks of 8192 bytes each way, and no packet left over (R5: a
/// write says where it goes).
#[test]
fn public_ring_folds_to_messages() {
    let Some(folder) = public_captures("public_ring_folds_to_messages") else {
        return;
    };
    let capture = Capture::read(&folder.join("ring2_node0.pcap")).unwrap();
    let messages = Messages::from_packets(capture.packets());
    assert_eq!((messages.duplicates, messages.orphans), (0, 0));
    let packets: usize = messages
        .messages
        .iter()
        .map(|message| message.packets.len())
        .sum();
    assert_eq!(packets as u64, capture.summary.data);
    let chunks: Vec<_> = messages
        .messages
        .iter()
        .filter(|message| message.length == 8192)
        .collect();
    assert_eq!(chunks.len(), 8);
    for chunk in chunks {
        assert_eq!(chunk.packets.len(), 8);
        assert!(matches!(
            chunk.kind,
            MessageKind::Write {
                remote_key: 0x588f | 0x5833,
                ..
            }
        ));
        assert!(chunk.immediate.is_some());
    }
}

fn to_frame(packet: &Packet) -> Vec<u8> {
    packet
        .to_frame(&Link {
            source: [2; 6],
            destination: [4; 6],
            identification: 1,
        })
        .unwrap()
}

/// The same seed gives the same file, another seed another one, and all of it reads back: the RoCEv2 packets with
/// right ICRCs, the TCP as other traffic, in the order of their times.
#[test]
fn generated_capture_reads_back() {
    let (bytes, capture) = generated(1);
    assert_eq!(bytes, generated(1).0);
    assert_ne!(bytes, generated(2).0);
    let summary = capture.summary;
    assert_eq!(
        summary.skipped,
        SkippedFrames {
            other_traffic: 6,
            ..Default::default()
        }
    );
    assert_eq!((summary.data, summary.acknowledgements), (104, 48));
    assert_eq!(summary.payload_bytes, 8 * 8192 + 4 + 24 * 64);
    assert!(!summary.incomplete);
    let asks = |(_, packet): (u64, &Packet)| packet.ack_request == packet.operation.ends();
    assert!(
        capture.packets().all(asks),
        "the last packet of a message asks to be acknowledged, and no other"
    );
    assert!(capture.frames.is_sorted_by_key(|frame| frame.timestamp));
    for (number, frame) in (1..).zip(&capture.frames) {
        assert_eq!(frame.number, number);
    }

    let messages = Messages::from_packets(capture.packets());
    assert_eq!(
        (messages.messages.len(), messages.duplicates, messages.orphans),
        (48, 0, 0)
    );
    let chunks = messages.messages.iter().filter(|message| message.length == 8192);
    assert!(
        chunks
            .clone()
            .all(|chunk| chunk.packets.len() == 8 && chunk.immediate == Some(8192))
    );
    assert_eq!(chunks.count(), 8);
}

/// Traffic that cannot be is refused with a sentence.
#[test]
fn impossible_traffic_is_refused() {
    let generate = |rounds, message_bytes, path_mtu| {
        let traffic = RingTraffic {
            rounds,
            message_bytes,
            path_mtu,
        };
        generate_ring_capture(1, &traffic).map_err(|error| error.to_string())
    };
    assert_eq!(
        generate(1, 1, 1500).unwrap_err(),
        "a path MTU of 1500 bytes does not exist: choose 256, 512, 1024, 2048 or 4096"
    );
    for (rounds, bytes) in [(0, 1), (1, 0), (u32::MAX, u32::MAX)] {
        assert!(
            generate(rounds, bytes, 1024)
                .unwrap_err()
                .starts_with(&format!("{rounds} rounds"))
        );
    }
    for path_mtu in [256, 512, 1024, 2048, 4096] {
        assert!(generate(1, 8191, path_mtu).is_ok());
    }
}

/// Both byte orders, microseconds and nanoseconds, frame check sequences in the link type's upper half, and pcapng
/// give the same packet.
#[test]
fn every_file_format_reads_the_same() {
    let (_, capture) = generated(3);
    let (_, packet) = capture.packets().next().unwrap();
    let frame = to_frame(packet);
    let with_fcs = [&frame[..], &[1, 2, 3, 4]].concat();
    let microseconds = Duration::new(7, 500_000);
    let nanoseconds = Duration::new(7, 500);
    for big_endian in [false, true] {
        let files = [
            (pcap(0xa1b2_c3d4, big_endian, 1, &[&frame]), microseconds),
            (pcap(0xa1b2_3c4d, big_endian, 1, &[&frame]), nanoseconds),
            (
                pcap(0xa1b2_c3d4, big_endian, 0x2400_0001, &[&with_fcs]),
                microseconds,
            ),
            (pcapng(big_endian, 1, &[&frame]), nanoseconds),
        ];
        for (bytes, timestamp) in files {
            let read = Capture::from_bytes("test", &bytes).unwrap();
            assert_eq!(read.frames.len(), 1);
            assert_eq!(read.frames[0].packet.as_ref(), Ok(packet));
            assert_eq!(read.frames[0].timestamp, timestamp);
        }
    }
}

/// What is no Ethernet capture is refused with a sentence that says what to do.
#[test]
fn other_files_are_refused() {
    let refuse = |bytes: &[u8]| Capture::from_bytes("f", bytes).unwrap_err().to_string();
    let not_a_capture = "the capture 'f' is neither a pcap nor a pcapng file: give a capture written by tcpdump, \
                         dumpcap or Wireshark";
    assert_eq!(refuse(b""), not_a_capture);
    assert_eq!(
        refuse(b"# a text file, long enough to hold a header"),
        not_a_capture
    );
    assert_eq!(
        refuse(&pcap(0xa1b2_c3d4, false, 1, &[])[..23]),
        "the capture 'f' ends after 23 bytes, inside its file header: copy or capture it again"
    );
    assert_eq!(
        refuse(&pcap(0xa1b2_c3d4, true, 113, &[])),
        "the capture 'f' has link type 113, and only Ethernet (1) is read: capture on an Ethernet interface"
    );
    assert_eq!(
        refuse(&pcapng(true, 113, &[&[0; 60]])),
        "the capture 'f' is incomplete after 0 frames: packet 1 has link type 113, and only Ethernet (1) is read: \
         capture on an Ethernet interface"
    );
    let missing = Capture::read(Path::new("no such file")).unwrap_err().to_string();
    assert!(
        missing.starts_with("the capture 'no such file' cannot be read: "),
        "{missing}"
    );
}

/// A file that ends inside a record gives what was before it, the record's number and place, and says so in the
/// summary; a length that no capture has is told apart from that.
#[test]
fn broken_files_give_what_they_hold() {
    let (bytes, whole) = generated(4);
    let last = whole.frames.last().unwrap();
    let cut = Capture::from_bytes("f", &bytes[..bytes.len() - 1]).unwrap_err();
    assert_eq!(
        cut.to_string(),
        format!(
            "the capture 'f' is incomplete after {} frames: the file ends inside packet {}, which begins at byte \
             {}: copy or capture it again",
            last.number - 1,
            last.number,
            last.offset
        )
    );
    let CaptureError::Record { read, .. } = cut else {
        panic!("{cut}")
    };
    assert_eq!(read.frames, whole.frames[..whole.frames.len() - 1]);
    assert!(read.summary.incomplete);

    let mut damaged = bytes.clone();
    let length = last.offset as usize + 8;
    damaged[length..length + 4].fill(0xff);
    let error = Capture::from_bytes("f", &damaged).unwrap_err().to_string();
    assert!(error.ends_with(
        "claims 4294967295 captured bytes, more than 262144: the file is damaged, copy or capture it again"
    ));
}

/// Each way in which a frame is no packet has its own reason and counter, and the summary misses none.
#[test]
fn skipped_frames_are_counted_by_reason() {
    let (_, capture) = generated(5);
    let good = to_frame(capture.packets().next().unwrap().1);
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut frame = good.clone();
        change(&mut frame);
        frame
    };
    let bth = 14 + 20 + 8;
    // A change of the headers with the ICRC made right again.
    let resealed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut frame = changed(change);
        let end = frame.len() - ICRC_BYTES;
        let ip = IpHeader::V4(frame[14..34].try_into().unwrap());
        let (udp, header) = (
            frame[34..42].try_into().unwrap(),
            frame[bth..bth + 12].try_into().unwrap(),
        );
        let crc = icrc(&ip, &udp, &header, &frame[bth + 12..end]);
        frame[end..].copy_from_slice(&crc.to_le_bytes());
        frame
    };
    let frames = [
        changed(&|frame| frame[36..38].copy_from_slice(&53_u16.to_be_bytes())),
        changed(&|frame| frame[12..14].copy_from_slice(&[0x08, 0x06])),
        changed(&|frame| *frame.last_mut().unwrap() ^= 1),
        changed(&|frame| frame[39] -= 4),
        changed(&|frame| frame.truncate(60)),
        resealed(&|frame| {
            frame.insert(bth + 12 + 16, 0);
            frame[17] += 1;
            frame[39] += 1;
        }),
        changed(&|frame| {
            frame.splice(34..34, [1; 4]);
            frame[14] += 1;
            frame[17] += 4;
        }),
        resealed(&|frame| frame[bth + 1] |= 0x1),
        resealed(&|frame| frame[bth] = 0x81),
    ];
    let mut file = pcap(0xa1b2_3c4d, false, 1, &frames.each_ref().map(|frame| &frame[..]));
    // One more that the snap length cut.
    file.extend([7, 500, 60, good.len() as u32].map(u32::to_le_bytes).concat());
    file.extend(&good[..60]);
    let capture = Capture::from_bytes("f", &file).unwrap();
    let reasons: Vec<_> = capture
        .frames
        .iter()
        .map(|frame| frame.packet.clone().unwrap_err())
        .collect();
    let (original, captured) = (good.len(), 60);
    assert_eq!(reasons[..2], [Skip::OtherTraffic, Skip::OtherTraffic]);
    assert!(matches!(reasons[2], Skip::BadIcrc { found, expected } if found == expected ^ 1 << 24));
    let malformed = [
        Malformed::Length,
        Malformed::Length,
        Malformed::Padding,
        Malformed::IpOptions,
    ];
    assert_eq!(reasons[3..7], malformed.map(Skip::Malformed));
    assert_eq!(reasons[7], Skip::Malformed(Malformed::Version(1)));
    assert_eq!(reasons[8], Skip::OtherOpcode(0x81));
    assert_eq!(reasons[9], Skip::Truncated { captured, original });
    let skipped = SkippedFrames {
        other_traffic: 2,
        truncated: 1,
        bad_icrc: 1,
        malformed: 5,
        other_opcode: 1,
    };
    assert_eq!(
        capture.summary,
        CaptureSummary {
            frames: 10,
            skipped,
            ..Default::default()
        }
    );

    let json = serde_json::to_string(&capture.summary).unwrap();
    assert_eq!(
        serde_json::from_str::<CaptureSummary>(&json).unwrap(),
        capture.summary
    );
}

/// IPv6, VLAN tags, the congestion bits and every operation survive the way to a frame and back.
#[test]
fn packets_round_trip() {
    let reth = Reth {
        virtual_address: 0x7fff_0123_4567_89ab,
        remote_key: 0xdead_beef,
        length: 77,
    };
    let aeth = Aeth {
        syndrome: 0x60,
        msn: Psn::new(0xab_cdef),
    };
    let operations = [
        Operation::SendFirst,
        Operation::SendMiddle,
        Operation::SendLast { immediate: Some(1) },
        Operation::SendOnly { immediate: None },
        Operation::WriteFirst { reth },
        Operation::WriteMiddle,
        Operation::WriteLast { immediate: None },
        Operation::WriteOnly {
            reth,
            immediate: Some(u32::MAX),
        },
        Operation::Acknowledge { aeth },
    ];
    let ecns = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];
    let addresses = [("192.0.2.1", "192.0.2.2"), ("2001:db8::1", "2001:db8::2")];
    for (index, operation) in operations.into_iter().cycle().take(72).enumerate() {
        let (source, destination) = addresses[index / 9 % 2];
        let packet = Packet {
            source: source.parse().unwrap(),
            destination: destination.parse().unwrap(),
            source_port: 0xc000 + index as u16,
            ecn: ecns[index % 4],
            solicited: index % 3 == 0,
            migration: index % 5 == 0,
            partition_key: 0xfffe,
            qpn: Qpn::new(0xfe_dcba),
            ack_request: index % 2 == 0,
            psn: Psn::new(0xff_ffff),
            operation,
            payload: (0..index as u8).collect(),
        };
        let mut frame = to_frame(&packet);
        assert_eq!(Packet::from_frame(&frame, frame.len()).as_ref(), Ok(&packet));
        frame.splice(12..12, [0x81, 0x00, 0x20, 0x07]);
        assert_eq!(
            Packet::from_frame(&frame, frame.len()).as_ref(),
            Ok(&packet),
            "with a VLAN tag"
        );
    }
    let mixed = Packet {
        source: "::1".parse().unwrap(),
        ..generated(1).1.packets().next().unwrap().1.clone()
    };
    let link = Link {
        source: [2; 6],
        destination: [4; 6],
        identification: 1,
    };
    assert!(
        mixed
            .to_frame(&link)
            .unwrap_err()
            .to_string()
            .contains("mixes IP versions")
    );
    let long = Packet {
        payload: vec![0; 65_500],
        source: mixed.destination,
        ..mixed
    };
    assert_eq!(long.to_frame(&link), Err(FrameError::TooLong(65_500)));
}

/// What a pcap file cannot hold is refused.
#[test]
fn impossible_records_are_refused() {
    let (long, late) = (vec![0; 262_145], Duration::from_secs(1 << 32));
    assert_eq!(
        write_pcap([(Duration::ZERO, &long[..])]),
        Err(WriteError::TooLong(262_145))
    );
    assert_eq!(write_pcap([(late, &long[..60])]), Err(WriteError::TooLate(late)));
}

/// A record error tells its kind, not only its sentence.
#[test]
fn record_errors_are_typed() {
    let mut reader = CaptureReader::new(b"\x0a\x0d\x0d\x0a").unwrap();
    assert_eq!(
        reader.next(),
        Some(Err(RecordError::CutOff { number: 1, offset: 0 }))
    );
    assert_eq!(reader.next(), None);
    assert!(reader.summary().incomplete);
    let obsolete = [pcapng(false, 1, &[]), [2, 12, 12].map(u32::to_le_bytes).concat()].concat();
    let offset = obsolete.len() as u64 - 12;
    assert_eq!(
        CaptureReader::new(&obsolete).unwrap().next(),
        Some(Err(RecordError::Obsolete { number: 1, offset }))
    );
    assert_eq!(
        CaptureReader::new(b"\xd4\xc3\xb2\xa1").err(),
        Some(FormatError::HeaderCutOff(4))
    );
}
