//! Model of `parser`. Contract: [`crate::port::parser`].
//!
//! The bytes of a frame are gathered until its last beat; then it is judged and its header taken apart at once. What comes
//! out waits in a ring for each output stream; the pipeline carries only what each beat adds to which.

use super::{
    Unit,
    beats::{Beats, put_bytes},
};
use crate::{
    Params,
    port::{
        Vector,
        parser::{HEADER_BYTES, Inputs, LATENCY, Outputs},
    },
    wire::{
        Ack, Body, Data, DropReason, Nak, Packet, Receiver, Target,
        codec::at,
        table::{CE, ICRC_BYTES, get},
    },
};

/// Stages before the output queues.
const STAGES: usize = LATENCY - 1;
/// Entries that the pipeline and an output queue hold, as a power of two.
const SLOTS: usize = (STAGES + 2).next_power_of_two();

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct Parser {
    limits: Limits,
    /// The address configured for each plane.
    addresses: Box<[u32]>,
    /// Bytes of the frame before the next beat, and as many of them as are ever looked at.
    length: usize,
    bytes: Box<[u8]>,
    /// The stages, a ring; the entry at `stage` has come through all of them.
    stages: [Step; STAGES],
    stage: usize,
    /// Steps in the stages that will put something into a queue or drop a frame.
    under_way: usize,
    payload: Queue,
    beats: Beats,
    /// Of each beat in `beats`: `tlast` and `keep`.
    beat_ends: [(bool, bool); SLOTS],
    data: Queue,
    data_headers: Box<[Outputs; SLOTS]>,
    ack: Queue,
    ack_headers: Box<[Outputs; SLOTS]>,
    dropped: Option<DropReason>,
}

/// What of the profile a frame is measured by.
#[derive(Clone, Debug)]
struct Limits {
    lanes: usize,
    udp_port: u16,
    max_packet_bytes: usize,
    mtu_bytes: usize,
    /// Bytes before the first beat that may hold payload.
    payload_from: usize,
    connection_bits: u32,
    path_bits: u32,
    psn_bits: u32,
    /// All bits of a timestamp.
    timestamp_mask: u32,
    vector_mask: [u64; 4],
}

/// What an accepted beat puts into the output queues when it has come through the pipeline.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
    payload: bool,
    verdict: Verdict,
}

impl Step {
    #[inline]
    fn does_something(&self) -> bool {
        self.payload || !matches!(self.verdict, Verdict::Nothing)
    }
}

/// What comes of a frame, at its last beat.
#[derive(Clone, Copy, Debug, Default)]
enum Verdict {
    /// The beat is not a last one, or there is none.
    #[default]
    Nothing,
    Data,
    Ack,
    Dropped(DropReason),
}

/// A stream's entries in a ring of [`SLOTS`]: those in the output queue (two of payload, one header), and behind them those in the pipeline.
#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    /// Slot of the oldest entry.
    head: usize,
    /// Entries in the output queue.
    queued: usize,
    /// Slot of the next entry to enter the pipeline.
    next: usize,
}

impl Queue {
    /// The slot of the entry that is offered.
    #[inline]
    fn output(&self) -> Option<usize> {
        (self.queued > 0).then_some(self.head)
    }

    /// The slot for an entry that enters the pipeline.
    #[inline]
    fn enter(&mut self) -> usize {
        let slot = self.next;
        self.next = (slot + 1) % SLOTS;
        slot
    }

    /// The end of a clock: an entry `arrives` in the queue or not, the output is `taken` or not.
    #[inline]
    fn clock(&mut self, arrives: bool, taken: bool) {
        if taken && self.queued > 0 {
            self.queued -= 1;
            self.head = (self.head + 1) % SLOTS;
        }
        self.queued += usize::from(arrives);
    }
}

impl Unit for Parser {
    const NAME: &'static str = "parser";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        let limits = Limits::new(params);
        let bytes = (limits.max_packet_bytes + 1).next_multiple_of(limits.lanes);
        Self {
            limits,
            addresses: vec![0; 1 << params.plane_bits()].into(),
            length: 0,
            bytes: vec![0; bytes].into(),
            stages: Default::default(),
            stage: 0,
            under_way: 0,
            payload: Queue::default(),
            beats: Beats::new(params, SLOTS),
            beat_ends: Default::default(),
            data: Queue::default(),
            data_headers: Box::default(),
            ack: Queue::default(),
            ack_headers: Box::default(),
            dropped: None,
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        let mut outputs = match self.data.output() {
            None => Outputs::default(),
            Some(slot) => self.data_headers[slot],
        };
        if let Some(slot) = self.ack.output() {
            outputs = with_ack(outputs, &self.ack_headers[slot]);
        }
        if let Some(slot) = self.payload.output() {
            outputs.m_axis_payload_tvalid = true;
            outputs.m_axis_payload_tdata = self.beats.get(slot);
            (outputs.m_axis_payload_tlast, outputs.m_axis_payload_keep) = self.beat_ends[slot];
        }
        if let Some(reason) = self.dropped {
            outputs.dropped = true;
            outputs.drop_reason = reason.value();
        }
        outputs.s_axis_rx_tready = self.moves();
        outputs
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            self.reset();
            return;
        }
        let mut out = Step::default();
        if self.moves() {
            let step = if inputs.s_axis_rx_tvalid {
                self.accept(inputs)
            } else {
                Step::default()
            };
            out = std::mem::replace(&mut self.stages[self.stage], step);
            self.under_way += usize::from(step.does_something());
            self.under_way -= usize::from(out.does_something());
            self.stage = if self.stage + 1 == STAGES {
                0
            } else {
                self.stage + 1
            };
        }
        self.payload.clock(out.payload, inputs.m_axis_payload_tready);
        let (mut data, mut ack) = (false, false);
        self.dropped = None;
        match out.verdict {
            Verdict::Nothing => {}
            Verdict::Data => data = true,
            Verdict::Ack => ack = true,
            Verdict::Dropped(reason) => self.dropped = Some(reason),
        }
        self.data.clock(data, inputs.m_axis_data_tready);
        self.ack.clock(ack, inputs.m_axis_ack_tready);
        if inputs.config_write {
            self.addresses[usize::from(inputs.config_plane)] = inputs.config_address;
        }
    }

    #[inline]
    fn rests(&self) -> bool {
        self.under_way == 0
            && self.dropped.is_none()
            && self.payload.output().is_none()
            && self.data.output().is_none()
            && self.ack.output().is_none()
    }
}

impl Parser {
    #[inline]
    fn moves(&self) -> bool {
        let frame_ends = !matches!(self.stages[self.stage].verdict, Verdict::Nothing);
        self.payload.queued < 2 && !(frame_ends && self.data.queued + self.ack.queued > 0)
    }

    fn reset(&mut self) {
        self.addresses.fill(0);
        self.length = 0;
        self.stages = Default::default();
        self.stage = 0;
        self.under_way = 0;
        self.payload = Queue::default();
        self.data = Queue::default();
        self.ack = Queue::default();
        self.dropped = None;
    }

    /// Takes a beat in, and with a frame's last one its header.
    #[inline]
    fn accept(&mut self, inputs: &Inputs) -> Step {
        let (at, lanes) = (self.length, self.limits.lanes);
        if at < self.bytes.len() {
            put_bytes(&mut self.bytes[at..at + lanes], &inputs.s_axis_rx_tdata.data);
        }
        let mut verdict = Verdict::Nothing;
        let mut has_payload = false;
        if inputs.s_axis_rx_tlast {
            let kept = (inputs.s_axis_rx_tkeep.trailing_ones() as usize).min(lanes);
            (verdict, has_payload) = self.judge(at + kept, inputs);
            self.length = 0;
        } else {
            self.length += lanes;
        }
        let payload =
            at >= self.limits.payload_from && (at < self.limits.max_packet_bytes || inputs.s_axis_rx_tlast);
        if payload {
            let slot = self.payload.enter();
            self.beats.put(slot, &inputs.s_axis_rx_tdata.data);
            self.beat_ends[slot] = (inputs.s_axis_rx_tlast, has_payload);
        }
        Step { payload, verdict }
    }

    /// Judges the frame of `length` bytes that has ended and puts its header, if it is good, in its place; tells also
    /// whether its payload is to be kept.
    fn judge(&mut self, length: usize, inputs: &Inputs) -> (Verdict, bool) {
        if inputs.s_axis_rx_bad {
            return (Verdict::Dropped(DropReason::Bad), false);
        }
        // Of a frame that is too long one byte too many tells enough.
        let frame = &self.bytes[..length.min(self.limits.max_packet_bytes + 1)];
        let address = self.addresses[usize::from(inputs.s_axis_rx_plane)];
        let (packet, payload_bytes) = match self.limits.decode(frame, address) {
            Err(reason) => return (Verdict::Dropped(reason), false),
            Ok(good) => good,
        };
        match packet.body {
            Body::Ack(_) | Body::Nak(_) => {
                self.ack_headers[self.ack.enter()] = self.limits.ack_header(&packet);
                (Verdict::Ack, false)
            }
            Body::Data(_) | Body::Probe => {
                let header = Outputs {
                    m_axis_data_flags: get(frame, at::FLAGS) as u8,
                    m_axis_data_arrival: inputs.now,
                    m_axis_data_plane: inputs.s_axis_rx_plane,
                    m_axis_data_payload_bytes: payload_bytes as u16,
                    ..self.limits.data_header(&packet, frame)
                };
                self.data_headers[self.data.enter()] = header;
                (Verdict::Data, payload_bytes > 0)
            }
        }
    }
}

impl Limits {
    fn new(params: &Params) -> Self {
        let lanes = params.lanes() as usize;
        let mut vector_mask = Vector::ZERO;
        vector_mask[..params.sack_bits as usize].fill(true);
        Self {
            lanes,
            udp_port: params.udp_port as u16,
            max_packet_bytes: params.max_packet_bytes as usize,
            mtu_bytes: params.mtu_bytes as usize,
            payload_from: HEADER_BYTES as usize / lanes * lanes,
            connection_bits: params.connection_bits(),
            path_bits: params.path_bits(),
            psn_bits: params.psn_bits,
            timestamp_mask: u32::MAX >> (32 - params.timestamp_bits),
            vector_mask: vector_mask.data,
        }
    }

    /// The packet in a frame and the bytes of its payload, or the first reason to drop it.
    fn decode(&self, frame: &[u8], address: u32) -> Result<(Packet, usize), DropReason> {
        let receiver = Receiver {
            address,
            udp_port: self.udp_port,
            max_packet_bytes: self.max_packet_bytes,
        };
        let result = Packet::decode(frame, &receiver);
        if address == 0
            && result
                .as_ref()
                .err()
                .is_none_or(|reason| *reason > DropReason::Address)
        {
            return Err(DropReason::Address);
        }
        // What the profile has no room for goes before the checksum.
        match result {
            Err(DropReason::Icrc) if !self.has_room_for(frame) => Err(DropReason::Size),
            Ok(_) if !self.has_room_for(frame) => Err(DropReason::Size),
            result => result.map(|(packet, payload)| (packet, payload.len())),
        }
    }

    /// The profile has room for the numbers and the payload of a frame whose headers are sound.
    fn has_room_for(&self, frame: &[u8]) -> bool {
        let longest = HEADER_BYTES as usize + self.mtu_bytes + ICRC_BYTES;
        get(frame, at::CONNECTION) >> self.connection_bits == 0
            && get(frame, at::PATH) >> self.path_bits == 0
            && get(frame, at::PSN) >> self.psn_bits == 0
            && frame.len() <= longest
    }

    /// The header at `m_axis_data` as far as the packet tells it.
    fn data_header(&self, packet: &Packet, frame: &[u8]) -> Outputs {
        let mut header = Outputs {
            m_axis_data_tvalid: true,
            m_axis_data_opcode: packet.opcode().value(),
            m_axis_data_connection: packet.base.connection as u16,
            m_axis_data_path: packet.base.path,
            m_axis_data_psn: packet.base.psn,
            m_axis_data_timestamp: packet.base.timestamp & self.timestamp_mask,
            m_axis_data_marked: packet.route.ecn == CE,
            ..Default::default()
        };
        if let Body::Data(Data {
            stream,
            message,
            message_length,
            offset,
            target,
            ..
        }) = packet.body
        {
            header.m_axis_data_stream = stream;
            header.m_axis_data_message = message;
            header.m_axis_data_message_length = message_length;
            header.m_axis_data_offset = offset;
            // As it came, even with an opcode that has no use for it.
            header.m_axis_data_immediate = get(frame, at::IMMEDIATE) as u32;
            match target {
                Target::Write { key, address } => {
                    header.m_axis_data_key = key;
                    header.m_axis_data_address = address;
                }
                Target::Send { receive } => header.m_axis_data_receive = receive,
            }
        }
        header
    }

    /// The header at `m_axis_ack`.
    fn ack_header(&self, packet: &Packet) -> Outputs {
        let mut header = Outputs {
            m_axis_ack_tvalid: true,
            m_axis_ack_opcode: packet.opcode().value(),
            m_axis_ack_connection: packet.base.connection as u16,
            m_axis_ack_path: packet.base.path,
            ..Default::default()
        };
        match packet.body {
            Body::Ack(Ack {
                vector,
                echo,
                hold,
                packets,
                marked,
                hint,
                window_state,
            }) => {
                header.m_axis_ack_psn = packet.base.psn;
                for (i, mask) in self.vector_mask.into_iter().enumerate() {
                    header.m_axis_ack_vector.data[i] = vector.data[i] & mask;
                }
                header.m_axis_ack_echo = echo & self.timestamp_mask;
                header.m_axis_ack_hold = hold;
                header.m_axis_ack_packets = packets;
                header.m_axis_ack_marked = marked;
                header.m_axis_ack_hint = hint;
                header.m_axis_ack_window_state = window_state;
            }
            Body::Nak(Nak {
                stream,
                message,
                code,
            }) => {
                header.m_axis_ack_stream = stream;
                header.m_axis_ack_message = message;
                header.m_axis_ack_code = code;
            }
            Body::Data(_) | Body::Probe => {}
        }
        header
    }
}

/// The outputs with the header of `ack` at `m_axis_ack`.
#[inline]
fn with_ack(outputs: Outputs, ack: &Outputs) -> Outputs {
    Outputs {
        m_axis_ack_tvalid: ack.m_axis_ack_tvalid,
        m_axis_ack_opcode: ack.m_axis_ack_opcode,
        m_axis_ack_connection: ack.m_axis_ack_connection,
        m_axis_ack_path: ack.m_axis_ack_path,
        m_axis_ack_psn: ack.m_axis_ack_psn,
        m_axis_ack_vector: ack.m_axis_ack_vector,
        m_axis_ack_echo: ack.m_axis_ack_echo,
        m_axis_ack_hold: ack.m_axis_ack_hold,
        m_axis_ack_packets: ack.m_axis_ack_packets,
        m_axis_ack_marked: ack.m_axis_ack_marked,
        m_axis_ack_hint: ack.m_axis_ack_hint,
        m_axis_ack_window_state: ack.m_axis_ack_window_state,
        m_axis_ack_stream: ack.m_axis_ack_stream,
        m_axis_ack_message: ack.m_axis_ack_message,
        m_axis_ack_code: ack.m_axis_ack_code,
        ..outputs
    }
}
