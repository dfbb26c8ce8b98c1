//! RDMA messages out of packets: the packets of each direction of a connection, put in the order of their PSNs and
//! cut at first, last and only packets. Loss, reordering and retransmission in a capture do not disturb it: a PSN
//! counts once, and a message counts when every packet of it is there.

use super::field::{Psn, Qpn};
use super::{Packet, Reth};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// One direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flow {
    /// Source address.
    pub source: IpAddr,
    /// Destination address; it gives the queue pair number its meaning.
    pub destination: IpAddr,
    /// Destination queue pair.
    pub qpn: Qpn,
}

/// A message, all of whose packets are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The direction it went.
    pub flow: Flow,
    /// What it does.
    pub kind: MessageKind,
    /// Immediate data, if it has some.
    pub immediate: Option<u32>,
    /// Bytes of payload.
    pub length: u64,
    /// Its packets, in the order of their PSNs; never empty.
    pub packets: Vec<MessagePacket>,
}

/// What a message does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// SEND to a posted receive buffer.
    Send,
    /// RDMA WRITE to the address given.
    Write {
        /// Virtual address of the first byte.
        virtual_address: u64,
        /// Remote key of the memory region.
        remote_key: u32,
    },
}

/// A packet of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessagePacket {
    /// Packet sequence number.
    pub psn: Psn,
    /// Bytes of payload.
    pub payload_bytes: usize,
    /// Number of the frame that carried it first.
    pub frame: u64,
}

/// The messages of a capture, and what was left over:
/// data packets `==` packets of `messages` `+ duplicates + orphans`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// Whole messages, in the order in which their first packets appear.
    pub messages: Vec<Message>,
    /// Packets whose PSN the flow has had before: retransmissions, or packets captured twice.
    pub duplicates: u64,
    /// Packets of messages that lack another packet, or that contradict their own RETH.
    pub orphans: u64,
}

impl Messages {
    /// Folds packets, each with the number of its frame, to messages. Acknowledgements are passed over. Packets of
    /// one flow must be less than 2^23 PSNs from the one before, or their order cannot be told.
    pub fn from_packets<'a>(packets: impl IntoIterator<Item = (u64, &'a Packet)>) -> Self {
        let mut result = Self::default();
        let mut flows = BTreeMap::<Flow, Sequence>::new();
        for (frame, packet) in packets
            .into_iter()
            .filter(|(_, packet)| packet.operation.is_data())
        {
            let flow = Flow {
                source: packet.source,
                destination: packet.destination,
                qpn: packet.qpn,
            };
            if !flows.entry(flow).or_default().insert(frame, packet) {
                result.duplicates += 1;
            }
        }
        for (flow, sequence) in &flows {
            result.cut(*flow, sequence);
        }
        result.messages.sort_by_key(|message| message.packets[0].frame);
        result
    }

    /// Cuts the packets of a flow into messages.
    fn cut(&mut self, flow: Flow, sequence: &Sequence) {
        let mut open: Vec<(u64, &Packet)> = Vec::new();
        let mut expected = None;
        for (&position, &(frame, packet)) in &sequence.packets {
            if expected != Some(position) || packet.operation.begins() {
                self.orphans += open.drain(..).len() as u64;
            }
            expected = Some(position + 1);
            open.push((frame, packet));
            if packet.operation.ends() {
                match message(flow, &open) {
                    Some(message) => self.messages.push(message),
                    None => self.orphans += open.len() as u64,
                }
                open.clear();
            }
        }
        self.orphans += open.len() as u64;
    }
}

/// The message that these consecutive packets make, if they do.
fn message(flow: Flow, packets: &[(u64, &Packet)]) -> Option<Message> {
    let (first, last) = (packets.first()?.1.operation, packets.last()?.1.operation);
    let one_kind = packets
        .iter()
        .all(|(_, packet)| packet.operation.is_write() == first.is_write());
    let length = packets
        .iter()
        .map(|(_, packet)| packet.payload.len() as u64)
        .sum();
    let kind = match first.reth() {
        None => MessageKind::Send,
        Some(reth) if u64::from(reth.length) == length => {
            let Reth {
                virtual_address,
                remote_key,
                ..
            } = reth;
            MessageKind::Write {
                virtual_address,
                remote_key,
            }
        }
        Some(_) => return None,
    };
    let packet = |&(frame, packet): &(u64, &Packet)| {
        let (psn, payload_bytes) = (packet.psn, packet.payload.len());
        MessagePacket {
            psn,
            payload_bytes,
            frame,
        }
    };
    let immediate = last.immediate();
    let packets = packets.iter().map(packet).collect();
    (first.begins() && one_kind).then_some(Message {
        flow,
        kind,
        immediate,
        length,
        packets,
    })
}

/// The packets of a flow by their PSN, made to go on counting where 24 bits wrap.
#[derive(Default)]
struct Sequence<'a> {
    packets: BTreeMap<i64, (u64, &'a Packet)>,
    /// Position and PSN of the packet before, in the order of the capture.
    latest: Option<(i64, Psn)>,
}

impl<'a> Sequence<'a> {
    /// Whether the PSN is new.
    fn insert(&mut self, frame: u64, packet: &'a Packet) -> bool {
        let position = match self.latest {
            Some((position, psn)) => position + i64::from(packet.psn.since(psn)),
            None => 0,
        };
        self.latest = Some((position, packet.psn));
        let is_new = !self.packets.contains_key(&position);
        self.packets.entry(position).or_insert((frame, packet));
        is_new
    }
}
