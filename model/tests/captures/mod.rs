//! What the tests of captures share.
#![allow(dead_code, reason = "each test file uses its own part")]

use metaroce_model::rocev2::{Capture, RingTraffic, generate_ring_capture};
use std::path::{Path, PathBuf};

/// Names of the public NCCL ring and perftest captures of rdma_ib_tutorial.
pub const PUBLIC_CAPTURES: [&str; 5] = [
    "ring2_node0.pcap",
    "ring2_node1.pcap",
    "ring2_node2.pcap",
    "rdma_write_bw.pcap",
    "rdma_send_bw.pcap",
];

/// The folder of the public captures, when it is there: `$METAROCE_DATA/rocev2`, else `../shared/data/rocev2` beside
/// the workspace. Says on the terminal when it is not, since a test may then pass without having looked.
pub fn public_captures(test: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let data = std::env::var_os("METAROCE_DATA").map_or_else(beside, PathBuf::from);
    let folder = data.join("rocev2");
    if folder.join(PUBLIC_CAPTURES[0]).is_file() {
        return Some(folder);
    }
    skip(
        test,
        &format!("no public captures in {}; set METAROCE_DATA", folder.display()),
    );
    None
}

/// Prints that a test was skipped, past the test harness's capture of the output.
pub fn skip(test: &str, reason: &str) {
    use std::io::Write;
    // A test that cannot even say that it skips has nothing left to do about it.
    let _ = writeln!(std::io::stderr(), "skipped {test}: {reason}");
}

/// A generated capture: its bytes and what was read from them.
pub fn generated(seed: u64) -> (Vec<u8>, Capture) {
    let bytes = generate_ring_capture(seed, &RingTraffic::default()).unwrap();
    let capture = Capture::from_bytes("generated", &bytes).unwrap();
    (bytes, capture)
}

/// A pcap record or header field in either byte order.
pub fn u32_bytes(value: u32, big_endian: bool) -> [u8; 4] {
    if big_endian {
        value.to_be_bytes()
    } else {
        value.to_le_bytes()
    }
}

/// A pcap file of these frames, all with the same time, written field by field.
pub fn pcap(magic: u32, big_endian: bool, link_type: u32, frames: &[&[u8]]) -> Vec<u8> {
    let word = |value| u32_bytes(value, big_endian);
    let version = if big_endian { [0, 2, 0, 4] } else { [2, 0, 4, 0] };
    let mut file = [
        word(magic),
        version,
        word(0),
        word(0),
        word(262_144),
        word(link_type),
    ]
    .concat();
    for frame in frames {
        let length = frame.len() as u32;
        file.extend([word(7), word(500), word(length), word(length)].concat());
        file.extend(*frame);
    }
    file
}

/// A pcapng file of these frames: section header, interface with nanoseconds and an offset of 3 s, a block of an
/// unknown kind, then an enhanced packet block for each frame, all with the time of 7.000000500 s.
pub fn pcapng(big_endian: bool, link_type: u16, frames: &[&[u8]]) -> Vec<u8> {
    let word = |value| u32_bytes(value, big_endian);
    let half = |value: u16| {
        if big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    };
    let block = |kind: u32, body: Vec<u8>| {
        let padding = vec![0; body.len().wrapping_neg() % 4];
        let length = word((12 + body.len() + padding.len()) as u32);
        [&word(kind)[..], &length, &body, &padding, &length].concat()
    };
    let section = [&word(0x1a2b_3c4d)[..], &half(1), &half(0), &[0xff; 8]].concat();
    let resolution = [&half(9)[..], &half(1), &[9, 0, 0, 0]].concat();
    let three = if big_endian {
        3_i64.to_be_bytes()
    } else {
        3_i64.to_le_bytes()
    };
    let offset = [&half(14)[..], &half(8), &three, &[0; 4]].concat();
    let interface = [&half(link_type)[..], &half(0), &word(0), &resolution, &offset].concat();
    let mut file = [
        block(0x0a0d_0d0a, section),
        block(1, interface),
        block(0x0bad_cafe, vec![1, 2, 3]),
    ]
    .concat();
    for frame in frames {
        let (ticks, length) = (4_000_000_500_u64, word(frame.len() as u32));
        let (high, low) = (word((ticks >> 32) as u32), word(ticks as u32));
        file.extend(block(
            6,
            [&word(0)[..], &high, &low, &length, &length, frame].concat(),
        ));
    }
    file
}
