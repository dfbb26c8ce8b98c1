//! A connection of node 0 of the made-up ring: messages in either direction as packets with their times, each
//! message acknowledged, as node 0 sees them on its wire.

use super::{Aeth, Ecn, Operation, Packet, Psn, Qpn, Reth};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::net::Ipv4Addr;
use std::ops::Range;

/// ACK whose credit field says that there is no end-to-end flow control.
const ACK_SYNDROME: u8 = 0x1f;
/// Nanoseconds from a packet to the next one of a message.
const PACKET_GAP: Range<u64> = 3_000..7_000;
/// Nanoseconds that node 0 takes to answer.
const TURN_AROUND: Range<u64> = 5_000..20_000;
/// Nanoseconds from a packet of node 0 to the answer of its peer.
const ROUND_TRIP: Range<u64> = 60_000..200_000;

/// A frame on the wire of node 0.
pub(super) struct Seen {
    /// Nanoseconds since the capture began.
    pub time: u64,
    /// Node that sends it.
    pub from: u8,
    /// Node that receives it.
    pub to: u8,
    pub content: Content,
}

pub(super) enum Content {
    Packet(Packet),
    /// A TCP segment without data: source and destination port, and its flags.
    Tcp {
        ports: (u16, u16),
        syn: bool,
        ack: bool,
    },
}

/// A reliable connection between node 0 and a peer.
pub(super) struct Connection {
    peer: u8,
    path_mtu: usize,
    source_port: u16,
    outgoing: Direction,
    incoming: Direction,
}

/// The messages from one side to the other.
struct Direction {
    /// Queue pair of the receiver.
    qpn: Qpn,
    next_psn: Psn,
    /// Messages that the receiver has completed.
    completed: Psn,
    virtual_address: u64,
    remote_key: u32,
}

impl Connection {
    pub fn new(peer: u8, path_mtu: usize, rng: &mut ChaCha8Rng) -> Self {
        let source_port = rng.random_range(0xc000..=0xffff);
        let (outgoing, incoming) = (Direction::new(rng), Direction::new(rng));
        Self {
            peer,
            path_mtu,
            source_port,
            outgoing,
            incoming,
        }
    }

    /// An RDMA write of node 0 from `time` on; returns when its acknowledgement has come.
    pub fn outgoing_message(
        &mut self,
        time: u64,
        bytes: usize,
        immediate: Option<u32>,
        rng: &mut ChaCha8Rng,
        seen: &mut Vec<Seen>,
    ) -> u64 {
        self.message(true, time, bytes, immediate, rng, seen)
    }

    /// An RDMA write of the peer, the first packet of which arrives some time after `time`; returns when it has been
    /// acknowledged.
    pub fn incoming_message(
        &mut self,
        time: u64,
        bytes: usize,
        immediate: Option<u32>,
        rng: &mut ChaCha8Rng,
        seen: &mut Vec<Seen>,
    ) -> u64 {
        let arrival = time + rng.random_range(ROUND_TRIP);
        self.message(false, arrival, bytes, immediate, rng, seen)
    }

    fn message(
        &mut self,
        is_outgoing: bool,
        mut time: u64,
        bytes: usize,
        immediate: Option<u32>,
        rng: &mut ChaCha8Rng,
        seen: &mut Vec<Seen>,
    ) -> u64 {
        let (peer, source_port, path_mtu) = (self.peer, self.source_port, self.path_mtu);
        let (there, back) = match is_outgoing {
            true => (&mut self.outgoing, &self.incoming),
            false => (&mut self.incoming, &self.outgoing),
        };
        let (from, to) = if is_outgoing { (0, peer) } else { (peer, 0) };
        let packet = |from, to, qpn, psn, operation: Operation, ack_request, payload| Packet {
            source: address(from).into(),
            destination: address(to).into(),
            source_port,
            ecn: Ecn::NotEct,
            solicited: false,
            migration: false,
            partition_key: 0xffff,
            qpn,
            ack_request,
            psn,
            operation,
            payload,
        };
        let mut last_psn = there.next_psn;
        for (operation, payload_bytes) in there.write(bytes, path_mtu, immediate) {
            let payload = gradients(payload_bytes, rng);
            last_psn = there.next_psn;
            there.next_psn = last_psn.next();
            let content = packet(
                from,
                to,
                there.qpn,
                last_psn,
                operation,
                operation.ends(),
                payload,
            );
            seen.push(Seen {
                time,
                from,
                to,
                content: Content::Packet(content),
            });
            time += rng.random_range(PACKET_GAP);
        }
        there.completed = there.completed.next();
        let operation = Operation::Acknowledge {
            aeth: Aeth {
                syndrome: ACK_SYNDROME,
                msn: there.completed,
            },
        };
        let content = packet(to, from, back.qpn, last_psn, operation, false, Vec::new());
        time += rng.random_range(if is_outgoing { ROUND_TRIP } else { TURN_AROUND });
        seen.push(Seen {
            time,
            from: to,
            to: from,
            content: Content::Packet(content),
        });
        time
    }
}

impl Direction {
    fn new(rng: &mut ChaCha8Rng) -> Self {
        Self {
            qpn: Qpn::new(rng.random_range(0x11..0x400)),
            next_psn: Psn::new(rng.random()),
            completed: Psn::new(0),
            virtual_address: rng.random_range(0x7000_0000_0000..0x7fff_0000_0000) & !0xfff,
            remote_key: rng.random_range(0x1000..0x10000),
        }
    }

    /// The packets of an RDMA write of `bytes` bytes: operation and bytes of payload.
    fn write(&self, bytes: usize, path_mtu: usize, immediate: Option<u32>) -> Vec<(Operation, usize)> {
        let (virtual_address, remote_key) = (self.virtual_address, self.remote_key);
        let reth = Reth {
            virtual_address,
            remote_key,
            length: bytes as u32,
        };
        let packets = bytes.div_ceil(path_mtu).max(1);
        let operation = |packet: usize| match (packet == 0, packet + 1 == packets) {
            (true, true) => Operation::WriteOnly { reth, immediate },
            (true, false) => Operation::WriteFirst { reth },
            (false, true) => Operation::WriteLast { immediate },
            (false, false) => Operation::WriteMiddle,
        };
        (0..packets)
            .map(|packet| (operation(packet), path_mtu.min(bytes - packet * path_mtu)))
            .collect()
    }
}

/// Floats of 32 bits with the precision of bfloat16, as gradients often are. Their low halves are zero, so that no
/// dissector's heuristics take a payload for some other protocol.
fn gradients(bytes: usize, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let floats = (0..bytes.div_ceil(4)).flat_map(|_| (u32::from(rng.random::<u16>()) << 16).to_le_bytes());
    floats.take(bytes).collect()
}

/// Address of a node, from the block for documentation (RFC 5737).
pub(super) fn address(node: u8) -> Ipv4Addr {
    Ipv4Addr::new(192, 0, 2, 10 + node)
}
