//! Stimulus of `deparser`: headers of both kinds, together and alone, payloads of every length, late and early.

use crate::{
    bins::{Bins, bins},
    occupancy::Occupancy,
    stimulus::{Flow, Offer, Random, Resets, Stimulus, beat, low_bits, random},
};
use metaroce_model::{
    Params,
    port::{
        Beat, Vector,
        deparser::{Inputs, LATENCY, Outputs},
        parser::{HEADER_BYTES, ICRC_BYTES},
    },
    unit::deparser::Deparser as Unit,
    wire::Opcode,
};
use rand::RngExt;

bins! {
    // Of a clock.
    DataWaits = "header of data waits for its register",
    AckWaits = "header of an acknowledgement waits for its register",
    PayloadWaits = "payload offered while none is needed",
    PayloadHeld = "payload offered to a frame while the pipeline stands still",
    StarvedFirst = "first beat of payload not offered in time",
    StarvedMiddle = "payload starved in mid-frame",
    StarvedLast = "last beat of payload not offered in time",
    Held = "beat not taken",
    Stands = "stands still with every place full",
    FramesOut = "frames leave back to back",
    ResetInFrame = "reset in mid-frame",
    ResetRegisters = "reset while both registers hold a header",
    ResetPipeline = "reset while beats are in the pipeline",
    // Of a choice.
    DataOfBoth = "both wait, data is chosen",
    AckOfBoth = "both wait, the acknowledgement is chosen",
    DataOnly = "only data waits, and was chosen last",
    AckOnly = "only an acknowledgement waits, and was chosen last",
    InTurn = "four choices of two that wait, in turn",
    AtLastBeat = "chosen in the clock of the last frame's last beat",
    AtRest = "chosen while no frame is being made",
    // Of a frame whose last beat enters the pipeline.
    Whole = "frame of data without a clock lost, behind another",
    NoPayloadBetween = "frame without payload back to back between two with payload",
    Payload0 = "data without payload",
    PayloadMtuLess1 = "mtu - 1 bytes of payload",
    PayloadMtu = "mtu bytes of payload",
    IcrcSplit = "checksum in two beats",
    IcrcAlone = "last beat holds just the checksum",
    IcrcBeside = "last beat holds payload and all of the checksum",
    ProbeBytes = "PROBE with a number of payload bytes",
    ChecksumTwice = "sum of the IPv4 header carries twice",
    ChecksumZero = "IPv4 header checksum 0",
    Zeros = "header with all numbers zero",
    Ones = "header with all numbers at their largest",
    AckZeros = "ACK or NAK with all numbers zero",
    AckOnes = "ACK or NAK with all numbers at their largest",
}

/// Opcodes, in the order of their bins.
const OPCODES: [Opcode; 7] = [
    Opcode::Write,
    Opcode::WriteImmediate,
    Opcode::Send,
    Opcode::SendImmediate,
    Opcode::Probe,
    Opcode::Ack,
    Opcode::Nak,
];
const DATA_OPCODES: usize = 5;

const OPCODE: usize = BINS.len();
/// Bins of frames of data by payload bytes, 0 to B + 1; behind them those by bytes in the last beat, 1 to B.
const PAYLOAD: usize = OPCODE + OPCODES.len();

/// Drives the unit.
pub struct Deparser {
    random: Random,
    data: Offer,
    ack: Offer,
    payload: Offer,
    output: Flow,
    resets: Resets,
    widths: Widths,
    phase: Phase,
    /// What comes next on each stream.
    next_data: Header,
    next_ack: Header,
    next_payload: Beat,
    /// The input registers, and the frame that is being made.
    data_register: Option<Header>,
    ack_register: Option<Header>,
    making: Option<Making>,
    pipeline: Occupancy,
    /// Data was chosen last, and how many choices of two were made in turn.
    data_last: bool,
    in_turn: u32,
    /// The two frames before the one being made, the latest first, as long as they came back to back: whether they had payload.
    before: [Option<bool>; 2],
    left_last: bool,
    bins: Bins,
}

#[derive(Clone, Copy, Debug)]
struct Widths {
    lanes: u32,
    mtu: u32,
    plane: u32,
    path: u32,
    psn: u32,
    timestamp: u32,
    sack: u32,
    payload: u32,
}

/// A header, as the few numbers that all its fields are computed from.
#[derive(Clone, Copy, Debug)]
struct Header {
    scatter: Scatter,
    opcode: Opcode,
    payload_bytes: u32,
    /// What is added to the destination address so that the IPv4 header has a special sum.
    destination: u32,
    special: Special,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Special {
    None,
    CarriesTwice,
    ChecksumZero,
}

/// Numbers for fields: mixed from a seed, or all zero, or all ones.
#[derive(Clone, Copy, Debug)]
struct Scatter {
    state: u64,
    and: u64,
    or: u64,
}

impl Scatter {
    const fn random(state: u64) -> Self {
        Self {
            state,
            and: u64::MAX,
            or: 0,
        }
    }

    /// The next number, of 1 to 64 bits.
    #[inline]
    fn next(&mut self, bits: u32) -> u64 {
        self.state = self
            .state
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        let mixed = (self.state ^ self.state >> 33).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed & self.and | self.or) >> (64 - bits)
    }
}

#[derive(Clone, Copy, Debug)]
struct Making {
    header: Header,
    bytes: u32,
    done: u32,
    /// Clocks since it was chosen.
    clocks: u32,
    behind: bool,
}

impl Making {
    fn beats(&self, lanes: u32) -> u32 {
        self.bytes.div_ceil(lanes)
    }

    /// The beats that hold payload.
    fn payload(&self, lanes: u32) -> std::ops::Range<u32> {
        let first = HEADER_BYTES / lanes;
        let end = (HEADER_BYTES + self.header.payload()).div_ceil(lanes);
        if self.header.payload() == 0 {
            first..first
        } else {
            first..end
        }
    }

    fn needs(&self, lanes: u32) -> bool {
        self.payload(lanes).contains(&self.done)
    }
}

impl Header {
    fn payload(&self) -> u32 {
        if self.opcode.is_data() {
            self.payload_bytes
        } else {
            0
        }
    }

    fn bytes(&self) -> u32 {
        self.opcode.least_frame_bytes() as u32 + self.payload()
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Phase {
    left: u32,
    lengths: Lengths,
}

#[derive(Clone, Copy, Debug, Default)]
enum Lengths {
    #[default]
    Edges,
    Short,
    Packets,
    Any,
}

impl Stimulus<Unit> for Deparser {
    fn new(params: &Params, seed: u64) -> Self {
        let lanes = params.lanes();
        let names = BINS.iter().map(ToString::to_string);
        let opcodes = OPCODES.iter().map(|opcode| opcode.name().to_string());
        let payloads = (0..=lanes + 1).map(|bytes| format!("{bytes} bytes of payload"));
        let tails = (1..=lanes).map(|bytes| format!("data with {bytes} bytes in the last beat"));
        let nothing = Header {
            scatter: Scatter::random(0),
            opcode: Opcode::Probe,
            payload_bytes: 0,
            destination: 0,
            special: Special::None,
        };
        let mut stimulus = Self {
            random: random(seed),
            data: Offer::new(100),
            ack: Offer::new(100),
            payload: Offer::new(100),
            output: Flow::new(100),
            resets: Resets::new(4000),
            widths: Widths {
                lanes,
                mtu: params.mtu_bytes,
                plane: params.plane_bits(),
                path: params.path_bits(),
                psn: params.psn_bits,
                timestamp: params.timestamp_bits,
                sack: params.sack_bits,
                payload: params.payload_bits(),
            },
            phase: Phase::default(),
            next_data: nothing,
            next_ack: nothing,
            next_payload: Beat::default(),
            data_register: None,
            ack_register: None,
            making: None,
            pipeline: Occupancy::new(LATENCY),
            data_last: true,
            in_turn: 0,
            before: [None; 2],
            left_last: false,
            bins: Bins::new(names.chain(opcodes).chain(payloads).chain(tails)),
        };
        stimulus.plan_data();
        stimulus.plan_ack();
        stimulus
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        let random = &mut self.random;
        let rst = self.resets.next(random);
        let accepts = [
            outputs.s_axis_data_tready && !rst,
            outputs.s_axis_ack_tready && !rst,
            outputs.s_axis_payload_tready && !rst,
        ];
        let data = self.data.next(random, accepts[0], true);
        let ack = self.ack.next(random, accepts[1], true);
        let payload = self.payload.next(random, accepts[2], true);
        let mut inputs = Inputs {
            rst,
            s_axis_data_tvalid: data.valid,
            s_axis_ack_tvalid: ack.valid,
            s_axis_payload_tvalid: payload.valid,
            s_axis_payload_tdata: if payload.real {
                self.next_payload
            } else {
                beat(random, self.widths.lanes)
            },
            m_axis_tx_tready: self.output.next(random),
            ..Default::default()
        };
        let mut garbage = Scatter::random(inputs.s_axis_payload_tdata.data[0] ^ 0x7c15);
        if data.real {
            self.next_data.put_data(&mut inputs, &self.widths);
        } else {
            put_data(&mut inputs, &mut garbage, &self.widths);
        }
        if ack.real {
            self.next_ack.put_ack(&mut inputs, &self.widths);
        } else {
            put_ack(&mut inputs, &mut garbage, &self.widths);
        }
        self.count_clock(&inputs, outputs);
        if rst {
            self.reset();
        } else {
            self.clock(
                [
                    data.real && accepts[0],
                    ack.real && accepts[1],
                    payload.real && accepts[2],
                ],
                &inputs,
                outputs,
            );
        }
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl Deparser {
    fn reset(&mut self) {
        self.data.clear();
        self.ack.clear();
        self.payload.clear();
        (self.data_register, self.ack_register, self.making) = (None, None, None);
        self.pipeline.clear();
        (self.data_last, self.in_turn, self.left_last) = (true, 0, false);
        self.before = [None; 2];
    }

    /// The rising edge, with what is accepted of data, acknowledgements and payload.
    #[inline]
    fn clock(&mut self, accepted: [bool; 3], inputs: &Inputs, outputs: &Outputs) {
        let taken = outputs.m_axis_tx_tvalid && inputs.m_axis_tx_tready;
        let lanes = self.widths.lanes;
        let moves = self.pipeline.moves();
        let mut enters = false;
        let mut ends = false;
        if let Some(making) = &mut self.making {
            making.clocks += 1;
            enters = moves && (!making.needs(lanes) || accepted[2]);
            making.done += u32::from(enters);
            ends = making.done == making.beats(lanes);
        }
        if ends && let Some(making) = self.making.take() {
            self.count_frame(&making);
        }
        if moves && self.making.is_none() {
            self.choose(ends);
        }
        if accepted[0] {
            self.data_register = Some(self.next_data);
            self.plan_data();
        }
        if accepted[1] {
            self.ack_register = Some(self.next_ack);
            self.plan_ack();
        }
        if accepted[2] {
            self.next_payload = beat(&mut self.random, lanes);
        }
        self.pipeline.clock(enters, taken);
        self.left_last = taken && outputs.m_axis_tx_tlast;
    }

    /// The next frame, if a header waits.
    #[inline]
    fn choose(&mut self, at_last_beat: bool) {
        let both = self.data_register.is_some() && self.ack_register.is_some();
        let data = self.data_register.is_some() && (!both || !self.data_last);
        let chosen = if data {
            self.data_register.take()
        } else {
            self.ack_register.take()
        };
        if !at_last_beat {
            self.before = [None; 2];
        }
        let Some(header) = chosen else { return };
        self.in_turn = if both { self.in_turn + 1 } else { 0 };
        self.bins.hit_each(
            Bin::DataOfBoth as usize,
            [
                both && data,
                both && !data,
                !both && data && self.data_last,
                !both && !data && !self.data_last,
                self.in_turn >= 4,
                at_last_beat,
                !at_last_beat,
            ],
        );
        self.data_last = data;
        self.making = Some(Making {
            header,
            bytes: header.bytes(),
            done: 0,
            clocks: 0,
            behind: at_last_beat,
        });
    }

    fn plan_data(&mut self) {
        if self.phase.left == 0 {
            self.change_phase();
        }
        self.phase.left -= 1;
        let Widths { lanes, mtu, .. } = self.widths;
        let random = &mut self.random;
        let payload_bytes = match self.phase.lengths {
            Lengths::Edges => random.random_range(0..=lanes + 1),
            Lengths::Short => random.random_range(0..=4 * lanes),
            Lengths::Packets => mtu - [0, 1, random.random_range(0..lanes)][random.random_range(0..3)],
            Lengths::Any => random.random_range(0..=mtu),
        };
        let opcode = OPCODES[random.random_range(0..DATA_OPCODES)];
        let payload_bytes = match opcode {
            Opcode::Probe => random.random::<u32>() & low_bits(self.widths.payload) as u32,
            _ => payload_bytes.min(mtu),
        };
        self.next_data = self.header(opcode, payload_bytes);
    }

    fn plan_ack(&mut self) {
        let opcode = OPCODES[self.random.random_range(DATA_OPCODES..OPCODES.len())];
        self.next_ack = self.header(opcode, 0);
    }

    fn header(&mut self, opcode: Opcode, payload_bytes: u32) -> Header {
        let bits: u64 = self.random.random();
        let mut header = Header {
            scatter: match bits & 31 {
                0 => Scatter {
                    and: 0,
                    ..Scatter::random(bits)
                },
                1 => Scatter {
                    or: u64::MAX,
                    ..Scatter::random(bits)
                },
                _ => Scatter::random(bits),
            },
            opcode,
            payload_bytes,
            destination: 0,
            special: Special::None,
        };
        match bits >> 5 & 15 {
            _ if bits & 31 < 2 => {}
            0 => header.specialise(Special::CarriesTwice, &self.widths),
            1 => header.specialise(Special::ChecksumZero, &self.widths),
            _ => {}
        }
        header
    }

    fn change_phase(&mut self) {
        let random = &mut self.random;
        let (lengths, most) = match random.random_range(0..16) {
            0..=7 => (Lengths::Edges, 100),
            8..=12 => (Lengths::Short, 60),
            13 => (Lengths::Any, 4),
            _ => (Lengths::Packets, 4),
        };
        self.phase = Phase {
            left: random.random_range(1..=most),
            lengths,
        };
        for offer in [&mut self.data, &mut self.ack, &mut self.payload] {
            offer.change([10, 200, 1000][random.random_range(0..3)]);
        }
        self.output = Flow::new([10, 200, 1000][random.random_range(0..3)]);
    }

    /// The last beat of a frame enters the pipeline.
    #[inline]
    fn count_frame(&mut self, making: &Making) {
        let Widths { lanes, mtu, .. } = self.widths;
        let header = &making.header;
        let data = header.opcode.is_data();
        let payload = header.payload();
        let beats = making.beats(lanes);
        let in_last = making.bytes - (beats - 1) * lanes;
        let (zeros, ones) = (header.scatter.and == 0, header.scatter.or != 0);
        let acknowledges = matches!(header.opcode, Opcode::Ack | Opcode::Nak);
        self.bins.hit_each(
            Bin::Whole as usize,
            [
                data && making.behind && making.clocks == beats,
                // The one before this one had none, the one before that had.
                payload > 0 && self.before == [Some(false), Some(true)],
                data && payload == 0,
                data && payload == mtu - 1,
                data && payload == mtu,
                in_last < ICRC_BYTES,
                in_last == ICRC_BYTES,
                payload > 0 && in_last > ICRC_BYTES,
                header.opcode == Opcode::Probe && header.payload_bytes > 0,
                header.special == Special::CarriesTwice,
                header.special == Special::ChecksumZero,
                zeros && !acknowledges,
                ones && !acknowledges,
                zeros && acknowledges,
                ones && acknowledges,
            ],
        );
        let number = OPCODES.iter().position(|&opcode| opcode == header.opcode);
        self.bins.hit(OPCODE + number.unwrap_or(0), true);
        if data {
            if payload <= lanes + 1 {
                self.bins.hit(PAYLOAD + payload as usize, true);
            }
            self.bins.hit(PAYLOAD + (lanes + 1 + in_last) as usize, true);
        }
        self.before = [Some(payload > 0), self.before[0]];
    }

    #[inline]
    fn count_clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let lanes = self.widths.lanes;
        let moves = self.pipeline.moves();
        let needs = self.making.is_some_and(|making| making.needs(lanes));
        debug_assert_eq!(outputs.s_axis_payload_tready, moves && needs);
        debug_assert_eq!(outputs.s_axis_data_tready, self.data_register.is_none());
        debug_assert_eq!(outputs.s_axis_ack_tready, self.ack_register.is_none());
        let starved = moves && needs && !inputs.s_axis_payload_tvalid && !inputs.rst;
        let (first, last) = self.making.map_or((false, false), |making| {
            let payload = making.payload(lanes);
            (making.done == payload.start, making.done + 1 == payload.end)
        });
        let begun = self.making.is_some_and(|making| making.done > 0);
        self.bins.hit_each(
            0,
            [
                inputs.s_axis_data_tvalid && !outputs.s_axis_data_tready && !inputs.rst,
                inputs.s_axis_ack_tvalid && !outputs.s_axis_ack_tready && !inputs.rst,
                inputs.s_axis_payload_tvalid && !needs && !inputs.rst,
                inputs.s_axis_payload_tvalid && needs && !moves && !inputs.rst,
                starved && first,
                starved && !first && !last,
                starved && last,
                outputs.m_axis_tx_tvalid && !inputs.m_axis_tx_tready && !inputs.rst,
                self.pipeline.is_full(),
                outputs.m_axis_tx_tvalid && inputs.m_axis_tx_tready && self.left_last,
                inputs.rst && begun,
                inputs.rst && self.data_register.is_some() && self.ack_register.is_some(),
                inputs.rst && !self.pipeline.is_empty(),
            ],
        );
    }
}

impl Header {
    fn put_data(&self, inputs: &mut Inputs, widths: &Widths) {
        put_data(inputs, &mut self.scatter.clone(), widths);
        inputs.s_axis_data_opcode = self.opcode.value();
        inputs.s_axis_data_payload_bytes = self.payload_bytes as u16;
        inputs.s_axis_data_destination_address = inputs
            .s_axis_data_destination_address
            .wrapping_add(self.destination);
    }

    fn put_ack(&self, inputs: &mut Inputs, widths: &Widths) {
        put_ack(inputs, &mut self.scatter.clone(), widths);
        inputs.s_axis_ack_opcode = self.opcode.value();
        inputs.s_axis_ack_destination_address = inputs
            .s_axis_ack_destination_address
            .wrapping_add(self.destination);
    }

    /// Changes the low half of the destination address so that the IPv4 header's sum is special.
    fn specialise(&mut self, special: Special, widths: &Widths) {
        let mut fields = Inputs::default();
        let (dscp, source, destination) = if matches!(self.opcode, Opcode::Ack | Opcode::Nak) {
            self.put_ack(&mut fields, widths);
            (
                fields.s_axis_ack_dscp,
                fields.s_axis_ack_source_address,
                fields.s_axis_ack_destination_address,
            )
        } else {
            self.put_data(&mut fields, widths);
            (
                fields.s_axis_data_dscp,
                fields.s_axis_data_source_address,
                fields.s_axis_data_destination_address,
            )
        };
        // Version and header length, dscp and ECT(0); length; don't fragment; time to live and protocol; addresses.
        let halves = |address: u32| (address >> 16) + (address & 0xffff);
        let rest = 0x4502
            + (u32::from(dscp) << 2)
            + (self.bytes() - 14)
            + 0x4000
            + 0x4011
            + halves(source)
            + (destination >> 16);
        let low = match special {
            // What lacks to a low half of all ones, to which the carries are then added.
            Special::CarriesTwice if rest >> 16 > 0 => !rest & 0xffff,
            Special::ChecksumZero => 0xffff - ((rest - 1) % 0xffff + 1),
            _ => return,
        };
        self.destination = (destination & 0xffff_0000 | low).wrapping_sub(destination);
        self.special = special;
    }
}

/// All fields at `s_axis_data`.
#[inline]
fn put_data(inputs: &mut Inputs, scatter: &mut Scatter, widths: &Widths) {
    inputs.s_axis_data_destination_mac = scatter.next(48);
    inputs.s_axis_data_source_mac = scatter.next(48);
    inputs.s_axis_data_source_address = scatter.next(32) as u32;
    inputs.s_axis_data_destination_address = scatter.next(32) as u32;
    inputs.s_axis_data_source_port = scatter.next(16) as u16;
    inputs.s_axis_data_dscp = scatter.next(6) as u8;
    inputs.s_axis_data_plane = scatter.next(widths.plane) as u8;
    inputs.s_axis_data_opcode = scatter.next(8) as u8;
    inputs.s_axis_data_flags = scatter.next(4) as u8;
    inputs.s_axis_data_connection = scatter.next(24) as u32;
    inputs.s_axis_data_path = scatter.next(widths.path) as u8;
    inputs.s_axis_data_psn = scatter.next(widths.psn) as u32;
    inputs.s_axis_data_timestamp = scatter.next(widths.timestamp) as u32;
    inputs.s_axis_data_payload_bytes = scatter.next(widths.payload) as u16;
    inputs.s_axis_data_stream = scatter.next(16) as u16;
    inputs.s_axis_data_message = scatter.next(24) as u32;
    inputs.s_axis_data_message_length = scatter.next(32) as u32;
    inputs.s_axis_data_offset = scatter.next(32) as u32;
    inputs.s_axis_data_immediate = scatter.next(32) as u32;
    inputs.s_axis_data_key = scatter.next(32) as u32;
    inputs.s_axis_data_address = scatter.next(64);
    inputs.s_axis_data_receive = scatter.next(24) as u32;
}

/// All fields at `s_axis_ack`.
#[inline]
fn put_ack(inputs: &mut Inputs, scatter: &mut Scatter, widths: &Widths) {
    inputs.s_axis_ack_destination_mac = scatter.next(48);
    inputs.s_axis_ack_source_mac = scatter.next(48);
    inputs.s_axis_ack_source_address = scatter.next(32) as u32;
    inputs.s_axis_ack_destination_address = scatter.next(32) as u32;
    inputs.s_axis_ack_source_port = scatter.next(16) as u16;
    inputs.s_axis_ack_dscp = scatter.next(6) as u8;
    inputs.s_axis_ack_plane = scatter.next(widths.plane) as u8;
    inputs.s_axis_ack_opcode = scatter.next(8) as u8;
    inputs.s_axis_ack_connection = scatter.next(24) as u32;
    inputs.s_axis_ack_path = scatter.next(widths.path) as u8;
    inputs.s_axis_ack_timestamp = scatter.next(widths.timestamp) as u32;
    inputs.s_axis_ack_psn = scatter.next(widths.psn) as u32;
    let mut bits = widths.sack;
    inputs.s_axis_ack_vector = Vector::new(std::array::from_fn(|_| {
        let width = bits.min(64);
        bits -= width;
        if width == 0 { 0 } else { scatter.next(width) }
    }));
    inputs.s_axis_ack_echo = scatter.next(widths.timestamp) as u32;
    inputs.s_axis_ack_hold = scatter.next(16) as u16;
    inputs.s_axis_ack_packets = scatter.next(16) as u16;
    inputs.s_axis_ack_marked = scatter.next(16) as u16;
    inputs.s_axis_ack_hint = scatter.next(12) as u16;
    inputs.s_axis_ack_window_state = scatter.next(4) as u8;
    inputs.s_axis_ack_stream = scatter.next(16) as u16;
    inputs.s_axis_ack_message = scatter.next(24) as u32;
    inputs.s_axis_ack_code = scatter.next(8) as u8;
}
