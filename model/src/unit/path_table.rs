//! Model of `path_table`. Contract: [`crate::port::path_table`].
//!
//! An operation takes effect when it issues; its result then travels through the pipeline.

use super::Unit;
use crate::{
    Params,
    pipeline::OperationPipeline,
    port::path_table::{
        Inputs, LATENCY, MAX_BACKOFF, Outputs, SAME_PATH_CLOCKS, SELECTIONS_PER_TURN, UTILISATION_EPOCH_BITS,
        WINDOW_FRACTION_BITS, op, state,
    },
    serial::Serial,
};

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct PathTable {
    limits: Limits,
    /// log2 of the paths of a connection.
    path_bits: u32,
    /// The context of each path, by its index among all paths.
    paths: Box<[Path]>,
    connections: Box<[Connection]>,
    operations: OperationPipeline<Inputs, Outputs, SAME_PATH_CLOCKS, { LATENCY - 1 }>,
}

/// What the profile makes of the widths.
#[derive(Clone, Copy, Debug)]
struct Limits {
    in_flight: u16,
    /// Timeout before the first sample, in ticks and without back-off.
    first_timeout: u64,
    /// Largest timeout in ticks.
    timeout: u64,
    /// Numbers of the epochs of utilisation.
    epochs: Serial,
}

/// Context of one path.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    plane: u8,
    state: u8,
    source_port: u16,
    window: u16,
    in_flight: u16,
    round_trip: RoundTrip,
    backoff: u8,
    packets: u16,
    marked: u16,
    utilisation: u16,
    /// The epoch in which `utilisation` was halved last.
    epoch: u32,
    last_progress: u32,
}

/// The estimator of RFC 6298, section 2, in integers.
#[derive(Clone, Copy, Debug, Default)]
struct RoundTrip {
    /// There was a sample.
    valid: bool,
    /// 8 x SRTT in ticks.
    smoothed8: u32,
    /// 4 x RTTVAR in ticks.
    variance4: u32,
}

/// What selection knows of a connection.
#[derive(Clone, Copy, Debug, Default)]
struct Connection {
    /// Bit i: path i is eligible.
    eligible: u32,
    /// The path chosen last.
    last: u8,
    /// How often it was chosen in this turn; 0 when the turn is over.
    chosen: u8,
}

impl Unit for PathTable {
    const NAME: &'static str = "path_table";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        let total_paths = params.total_paths();
        Self {
            limits: Limits {
                in_flight: (1 << params.window_bits) - 1,
                first_timeout: (1 << params.rtt_bits) - 1,
                timeout: (1 << (params.timestamp_bits - 1)) - 1,
                epochs: Serial::new(params.timestamp_bits - UTILISATION_EPOCH_BITS),
            },
            path_bits: params.path_bits(),
            paths: vec![Path::default(); total_paths as usize].into(),
            connections: vec![Connection::default(); params.connections as usize].into(),
            operations: OperationPipeline::new(total_paths),
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        Outputs {
            s_axis_op_tready: self.operations.ready(),
            ..self.operations.output().copied().unwrap_or_default()
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            if self.operations.reset() {
                self.paths.fill(Path::default());
                self.connections.fill(Connection::default());
            }
            return;
        }
        let operation = self.operations.issue();
        let result = operation.map(|operation| self.operate(&operation));
        let offered = inputs.s_axis_op_tvalid.then(|| {
            let keeps_distance = inputs.s_axis_op_op != op::SELECT;
            (keeps_distance.then_some(inputs.s_axis_op_path), *inputs)
        });
        self.operations
            .clock(result, offered, inputs.m_axis_result_tready);
    }

    #[inline]
    fn rests(&self) -> bool {
        self.operations.rests()
    }
}

impl PathTable {
    /// Nothing of the past is left that an idle NIC must not have.
    pub(super) fn is_at_rest(&self) -> bool {
        self.paths.iter().all(|path| path.in_flight == 0)
    }

    /// An operation that issues: changes the contexts and gives the result.
    #[inline]
    fn operate(&mut self, operation: &Inputs) -> Outputs {
        let index = operation.s_axis_op_path;
        let connection = &mut self.connections[usize::from(index >> self.path_bits)];
        let mut result = Outputs {
            m_axis_result_tvalid: true,
            m_axis_result_op: operation.s_axis_op_op,
            m_axis_result_path: index,
            ..Default::default()
        };
        if operation.s_axis_op_op == op::SELECT {
            if let Some(chosen) = connection.select(self.path_bits) {
                let chosen = index >> self.path_bits << self.path_bits | u16::from(chosen);
                let path = &self.paths[usize::from(chosen)];
                result.m_axis_result_path = chosen;
                result.m_axis_result_found = true;
                result.m_axis_result_plane = path.plane;
                result.m_axis_result_source_port = path.source_port;
            }
        } else {
            let path = &mut self.paths[usize::from(index)];
            path.operate(operation, &self.limits);
            let place = index & ((1 << self.path_bits) - 1);
            connection.eligible =
                connection.eligible & !(1 << place) | u32::from(path.is_eligible()) << place;
            path.report(&mut result, &self.limits);
        }
        result
    }
}

impl Connection {
    /// Chooses the next path, round robin with some selections a turn; the connection has 2^`path_bits` paths.
    #[inline]
    fn select(&mut self, path_bits: u32) -> Option<u8> {
        if self.eligible == 0 {
            return None;
        }
        let turn_goes_on = 0 < self.chosen && u32::from(self.chosen) < SELECTIONS_PER_TURN;
        if turn_goes_on && self.eligible >> self.last & 1 != 0 {
            self.chosen += 1;
        } else {
            // The ring written out twice: from the path after the last one, the first eligible path is the lowest bit.
            let ring = u64::from(self.eligible) << (1 << path_bits) | u64::from(self.eligible);
            let from = self.last + 1;
            self.last = (from + (ring >> from).trailing_zeros() as u8) & ((1 << path_bits) - 1);
            self.chosen = 1;
        }
        if u32::from(self.chosen) == SELECTIONS_PER_TURN {
            self.chosen = 0;
        }
        Some(self.last)
    }
}

impl Path {
    /// Any operation but SELECT.
    #[inline]
    fn operate(&mut self, operation: &Inputs, limits: &Limits) {
        let now = operation.s_axis_op_now;
        self.decay(now, limits.epochs);
        match operation.s_axis_op_op {
            op::CONFIGURE => {
                if operation.s_axis_op_clear {
                    *self = Self {
                        epoch: self.epoch,
                        last_progress: now,
                        ..Self::default()
                    };
                }
                self.plane = operation.s_axis_op_plane;
                self.source_port = operation.s_axis_op_source_port;
                self.state = operation.s_axis_op_state;
                self.window = operation.s_axis_op_window;
            }
            op::SEND => {
                if self.in_flight == 0 {
                    self.last_progress = operation.s_axis_op_now;
                }
                self.in_flight = limits.in_flight.min(self.in_flight + 1);
                self.utilisation = self.utilisation.saturating_add(1);
            }
            op::ACKNOWLEDGE => {
                let acknowledged = operation.s_axis_op_acknowledged;
                self.in_flight = self
                    .in_flight
                    .saturating_sub(acknowledged + operation.s_axis_op_lost);
                self.packets = self.packets.wrapping_add(acknowledged);
                self.marked = self.marked.wrapping_add(operation.s_axis_op_marked);
                if operation.s_axis_op_rtt_valid {
                    self.round_trip.sample(operation.s_axis_op_rtt);
                }
                if acknowledged > 0 {
                    self.last_progress = now;
                    self.backoff = 0;
                    if self.state == state::SUSPECT {
                        self.state = state::UP;
                    }
                }
            }
            op::TIMEOUT => {
                self.in_flight = 0;
                self.window = 1 << WINDOW_FRACTION_BITS;
                self.backoff = MAX_BACKOFF.min(self.backoff + 1);
                if self.state == state::UP {
                    self.state = state::SUSPECT;
                }
            }
            _ => {}
        }
    }

    /// Halves the utilisation once for each epoch that began since the last time.
    #[inline]
    fn decay(&mut self, now: u32, epochs: Serial) {
        let epoch = now >> UTILISATION_EPOCH_BITS;
        let halvings = epochs.distance(self.epoch, epoch);
        self.utilisation = self.utilisation.checked_shr(halvings).unwrap_or(0);
        self.epoch = epoch;
    }

    #[inline]
    fn is_eligible(&self) -> bool {
        self.state == state::UP
            && (self.in_flight == 0 || self.in_flight < self.window >> WINDOW_FRACTION_BITS)
    }

    /// Writes everything that is kept of the path to `result`.
    #[inline]
    fn report(&self, result: &mut Outputs, limits: &Limits) {
        result.m_axis_result_plane = self.plane;
        result.m_axis_result_source_port = self.source_port;
        result.m_axis_result_state = self.state;
        result.m_axis_result_window = self.window;
        result.m_axis_result_in_flight = self.in_flight;
        result.m_axis_result_rtt_valid = self.round_trip.valid;
        result.m_axis_result_smoothed_rtt = self.round_trip.smoothed();
        result.m_axis_result_rtt_variance = self.round_trip.variance4 >> 2;
        result.m_axis_result_timeout = self.timeout(limits);
        result.m_axis_result_backoff = self.backoff;
        result.m_axis_result_packets = self.packets;
        result.m_axis_result_marked = self.marked;
        result.m_axis_result_utilisation = self.utilisation;
        result.m_axis_result_last_progress = self.last_progress;
    }

    /// Retransmission timeout in ticks (RFC 6298, 2.3 and 5.5; the clock's granularity is one tick).
    #[inline]
    fn timeout(&self, limits: &Limits) -> u32 {
        let ticks = if self.round_trip.valid {
            u64::from(self.round_trip.smoothed()) + u64::from(self.round_trip.variance4.max(1))
        } else {
            limits.first_timeout
        };
        (ticks << self.backoff).min(limits.timeout) as u32
    }
}

impl RoundTrip {
    /// SRTT in ticks.
    #[inline]
    fn smoothed(&self) -> u32 {
        self.smoothed8 >> 3
    }

    /// Takes a sample in ticks.
    #[inline]
    fn sample(&mut self, rtt: u32) {
        if self.valid {
            let smoothed = self.smoothed();
            self.smoothed8 = self.smoothed8 - smoothed + rtt;
            self.variance4 = self.variance4 - (self.variance4 >> 2) + rtt.abs_diff(smoothed);
        } else {
            *self = Self {
                valid: true,
                smoothed8: 8 * rtt,
                variance4: 2 * rtt,
            };
        }
    }
}
