//! A made-up capture in the shape of the public NCCL ring captures of rdma_ib_tutorial: an all-reduce of three
//! nodes, seen at node 0; each node writes to the next one. In every step the receiver first grants a buffer with a write of 64 bytes, then the sender writes
//! its chunk with immediate data at the end, in packets of the path MTU; each message is acknowledged. Some TCP of
//! the set-up comes first, as other traffic. The same seed gives the same bytes.

use super::pcap::{WriteError, write_pcap};
use super::ring::{Connection, Content, Seen, address};
use super::{FrameError, Link};
use etherparse::PacketBuilder;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::time::Duration;
use thiserror::Error;

/// Path MTUs that the InfiniBand specification allows, in bytes.
const PATH_MTUS: [u32; 5] = [256, 512, 1024, 2048, 4096];
/// The most payload that is generated, so that a slip of the pen does not fill the memory.
const MAX_PAYLOAD_BYTES: u64 = 1 << 30;
/// Bytes of a grant.
const GRANT_BYTES: usize = 64;
/// Steps of an all-reduce over n = 3 nodes: 2 (n - 1).
const STEPS: u32 = 4;
/// When the capture begins: 2026-01-01 UTC.
const EPOCH: Duration = Duration::from_secs(1_767_225_600);
/// Where the TCP of the set-up goes.
const SET_UP_PORT: u16 = 29_500;

/// What to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingTraffic {
    /// All-reduces, at least 1; a barrier of tiny messages goes before them.
    pub rounds: u32,
    /// Bytes of the chunk that every second step of an all-reduce carries, at least 1; the messages of the steps
    /// between are empty.
    pub message_bytes: u32,
    /// Path MTU: the payload of a full packet, 256, 512, 1024, 2048 or 4096 bytes.
    pub path_mtu: u32,
}

impl Default for RingTraffic {
    /// Two all-reduces with messages of 8192 bytes at a path MTU of 1024, some 160 frames.
    fn default() -> Self {
        Self {
            rounds: 2,
            message_bytes: 8192,
            path_mtu: 1024,
        }
    }
}

/// Why a capture was not generated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GenerateError {
    /// The path MTU is not one of InfiniBand's.
    #[error("a path MTU of {0} bytes does not exist: choose 256, 512, 1024, 2048 or 4096")]
    PathMtu(u32),
    /// Nothing to generate, or too much.
    #[error(
        "{rounds} rounds with messages of {message_bytes} bytes make no payload, or more than 1 GiB: change either"
    )]
    Amount {
        /// All-reduces.
        rounds: u32,
        /// Bytes of a chunk.
        message_bytes: u32,
    },
    /// A packet could not be written.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// The bytes of a pcap file with the traffic asked for.
pub fn generate_ring_capture(seed: u64, traffic: &RingTraffic) -> Result<Vec<u8>, GenerateError> {
    let RingTraffic {
        rounds,
        message_bytes,
        path_mtu,
    } = *traffic;
    if !PATH_MTUS.contains(&path_mtu) {
        return Err(GenerateError::PathMtu(path_mtu));
    }
    // Half of the steps carry a chunk, in both directions.
    let payload = u128::from(rounds) * u128::from(STEPS) * u128::from(message_bytes);
    if payload == 0 || payload > MAX_PAYLOAD_BYTES.into() {
        return Err(GenerateError::Amount {
            rounds,
            message_bytes,
        });
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut seen = Vec::new();
    let mut now = set_up(&mut rng, &mut seen);
    let mut next = Connection::new(1, path_mtu as usize, &mut rng);
    let mut previous = Connection::new(2, path_mtu as usize, &mut rng);
    for round in 0..=rounds {
        let chunk = if round == 0 { 1 } else { message_bytes as usize };
        now += rng.random_range(5_000_000..15_000_000);
        now = all_reduce(now, chunk, &mut next, &mut previous, &mut rng, &mut seen);
    }
    write(seen, &mut rng)
}

/// A TCP handshake of node 0 with either neighbour; returns when it is over.
fn set_up(rng: &mut ChaCha8Rng, seen: &mut Vec<Seen>) -> u64 {
    let mut now = 0;
    for peer in [1, 2] {
        let port = rng.random_range(0xc000..=0xffff);
        for (from, to, syn, ack) in [
            (peer, 0, true, false),
            (0, peer, true, true),
            (peer, 0, false, true),
        ] {
            let ports = if from == 0 {
                (SET_UP_PORT, port)
            } else {
                (port, SET_UP_PORT)
            };
            seen.push(Seen {
                time: now,
                from,
                to,
                content: Content::Tcp { ports, syn, ack },
            });
            now += rng.random_range(50_000..500_000);
        }
    }
    now
}

/// Chunks of `chunk` bytes to the next node and from the previous one in every second step of an all-reduce that
/// begins at `now`; returns when it is over.
fn all_reduce(
    mut now: u64,
    chunk: usize,
    next: &mut Connection,
    previous: &mut Connection,
    rng: &mut ChaCha8Rng,
    seen: &mut Vec<Seen>,
) -> u64 {
    for step in 0..STEPS {
        let bytes = if step % 2 == 0 { chunk } else { 0 };
        let immediate = Some(bytes as u32);
        let granted = previous.outgoing_message(now, GRANT_BYTES, None, rng, seen);
        let grant = next.incoming_message(now, GRANT_BYTES, None, rng, seen);
        let sent = next.outgoing_message(grant, bytes, immediate, rng, seen);
        let received = previous.incoming_message(granted, bytes, immediate, rng, seen);
        now = sent.max(received);
    }
    now
}

/// The frames in the order of their times, as a pcap file.
fn write(mut seen: Vec<Seen>, rng: &mut ChaCha8Rng) -> Result<Vec<u8>, GenerateError> {
    seen.sort_by_key(|seen| seen.time);
    let mut identification: [u16; 3] = rng.random();
    let mut frames = Vec::with_capacity(seen.len());
    for Seen {
        time,
        from,
        to,
        content,
    } in seen
    {
        let counter = &mut identification[usize::from(from)];
        *counter = counter.wrapping_add(1);
        let link = Link {
            source: mac(from),
            destination: mac(to),
            identification: *counter,
        };
        let frame = match content {
            Content::Packet(packet) => packet.to_frame(&link)?,
            Content::Tcp { ports, syn, ack } => tcp_frame(&link, from, to, ports, syn, ack)?,
        };
        frames.push((EPOCH + Duration::from_nanos(time), frame));
    }
    Ok(write_pcap(
        frames.iter().map(|(time, frame)| (*time, &frame[..])),
    )?)
}

/// A TCP segment of a handshake.
fn tcp_frame(
    link: &Link,
    from: u8,
    to: u8,
    (source_port, destination_port): (u16, u16),
    syn: bool,
    ack: bool,
) -> Result<Vec<u8>, WriteError> {
    // The numbers of RFC 9293, section 3.5, figure 6: a client that begins at 100 and a server at 300.
    let (client, server) = (100, 300);
    let (sequence, acknowledged) = match (syn, ack) {
        (true, false) => (client, 0),
        (true, true) => (server, client + 1),
        (false, _) => (client + 1, server + 1),
    };
    let builder = PacketBuilder::ethernet2(link.source, link.destination)
        .ipv4(address(from).octets(), address(to).octets(), 64)
        .tcp(source_port, destination_port, sequence, 64_240);
    let builder = if syn { builder.syn() } else { builder };
    let builder = if ack { builder.ack(acknowledged) } else { builder };
    let mut frame = Vec::with_capacity(builder.size(0));
    builder
        .write(&mut frame, &[])
        .map_err(|error| WriteError::Library(error.to_string()))?;
    Ok(frame)
}

/// A locally administered address.
fn mac(node: u8) -> [u8; 6] {
    [0x02, 0, 0, 0, 0, node + 1]
}
