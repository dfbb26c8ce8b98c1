//! Model of `deparser`. Contract: [`crate::port::deparser`].
//!
//! A header is written out as bytes when it is accepted. The frame being made is a row of bytes, to which the payload is
//! added beat by beat and, when all of it is there, the checksum. Beats are copied from it to a ring, where they stay until they
//! are taken; the pipeline carries where.

use super::{
    Unit,
    beats::{Beats, lanes_below, limbs_of, put_bytes},
};
use crate::{
    Params,
    pipeline::Pipeline,
    port::{
        deparser::{Inputs, LATENCY, Outputs},
        parser::HEADER_BYTES,
    },
    wire::{
        Opcode,
        codec::{IPV4_START, UDP_START, at, internet_sum, put_constants},
        icrc,
        table::{ECT0, ICRC_BYTES, Position, set},
    },
};

/// Beats that the pipeline and the output queue hold.
const SLOTS: usize = LATENCY + 1;
/// Bytes of the longest headers, those of an ACK.
const LONGEST_HEADERS: usize = Opcode::Ack.header_bytes();

const _: () = assert!(
    Opcode::Write.header_bytes() == HEADER_BYTES as usize && HEADER_BYTES.is_multiple_of(8),
    "payload begins with a limb"
);

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct Deparser {
    lanes: usize,
    /// The constant fields of the headers of each of [`KINDS`].
    constants: [[u8; LONGEST_HEADERS]; KINDS.len()],
    /// The input registers.
    data: Option<Packet>,
    ack: Option<Packet>,
    /// Data was chosen last.
    data_was_chosen: bool,
    /// The frame being made, and its bytes.
    frame: Option<Frame>,
    bytes: Box<[u8]>,
    beats: Beats,
    /// Where the next beat goes in `beats`.
    next: usize,
    pipeline: Pipeline<OutputBeat, { LATENCY - 1 }>,
}

/// An opcode of each layout.
const KINDS: [Opcode; 5] = [
    Opcode::Write,
    Opcode::Send,
    Opcode::Probe,
    Opcode::Ack,
    Opcode::Nak,
];

/// An accepted header.
#[derive(Clone, Copy, Debug)]
struct Packet {
    headers: [u8; LONGEST_HEADERS],
    header_bytes: usize,
    payload_bytes: usize,
    plane: u8,
}

/// The frame being made. All numbers are bytes of the frame.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Where the next beat begins.
    at: usize,
    payload: usize,
    icrc: usize,
    plane: u8,
}

/// A beat on its way.
#[derive(Clone, Copy, Debug)]
struct OutputBeat {
    slot: usize,
    keep: u64,
    last: bool,
    plane: u8,
}

impl Unit for Deparser {
    const NAME: &'static str = "deparser";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        let lanes = params.lanes() as usize;
        // As long a payload as the port can say, so that even a forbidden one is only a long frame.
        let longest = LONGEST_HEADERS + (1 << params.payload_bits()) + ICRC_BYTES;
        Self {
            lanes,
            constants: KINDS.map(|opcode| constants(opcode, params)),
            data: None,
            ack: None,
            data_was_chosen: true,
            frame: None,
            bytes: vec![0; longest.next_multiple_of(lanes)].into(),
            beats: Beats::new(params, SLOTS),
            next: 0,
            pipeline: Pipeline::new(),
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        let ready = Outputs {
            s_axis_data_tready: self.data.is_none(),
            s_axis_ack_tready: self.ack.is_none(),
            s_axis_payload_tready: self.is_payload_ready(),
            ..Default::default()
        };
        match self.pipeline.output() {
            None => ready,
            Some(beat) => Outputs {
                m_axis_tx_tvalid: true,
                m_axis_tx_tdata: self.beats.get(beat.slot),
                m_axis_tx_tkeep: beat.keep,
                m_axis_tx_tlast: beat.last,
                m_axis_tx_plane: beat.plane,
                ..ready
            },
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            self.reset();
            return;
        }
        let (takes_data, takes_ack) = (self.data.is_none(), self.ack.is_none());
        let moves = self.pipeline.moves();
        let beat = if moves { self.next_beat(inputs) } else { None };
        self.pipeline.clock(beat, inputs.m_axis_tx_tready);
        if moves && self.frame.is_none() {
            self.choose();
        }
        if takes_data && inputs.s_axis_data_tvalid {
            self.data = Some(self.data_packet(inputs));
        }
        if takes_ack && inputs.s_axis_ack_tvalid {
            self.ack = Some(self.ack_packet(inputs));
        }
    }

    #[inline]
    fn rests(&self) -> bool {
        self.pipeline.is_empty()
            && match self.frame {
                Some(frame) => frame.needs_payload(self.lanes),
                None => self.data.is_none() && self.ack.is_none(),
            }
    }
}

impl Deparser {
    #[inline]
    fn is_payload_ready(&self) -> bool {
        self.pipeline.moves() && self.frame.is_some_and(|frame| frame.needs_payload(self.lanes))
    }

    fn reset(&mut self) {
        self.data = None;
        self.ack = None;
        self.data_was_chosen = true;
        self.frame = None;
        self.pipeline = Pipeline::new();
    }

    /// In a clock in which the pipeline moves: the beat that enters it, if one does.
    #[inline]
    fn next_beat(&mut self, inputs: &Inputs) -> Option<OutputBeat> {
        let frame = self.frame.as_mut()?;
        let (at, lanes) = (frame.at, self.lanes);
        if frame.needs_payload(lanes) {
            if !inputs.s_axis_payload_tvalid {
                return None;
            }
            // What stands behind the payload in its last beat is overwritten below.
            let skip = frame.payload.saturating_sub(at);
            put_bytes(
                &mut self.bytes[at + skip..at + lanes],
                &inputs.s_axis_payload_tdata.data[skip / 8..],
            );
        }
        let end = frame.icrc + ICRC_BYTES;
        if (at..at + lanes).contains(&frame.icrc) {
            let (covered, rest) = self.bytes.split_at_mut(frame.icrc);
            rest[..ICRC_BYTES].copy_from_slice(&icrc(covered).to_le_bytes());
            rest[ICRC_BYTES..end.next_multiple_of(lanes) - frame.icrc].fill(0);
        }
        let slot = self.next;
        self.next = self.next.wrapping_add(1);
        self.beats.put(slot, &limbs_of(&self.bytes[at..at + lanes]));
        let beat = OutputBeat {
            slot,
            keep: lanes_below((end - at).min(lanes)),
            last: end <= at + lanes,
            plane: frame.plane,
        };
        frame.at += lanes;
        if beat.last {
            self.frame = None;
        }
        Some(beat)
    }

    /// Chooses an accepted header and begins its frame, if there is one.
    #[inline]
    fn choose(&mut self) {
        let chosen = match (&self.data, &self.ack) {
            (None, None) => return,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(_), Some(_)) => !self.data_was_chosen,
        };
        self.data_was_chosen = chosen;
        let packet = if chosen { &mut self.data } else { &mut self.ack };
        if let Some(packet) = packet.take() {
            self.bytes[..LONGEST_HEADERS].copy_from_slice(&packet.headers);
            self.frame = Some(Frame {
                at: 0,
                payload: packet.header_bytes,
                icrc: packet.header_bytes + packet.payload_bytes,
                plane: packet.plane,
            });
        }
    }

    /// The constant fields of the opcode's headers, and its value.
    fn headers(&self, opcode: Opcode) -> [u8; LONGEST_HEADERS] {
        let kind = match opcode {
            Opcode::WriteImmediate => Opcode::Write,
            Opcode::SendImmediate => Opcode::Send,
            other => other,
        };
        let index = KINDS.iter().position(|&other| other == kind).unwrap_or(0);
        let mut headers = self.constants[index];
        set(&mut headers, at::OPCODE, opcode.value().into());
        headers
    }

    /// The packet of the header at `s_axis_data`; an opcode that must not be offered counts as WRITE.
    fn data_packet(&self, inputs: &Inputs) -> Packet {
        let opcode = Opcode::from_value(inputs.s_axis_data_opcode)
            .filter(|&opcode| opcode.is_data() || opcode == Opcode::Probe)
            .unwrap_or(Opcode::Write);
        let mut headers = self.headers(opcode);
        let mut put = |at: Position, value: u64| set(&mut headers, at, value);
        put(at::DESTINATION_MAC, inputs.s_axis_data_destination_mac);
        put(at::SOURCE_MAC, inputs.s_axis_data_source_mac);
        put(at::SOURCE_ADDRESS, inputs.s_axis_data_source_address.into());
        put(
            at::DESTINATION_ADDRESS,
            inputs.s_axis_data_destination_address.into(),
        );
        put(at::SOURCE_PORT, inputs.s_axis_data_source_port.into());
        put(at::DSCP, inputs.s_axis_data_dscp.into());
        put(at::FLAGS, inputs.s_axis_data_flags.into());
        put(at::CONNECTION, inputs.s_axis_data_connection.into());
        put(at::PATH, inputs.s_axis_data_path.into());
        put(at::PSN, inputs.s_axis_data_psn.into());
        put(at::TIMESTAMP, inputs.s_axis_data_timestamp.into());
        if opcode.is_data() {
            put(at::STREAM, inputs.s_axis_data_stream.into());
            put(at::MESSAGE, inputs.s_axis_data_message.into());
            put(at::MESSAGE_LENGTH, inputs.s_axis_data_message_length.into());
            put(at::OFFSET, inputs.s_axis_data_offset.into());
            put(at::IMMEDIATE, inputs.s_axis_data_immediate.into());
        }
        match opcode {
            Opcode::Probe => {}
            Opcode::Send | Opcode::SendImmediate => put(at::RECEIVE, inputs.s_axis_data_receive.into()),
            _ => {
                put(at::KEY, inputs.s_axis_data_key.into());
                put(at::ADDRESS, inputs.s_axis_data_address);
            }
        }
        let payload_bytes = if opcode.is_data() {
            inputs.s_axis_data_payload_bytes.into()
        } else {
            0
        };
        Packet::new(headers, opcode, payload_bytes, inputs.s_axis_data_plane)
    }

    /// The packet of the header at `s_axis_ack`; an opcode that must not be offered counts as NAK.
    fn ack_packet(&self, inputs: &Inputs) -> Packet {
        let opcode = if inputs.s_axis_ack_opcode == Opcode::Ack.value() {
            Opcode::Ack
        } else {
            Opcode::Nak
        };
        let mut headers = self.headers(opcode);
        let mut put = |at: Position, value: u64| set(&mut headers, at, value);
        put(at::DESTINATION_MAC, inputs.s_axis_ack_destination_mac);
        put(at::SOURCE_MAC, inputs.s_axis_ack_source_mac);
        put(at::SOURCE_ADDRESS, inputs.s_axis_ack_source_address.into());
        put(
            at::DESTINATION_ADDRESS,
            inputs.s_axis_ack_destination_address.into(),
        );
        put(at::SOURCE_PORT, inputs.s_axis_ack_source_port.into());
        put(at::DSCP, inputs.s_axis_ack_dscp.into());
        put(at::CONNECTION, inputs.s_axis_ack_connection.into());
        put(at::PATH, inputs.s_axis_ack_path.into());
        put(at::TIMESTAMP, inputs.s_axis_ack_timestamp.into());
        if opcode == Opcode::Ack {
            put(at::PSN, inputs.s_axis_ack_psn.into());
            for (at, word) in at::VECTOR_WORDS.into_iter().zip(inputs.s_axis_ack_vector.data) {
                put(at, word);
            }
            put(at::ECHO, inputs.s_axis_ack_echo.into());
            put(at::HOLD, inputs.s_axis_ack_hold.into());
            put(at::PACKETS, inputs.s_axis_ack_packets.into());
            put(at::MARKED, inputs.s_axis_ack_marked.into());
            put(at::HINT, inputs.s_axis_ack_hint.into());
            put(at::WINDOW_STATE, inputs.s_axis_ack_window_state.into());
        } else {
            put(at::NAK_STREAM, inputs.s_axis_ack_stream.into());
            put(at::NAK_MESSAGE, inputs.s_axis_ack_message.into());
            put(at::NAK_CODE, inputs.s_axis_ack_code.into());
        }
        Packet::new(headers, opcode, 0, inputs.s_axis_ack_plane)
    }
}

/// The fields of an opcode's headers that are the same in all its frames.
fn constants(opcode: Opcode, params: &Params) -> [u8; LONGEST_HEADERS] {
    let mut headers = [0; LONGEST_HEADERS];
    put_constants(opcode, &mut headers);
    set(&mut headers, at::ECN, ECT0.into());
    set(&mut headers, at::DESTINATION_PORT, params.udp_port.into());
    headers
}

impl Packet {
    /// Completes the headers with the lengths and the checksum of IPv4.
    fn new(mut headers: [u8; LONGEST_HEADERS], opcode: Opcode, payload_bytes: usize, plane: u8) -> Self {
        let frame_bytes = opcode.least_frame_bytes() + payload_bytes;
        set(&mut headers, at::TOTAL_LENGTH, (frame_bytes - IPV4_START) as u64);
        set(&mut headers, at::UDP_LENGTH, (frame_bytes - UDP_START) as u64);
        let checksum = !internet_sum(&headers[IPV4_START..UDP_START]);
        set(&mut headers, at::HEADER_CHECKSUM, checksum.into());
        Self {
            headers,
            header_bytes: opcode.header_bytes(),
            payload_bytes,
            plane,
        }
    }
}

impl Frame {
    /// The next beat holds bytes of payload.
    #[inline]
    fn needs_payload(&self, lanes: usize) -> bool {
        self.payload < self.at + lanes && self.at < self.icrc && self.payload < self.icrc
    }
}
