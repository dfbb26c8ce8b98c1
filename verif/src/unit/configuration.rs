//! Stimulus of `configuration`: all commands or a few of them in turn, while some of the tables take what they are given at once, some late and some not for long.
//!
//! The unit stands still until all operations of a command are taken, so most phases have few slow tables: with all of them slow, commands would hardly ever follow each other at once.

use crate::{
    bins::Bins,
    stimulus::{Flow, Offer, Random, Resets, Stimulus, low_bits, random},
};
use metaroce_model::{
    Params,
    port::{
        configuration::{Inputs, Outputs, command},
        path_table::WINDOW_FRACTION_BITS,
        rate_limiter::RATE_BITS,
    },
    unit::configuration::Configuration as Unit,
};
use rand::RngExt;

/// Output streams, in the order of the ports.
const STREAMS: [&str; 13] = [
    "connection",
    "key",
    "path",
    "sack_tx",
    "sack_rx",
    "ack",
    "retirement",
    "request",
    "sent",
    "received",
    "receive",
    "rate",
    "schedule",
];

/// Commands by their codes.
const COMMANDS: [&str; 9] = [
    "LOCAL", "CONNECT", "REMOTE", "REGION", "PATH", "ROUTE", "STREAM", "RATE", "START",
];

/// Bit k: the command puts an operation into stream k.
const PUTS: [u16; COMMANDS.len()] = [
    1 << 0,
    1 << 0,
    1 << 0,
    1 << 1,
    0b111_1100,
    1 << 2,
    0b111_1000_0000,
    1 << 11,
    1 << 12,
];

/// Codes of a command.
const CODES: u8 = 16;

/// Bins of each command.
const COMMAND_BINS: [&str; 6] = [
    "{}: accepted",
    "{}: held until it is accepted",
    "{}: again as soon as there is room: in the second clock after it",
    "{}: numbers and addresses zero",
    "{}: numbers and addresses all ones",
    "{}: in the first clock after a reset",
];

/// Bins of each output stream.
const STREAM_BINS: [&str; 5] = [
    "{}: held back",
    "{}: it alone holds a command back",
    "{}: taken while a command waits",
    "{}: room again, and a command accepted at once",
    "{}: reset while an operation is held",
];

/// Bins of a clock.
const CLOCK_BINS: [&str; 14] = [
    "code without a command",
    "code without a command held until it is accepted",
    "code without a command, then a command in the next clock",
    "all five operations of a PATH offered together",
    "operations of a PATH taken in different clocks",
    "all four operations of a STREAM offered together",
    "operations of a STREAM taken in different clocks",
    "every queue is empty",
    "LOCAL, then another command as soon as there is room",
    "LOCAL in vain: the unit has no room",
    "PATH and ROUTE of one path in turn as soon as there is room",
    "index beyond the connections",
    "reset while local_write is high",
    "reset in the clock of a LOCAL",
];

const STREAM: usize = COMMANDS.len() * COMMAND_BINS.len();
const CLOCK: usize = STREAM + STREAMS.len() * STREAM_BINS.len();

/// Drives the unit.
pub struct Configuration {
    random: Random,
    resets: Resets,
    offer: Offer,
    ready: [Flow; STREAMS.len()],
    /// The same for all slow tables together.
    all_ready: Flow,
    /// Widths of the inputs that a profile decides.
    widths: Widths,
    phase: Phase,
    /// The command that was offered and not accepted.
    held: Option<Inputs>,
    /// The commands accepted in the clock before and in the one before that.
    last: [Option<Inputs>; 2],
    after_reset: bool,
    /// The streams that offered an operation in the clock before.
    was_full: u16,
    bins: Bins,
}

#[derive(Clone, Copy, Debug)]
struct Widths {
    connection: u32,
    plane: u32,
    window: u32,
    burst: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Phase {
    left: u32,
    /// Codes to choose from.
    codes: [u8; 4],
    /// Any code, not only those.
    any: bool,
    /// The index does not change.
    index: Option<u16>,
    /// Bit k: stream k is not always taken at once.
    slow: u16,
    /// The slow ones are taken in the same clocks.
    together: bool,
}

impl Stimulus<Unit> for Configuration {
    fn new(params: &Params, seed: u64) -> Self {
        let each = |bins: &[&str], names: &[&str]| -> Vec<String> {
            (names.iter())
                .flat_map(|name| bins.iter().map(|bin| bin.replace("{}", name)))
                .collect()
        };
        let names = [
            each(&COMMAND_BINS, &COMMANDS),
            each(&STREAM_BINS, &STREAMS),
            CLOCK_BINS.map(String::from).into(),
        ];
        Self {
            random: random(seed),
            resets: Resets::new(150),
            offer: Offer::new(200),
            ready: std::array::from_fn(|_| Flow::new(60)),
            all_ready: Flow::new(60),
            widths: Widths {
                connection: params.connection_bits(),
                plane: params.plane_bits(),
                window: params.window_bits + WINDOW_FRACTION_BITS,
                burst: params.burst_bits,
            },
            phase: Phase::default(),
            held: None,
            last: [None; 2],
            after_reset: false,
            was_full: 0,
            bins: Bins::new(names.concat()),
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        if self.phase.left == 0 {
            self.change_phase();
        }
        self.phase.left -= 1;
        let rst = self.resets.next(&mut self.random);
        let accepts = outputs.s_axis_command_tready && !rst;
        let was_held = self.offer.held();
        let offered = self.offer.next(&mut self.random, accepts, true);
        let mut inputs = if offered.real {
            let command = self.held.take().unwrap_or_else(|| self.command());
            self.held = self.offer.held().then_some(command);
            command
        } else {
            self.garbage()
        };
        inputs.rst = rst;
        inputs.s_axis_command_tvalid = offered.valid;
        self.back_pressure(&mut inputs);
        let accepted = accepts && offered.valid;
        self.count(&inputs, outputs, accepted, was_held);
        self.clock(&inputs, outputs, accepted);
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl Configuration {
    fn change_phase(&mut self) {
        let random = &mut self.random;
        self.phase = Phase {
            left: random.random_range(1..400),
            codes: std::array::from_fn(|_| random.random_range(0..COMMANDS.len()) as u8),
            any: random.random(),
            index: random.random::<bool>().then(|| random.random()),
            // None, a few, or all.
            slow: match random.random_range(0..8) {
                0 => 0,
                1 | 2 => u16::MAX,
                3 | 4 => 1 << random.random_range(0..STREAMS.len()),
                _ => random.random::<u16>() & random.random::<u16>() & random.random::<u16>(),
            },
            together: random.random(),
        };
        let longest = [8, 60, 200][random.random_range(0..3)];
        self.ready = std::array::from_fn(|_| Flow::new(longest));
        self.all_ready = Flow::new(longest);
    }

    /// Random values that fit in the fields of a command; sometimes all zero, or all ones.
    #[inline]
    fn garbage(&mut self) -> Inputs {
        let random = &mut self.random;
        let words: [u64; 6] = match random.random_range(0..16) {
            0 => [0; 6],
            1 => [u64::MAX; 6],
            _ => random.random(),
        };
        let [a, b, c, d, e, f] = words;
        let mask = |value: u64, bits: u32| value & low_bits(bits);
        Inputs {
            s_axis_command_command: mask(a, 4) as u8,
            s_axis_command_index: (a >> 8) as u16,
            s_axis_command_plane: mask(a >> 24, self.widths.plane) as u8,
            s_axis_command_flag: a >> 63 != 0,
            s_axis_command_domain: (a >> 32) as u8,
            s_axis_command_dscp: mask(a >> 40, 6) as u8,
            s_axis_command_state: mask(a >> 48, 2) as u8,
            s_axis_command_first: mask(b, 24) as u32,
            s_axis_command_second: mask(b >> 32, 24) as u32,
            s_axis_command_third: mask(c, 24) as u32,
            s_axis_command_fourth: mask(c >> 32, 24) as u32,
            s_axis_command_mac: mask(d, 48),
            s_axis_command_source_port: (d >> 48) as u16,
            s_axis_command_address: e,
            s_axis_command_key: f as u32,
            s_axis_command_window: mask(f >> 32, self.widths.window) as u16,
            s_axis_command_rate: mask(f >> 48, RATE_BITS) as u16,
            s_axis_command_burst: mask(b ^ c.rotate_left(7) ^ f, self.widths.burst) as u32,
            ..Inputs::default()
        }
    }

    /// A command of the phase.
    #[inline]
    fn command(&mut self) -> Inputs {
        let fields = self.garbage();
        let chosen = self.random.random::<u8>();
        Inputs {
            s_axis_command_command: if self.phase.any {
                chosen % CODES
            } else {
                self.phase.codes[usize::from(chosen % 4)]
            },
            s_axis_command_index: self.phase.index.unwrap_or(fields.s_axis_command_index),
            ..fields
        }
    }

    #[inline]
    fn back_pressure(&mut self, inputs: &mut Inputs) {
        let mut ready = [self.all_ready.next(&mut self.random); STREAMS.len()];
        for (number, (ready, flow)) in ready.iter_mut().zip(&mut self.ready).enumerate() {
            if self.phase.slow >> number & 1 == 0 {
                *ready = true;
            } else if !self.phase.together {
                *ready = flow.next(&mut self.random);
            }
        }
        [
            inputs.m_axis_connection_tready,
            inputs.m_axis_key_tready,
            inputs.m_axis_path_tready,
            inputs.m_axis_sack_tx_tready,
            inputs.m_axis_sack_rx_tready,
            inputs.m_axis_ack_tready,
            inputs.m_axis_retirement_tready,
            inputs.m_axis_request_tready,
            inputs.m_axis_sent_tready,
            inputs.m_axis_received_tready,
            inputs.m_axis_receive_tready,
            inputs.m_axis_rate_tready,
            inputs.m_axis_schedule_tready,
        ] = ready;
    }

    /// The rising edge.
    #[inline]
    fn clock(&mut self, inputs: &Inputs, outputs: &Outputs, accepted: bool) {
        self.after_reset = inputs.rst;
        if inputs.rst {
            self.offer.clear();
            self.held = None;
            self.last = [None; 2];
            self.was_full = 0;
        } else {
            self.last = [accepted.then_some(*inputs), self.last[0]];
            self.was_full = offered(outputs);
        }
    }

    #[inline]
    fn count(&mut self, inputs: &Inputs, outputs: &Outputs, accepted: bool, was_held: bool) {
        let rst = inputs.rst;
        let code = usize::from(inputs.s_axis_command_command);
        let is = |code: u8| inputs.s_axis_command_command == code;
        let [before, last] = self.last.map(|last| last.map(|last| last.s_axis_command_command));
        if accepted && code < COMMANDS.len() {
            let fields = [
                inputs.s_axis_command_address,
                inputs.s_axis_command_mac,
                inputs.s_axis_command_first.into(),
                inputs.s_axis_command_second.into(),
                inputs.s_axis_command_third.into(),
                inputs.s_axis_command_fourth.into(),
            ];
            let widths = [64, 48, 24, 24, 24, 24];
            self.bins.hit_each(
                code * COMMAND_BINS.len(),
                [
                    true,
                    was_held,
                    last == Some(inputs.s_axis_command_command),
                    fields == [0; 6],
                    fields == widths.map(low_bits),
                    self.after_reset,
                ],
            );
        }
        // A stream offers an operation when its register is full.
        let (offered, ready) = (offered(outputs), ready(inputs));
        let waits = inputs.s_axis_command_tvalid && !outputs.s_axis_command_tready && !rst;
        let mut left = offered | self.was_full;
        while left != 0 {
            let number = left.trailing_zeros();
            left &= left - 1;
            let bit = 1 << number;
            let offers = offered & bit != 0;
            self.bins.hit_each(
                STREAM + number as usize * STREAM_BINS.len(),
                [
                    offers && ready & bit == 0,
                    waits && offered == bit,
                    waits && offers && ready & bit != 0,
                    self.was_full & bit != 0 && accepted,
                    rst && offers,
                ],
            );
        }
        let offers = |operations: u16| offered & operations == operations;
        let torn = |operations: u16| offered & operations != 0 && !offers(operations);
        let [path, stream] = [command::PATH, command::STREAM].map(|code| PUTS[usize::from(code)]);
        let same_index =
            (self.last[1]).is_some_and(|last| last.s_axis_command_index == inputs.s_axis_command_index);
        let turns = (is(command::PATH) && last == Some(command::ROUTE))
            || (is(command::ROUTE) && last == Some(command::PATH));
        let of_connection = [command::CONNECT, command::REMOTE, command::RATE, command::START];
        self.bins.hit_each(
            CLOCK,
            [
                accepted && code >= COMMANDS.len(),
                accepted && code >= COMMANDS.len() && was_held,
                accepted && code < COMMANDS.len() && before.is_some(),
                offers(path),
                // ROUTE leaves only one of them, in `path`.
                torn(path & !PUTS[usize::from(command::ROUTE)]),
                offers(stream),
                torn(stream),
                offered == 0 && !rst,
                accepted && last == Some(command::LOCAL) && !is(command::LOCAL),
                waits && is(command::LOCAL),
                accepted && turns && same_index,
                accepted
                    && of_connection.contains(&inputs.s_axis_command_command)
                    && inputs.s_axis_command_index >> self.widths.connection != 0,
                rst && outputs.local_write,
                rst && inputs.s_axis_command_tvalid && is(command::LOCAL),
            ],
        );
    }
}

#[inline]
fn bits(streams: [bool; STREAMS.len()]) -> u16 {
    (streams.iter().rev()).fold(0, |set, &bit| set << 1 | u16::from(bit))
}

/// Bit k: stream k offers an operation.
#[inline]
fn offered(outputs: &Outputs) -> u16 {
    bits([
        outputs.m_axis_connection_tvalid,
        outputs.m_axis_key_tvalid,
        outputs.m_axis_path_tvalid,
        outputs.m_axis_sack_tx_tvalid,
        outputs.m_axis_sack_rx_tvalid,
        outputs.m_axis_ack_tvalid,
        outputs.m_axis_retirement_tvalid,
        outputs.m_axis_request_tvalid,
        outputs.m_axis_sent_tvalid,
        outputs.m_axis_received_tvalid,
        outputs.m_axis_receive_tvalid,
        outputs.m_axis_rate_tvalid,
        outputs.m_axis_schedule_tvalid,
    ])
}

/// Bit k: stream k is taken.
#[inline]
fn ready(inputs: &Inputs) -> u16 {
    bits([
        inputs.m_axis_connection_tready,
        inputs.m_axis_key_tready,
        inputs.m_axis_path_tready,
        inputs.m_axis_sack_tx_tready,
        inputs.m_axis_sack_rx_tready,
        inputs.m_axis_ack_tready,
        inputs.m_axis_retirement_tready,
        inputs.m_axis_request_tready,
        inputs.m_axis_sent_tready,
        inputs.m_axis_received_tready,
        inputs.m_axis_receive_tready,
        inputs.m_axis_rate_tready,
        inputs.m_axis_schedule_tready,
    ])
}
