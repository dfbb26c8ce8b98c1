//! Stimulus of `scheduler`: a few connections at a time with streams that have something to send and run out of it, taken in turn, held back by windows, rates and the driver, and let go again at every moment.

use crate::{
    bins::Bins,
    intake::{EVENTS, Intake},
    stimulus::{Flow, Random, Resets, Spray, Stimulus, random},
};
use metaroce_model::{
    Params,
    port::scheduler::{Inputs, LATENCY, Outputs, SAME_CONNECTION_CLOCKS, op},
    unit::scheduler::Scheduler as Unit,
};
use rand::RngExt;

/// Bins of an operation that tells what there is to send, or takes or brings back a connection.
const FLOW_BINS: [&str; 29] = [
    "UNSENT: the first stream, ready",
    "UNSENT: another stream, queued already",
    "UNSENT: set already",
    "UNSENT: clears the last stream of a queued connection",
    "UNSENT: clears one of several",
    "UNSENT: clears nothing",
    "UNSENT: only the window holds back",
    "UNSENT: only the rate holds back",
    "UNSENT: only the driver holds back",
    "TAKE: the stream after the last one",
    "TAKE: streams passed over",
    "TAKE: round the ring",
    "TAKE: the last stream itself",
    "TAKE: the highest stream",
    "TAKE: all streams have something",
    "TAKE: clears opened",
    "TAKE: nothing is unsent",
    "TAKE: only the window holds back",
    "TAKE: only the rate holds back",
    "TAKE: only the driver holds back",
    "SENT: more is left, ready",
    "SENT: others are left, ready",
    "SENT: nothing is left",
    "SENT: held back meanwhile",
    "BLOCK: closes the window",
    "BLOCK: opened meanwhile, ready",
    "BLOCK: opened meanwhile, nothing is unsent",
    "BLOCK: opened meanwhile, held back",
    "BLOCK: not queued",
];

/// Bins of an operation that holds back or lets go.
const GATE_BINS: [&str; 22] = [
    "OPEN: ready",
    "OPEN: queued",
    "OPEN: opened already",
    "OPEN: nothing is unsent",
    "OPEN: only the rate holds back",
    "OPEN: only the driver holds back",
    "RATE: allows more, ready",
    "RATE: allows more, queued",
    "RATE: allows more, as before",
    "RATE: allows more, the window holds back",
    "RATE: allows no more, queued",
    "RATE: allows no more, as before",
    "START: may send, ready",
    "START: may send, opens the window, ready",
    "START: may send, as before",
    "START: may send, the rate holds back",
    "START: may not send, queued",
    "START: may not send, opens the window",
    "START: may not send, after STOP",
    "STOP: was clear, queued",
    "STOP: was clear, not queued",
    "STOP: was set",
];

/// Moving clocks between two operations on one connection, from acceptance to acceptance, that have a bin.
const ACCEPTED_DISTANCES: usize = 8;
/// Name of their bins.
const ACCEPTED_BIN: &str = "operation accepted {} moving clocks after another of its connection";

/// Moving clocks between two operations on one connection, from issue to issue, that have bins: these to [`FARTHEST`].
const NEAREST: usize = SAME_CONNECTION_CLOCKS;
const FARTHEST: usize = 8;
const DISTANCES: usize = FARTHEST + 1 - NEAREST;
/// Bins of two operations on one connection, for each distance.
const HAZARD_BINS: [&str; 18] = [
    "TAKE that chooses, issued {} moving clocks after what made ready",
    "TAKE that chooses, issued {} moving clocks after another",
    "TAKE that does not choose, issued {} moving clocks after a SENT with nothing left",
    "TAKE that does not choose, issued {} moving clocks after a RATE that allows no more",
    "TAKE that does not choose, issued {} moving clocks after a STOP",
    "SENT that makes ready, issued {} moving clocks after a TAKE that chose",
    "SENT with nothing left, issued {} moving clocks after a TAKE that chose",
    "SENT that makes ready, issued {} moving clocks after an UNSENT",
    "BLOCK that closes the window, issued {} moving clocks after a TAKE that chose",
    "BLOCK that makes ready, issued {} moving clocks after an OPEN",
    "OPEN that makes ready, issued {} moving clocks after a BLOCK",
    "OPEN issued {} moving clocks after a TAKE that chose",
    "UNSENT that makes ready, issued {} moving clocks after a TAKE that did not choose",
    "UNSENT issued {} moving clocks after one of another stream",
    "RATE that makes ready, issued {} moving clocks after one that allows no more",
    "START that makes ready, issued {} moving clocks after a STOP",
    "START that makes ready, issued {} moving clocks after a BLOCK",
    "STOP issued {} moving clocks after another",
];

/// The first of [`EVENTS`] has no bin: few connections cannot fill every place, since two operations on one are too far apart.
const FLOW: usize = EVENTS.len() - 1;
const GATE: usize = FLOW + FLOW_BINS.len();
const ACCEPTED: usize = GATE + GATE_BINS.len();
const HAZARD: usize = ACCEPTED + ACCEPTED_DISTANCES;

/// Connections that can be hot at a time.
const HOT: u32 = 13;

/// Drives the unit.
pub struct Scheduler {
    random: Random,
    valid: Flow,
    ready: Flow,
    resets: Resets,
    connection_mask: u16,
    streams: u32,
    spray: Spray,
    phase: Phase,
    /// Clocks in which nothing new is offered.
    pause: u32,
    connections: Box<[Connection]>,
    intake: Intake<Inputs>,
    bins: Bins,
}

/// One connection, as the unit has it.
#[derive(Clone, Copy, Debug)]
struct Connection {
    unsent: u32,
    last: u32,
    queued: bool,
    opened: bool,
    window_closed: bool,
    rate_closed: bool,
    stopped: bool,
    /// The stream that was taken, and neither sent nor blocked yet.
    taken: Option<u8>,
    /// Moving clock of the last acceptance.
    accepted: usize,
    /// What was issued last, the latest first: as many as can be within [`FARTHEST`].
    recent: [Issued; FARTHEST / NEAREST],
}

/// A connection after reset.
const RESET: Connection = Connection {
    unsent: 0,
    last: 0,
    queued: false,
    opened: false,
    window_closed: false,
    rate_closed: true,
    stopped: true,
    taken: None,
    accepted: 0,
    recent: [Issued {
        moment: 0,
        op: op::UNSENT,
        stream: 0,
        flag: false,
        ready: false,
        taken: false,
        closes: false,
    }; FARTHEST / NEAREST],
};

#[derive(Clone, Copy, Debug)]
struct Issued {
    moment: usize,
    op: u8,
    stream: u8,
    flag: bool,
    /// It made the connection ready.
    ready: bool,
    /// A stream was chosen.
    taken: bool,
    /// It closed the window.
    closes: bool,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A stream has something to send.
    Post,
    /// UNSENT of anything.
    Unsent,
    /// One stream has something to send if none had, or one has no longer.
    Spare,
    /// TAKE of a connection, or SENT or BLOCK of what was taken.
    Next,
    Take,
    /// SENT of anything.
    Sent,
    Block,
    Open,
    /// RATE of anything.
    Rate,
    /// START of anything.
    Start,
    Stop,
    /// RATE or START that lets go.
    Let,
    /// Something begins to hold back; what alone holds back does so once more, or lets go.
    Gate,
}

/// Mixtures of kinds, in parts.
const MIXTURES: [&[(Kind, usize)]; 7] = [
    // Sending at work.
    &[
        (Kind::Post, 8),
        (Kind::Next, 16),
        (Kind::Open, 3),
        (Kind::Rate, 1),
        (Kind::Let, 4),
    ],
    // Windows are often closed.
    &[
        (Kind::Post, 5),
        (Kind::Take, 8),
        (Kind::Block, 8),
        (Kind::Open, 6),
        (Kind::Let, 5),
    ],
    // Little is there to send.
    &[
        (Kind::Spare, 10),
        (Kind::Next, 5),
        (Kind::Take, 8),
        (Kind::Sent, 4),
        (Kind::Let, 5),
    ],
    // Rates and the driver hold back.
    &[
        (Kind::Post, 5),
        (Kind::Take, 8),
        (Kind::Rate, 6),
        (Kind::Start, 5),
        (Kind::Stop, 3),
        (Kind::Let, 5),
    ],
    // What holds back comes and goes.
    &[
        (Kind::Gate, 26),
        (Kind::Next, 3),
        (Kind::Post, 2),
        (Kind::Open, 1),
    ],
    // Connections that may send are taken all the time.
    &[(Kind::Take, 20), (Kind::Post, 8), (Kind::Let, 4)],
    // Anything.
    &[
        (Kind::Unsent, 6),
        (Kind::Take, 5),
        (Kind::Sent, 5),
        (Kind::Block, 3),
        (Kind::Open, 3),
        (Kind::Rate, 3),
        (Kind::Start, 3),
        (Kind::Stop, 2),
        (Kind::Let, 2),
    ],
];

/// Stretch of operations with one mixture.
#[derive(Clone, Copy, Debug)]
struct Phase {
    left: u32,
    /// Longest pause after an operation, in clocks: without any, few connections meet at few distances only.
    longest_pause: u32,
    kinds: [Kind; 32],
}

impl Stimulus<Unit> for Scheduler {
    fn new(params: &Params, seed: u64) -> Self {
        let connections = params.connections;
        let with_distance = |name: &str, distance: usize| name.replace("{}", &distance.to_string());
        let names = [&EVENTS[1..], &FLOW_BINS, &GATE_BINS].concat();
        let accepted = (1..=ACCEPTED_DISTANCES).map(|distance| with_distance(ACCEPTED_BIN, distance));
        let hazards = HAZARD_BINS
            .iter()
            .flat_map(|name| (NEAREST..=FARTHEST).map(move |distance| with_distance(name, distance)));
        let names = names.into_iter().map(String::from).chain(accepted).chain(hazards);
        Self {
            random: random(seed),
            valid: Flow::new(400),
            ready: Flow::new(100),
            resets: Resets::with_clear((20 * connections).max(4000), connections),
            connection_mask: (connections - 1) as u16,
            streams: params.streams,
            spray: Spray::new(connections),
            phase: Phase {
                left: 0,
                longest_pause: 0,
                kinds: [Kind::Unsent; 32],
            },
            pause: 0,
            connections: vec![RESET; connections as usize].into(),
            intake: Intake::new(LATENCY),
            bins: Bins::new(names),
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        let rst = self.resets.next(&mut self.random);
        let ready = outputs.s_axis_op_tready;
        let pauses = self.pause > 0;
        self.pause = self.pause.saturating_sub(1);
        let valid = self.intake.held().is_some() || self.valid.next(&mut self.random) && !pauses;
        let taken = self.ready.next(&mut self.random);
        let result = outputs.m_axis_result_tvalid;
        let [_, events @ ..] = self.intake.events(rst, valid, ready, result, taken);
        self.bins.hit_each(0, events);
        let dice: u64 = self.random.random();
        let garbage = Inputs {
            s_axis_op_op: (dice & 7) as u8,
            s_axis_op_connection: (dice >> 3) as u16 & self.connection_mask,
            s_axis_op_stream: (dice >> 19) as u8 & (self.streams - 1) as u8,
            s_axis_op_flag: dice >> 27 & 1 != 0,
            ..Default::default()
        };
        let fields = if rst {
            self.reset();
            garbage
        } else {
            if let Some(operation) = self.intake.issue(ready) {
                self.execute(&operation);
            }
            // Nothing is accepted: garbage, unless the operation is one of those that are held steadily.
            let steady = dice >> 60 == 0;
            let offered = match self.intake.held() {
                None if valid && (ready || steady) => Some(self.operation(garbage, (dice >> 28) as u32)),
                held => held,
            };
            if self.intake.clock(offered, ready, result && taken) {
                self.count_acceptance(offered.unwrap_or(garbage).s_axis_op_connection);
                self.pause = ((dice >> 52 & 0xff) as u32 * (self.phase.longest_pause + 1)) >> 8;
            }
            offered.unwrap_or(garbage)
        };
        Inputs {
            rst,
            s_axis_op_tvalid: valid,
            m_axis_result_tready: taken,
            ..fields
        }
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl Scheduler {
    fn reset(&mut self) {
        if !self.intake.is_clearing() {
            self.connections.fill(RESET);
        }
        self.intake.reset();
    }

    /// An operation to offer, given random bits; the fields that it does not use stay `garbage`.
    fn operation(&mut self, garbage: Inputs, dice: u32) -> Inputs {
        if self.phase.left == 0 {
            self.change_phase();
        }
        self.phase.left -= 1;
        let index = self.spray.next(dice as u16);
        let connection = &self.connections[usize::from(index)];
        let mut operation = Inputs {
            s_axis_op_connection: index,
            ..garbage
        };
        operation.s_axis_op_op = match self.phase.kinds[(dice >> 16) as usize & 31] {
            Kind::Post => {
                operation.s_axis_op_flag = true;
                op::UNSENT
            }
            Kind::Unsent => op::UNSENT,
            Kind::Spare => {
                operation.s_axis_op_flag = connection.unsent == 0;
                if connection.unsent != 0 {
                    operation.s_axis_op_stream = connection.unsent.trailing_zeros() as u8;
                }
                op::UNSENT
            }
            Kind::Next => match connection.taken {
                None => op::TAKE,
                Some(stream) => {
                    operation.s_axis_op_stream = stream;
                    if dice >> 21 & 3 == 0 { op::BLOCK } else { op::SENT }
                }
            },
            Kind::Take => op::TAKE,
            Kind::Sent => op::SENT,
            Kind::Block => op::BLOCK,
            Kind::Open => op::OPEN,
            Kind::Rate => op::RATE,
            Kind::Start => op::START,
            Kind::Stop => op::STOP,
            Kind::Let => lets(connection, &mut operation),
            Kind::Gate => gates(connection, &mut operation, dice >> 21),
        };
        operation
    }

    fn change_phase(&mut self) {
        let random = &mut self.random;
        let mixture = MIXTURES[random.random_range(0..MIXTURES.len())];
        let mut parts = (mixture.iter()).flat_map(|&(kind, parts)| std::iter::repeat_n(kind, parts));
        self.phase.kinds = std::array::from_fn(|_| parts.next().unwrap_or(Kind::Unsent));
        // The hot connections often stay, so that one mixture finds what another left.
        if self.spray.count() > HOT || random.random_range(0..4) == 0 {
            let most = if random.random() { 8 } else { HOT };
            self.spray.change(random, most);
        }
        self.phase.longest_pause = if random.random() { FARTHEST as u32 } else { 0 };
        self.phase.left = random.random_range(1..=64 * self.spray.count().min(HOT));
    }

    #[inline]
    fn count_acceptance(&mut self, connection: u16) {
        let moment = self.intake.moment();
        let accepted = &mut self.connections[usize::from(connection)].accepted;
        let distance = moment - std::mem::replace(accepted, moment);
        if (1..=ACCEPTED_DISTANCES).contains(&distance) {
            self.bins.hit(ACCEPTED + distance - 1, true);
        }
    }

    /// The operation takes effect.
    #[inline]
    fn execute(&mut self, operation: &Inputs) {
        let index = usize::from(operation.s_axis_op_connection);
        let (streams, flag) = (self.streams, operation.s_axis_op_flag);
        let connection = &mut self.connections[index];
        let before = *connection;
        let bit = 1 << operation.s_axis_op_stream;
        let code = operation.s_axis_op_op;
        let mut taken = false;
        if code == op::UNSENT || code == op::SENT {
            connection.unsent = before.unsent & !bit | if flag { bit } else { 0 };
        }
        if code == op::SENT || code == op::BLOCK {
            (connection.queued, connection.taken) = (false, None);
        }
        match code {
            op::TAKE => {
                taken = before.may_send();
                connection.queued &= taken;
                if taken {
                    let mut stream = before.last;
                    loop {
                        stream = if stream + 1 < streams { stream + 1 } else { 0 };
                        if before.unsent >> stream & 1 != 0 {
                            break;
                        }
                    }
                    (connection.last, connection.opened) = (stream, false);
                    connection.taken = Some(stream as u8);
                }
            }
            op::BLOCK => connection.window_closed |= !before.opened,
            op::OPEN => (connection.window_closed, connection.opened) = (false, true),
            op::RATE => connection.rate_closed = !flag,
            op::START => (connection.stopped, connection.window_closed) = (!flag, false),
            op::STOP => connection.stopped = true,
            _ => (),
        }
        let ready = code != op::TAKE && connection.may_send() && !connection.queued;
        connection.queued |= ready;
        let after = *connection;
        self.count_flow(operation, &before, &after, taken, ready);
        self.count_gate(operation, &before, &after, ready);
        self.count_hazards(
            index,
            Issued {
                moment: self.intake.moment(),
                op: code,
                stream: operation.s_axis_op_stream,
                flag,
                ready,
                taken,
                closes: after.window_closed && !before.window_closed,
            },
        );
    }

    #[inline]
    fn count_flow(
        &mut self,
        operation: &Inputs,
        before: &Connection,
        after: &Connection,
        taken: bool,
        ready: bool,
    ) {
        let is = |code: u8| operation.s_axis_op_op == code;
        let (unsent, take, sent, block) = (is(op::UNSENT), is(op::TAKE), is(op::SENT), is(op::BLOCK));
        let (sets, clears) = (operation.s_axis_op_flag, !operation.s_axis_op_flag);
        let was_set = before.unsent >> operation.s_axis_op_stream & 1 != 0;
        let none_left = after.unsent == 0;
        let held = [after.window_closed, after.rate_closed, after.stopped];
        let only = |one: usize| !none_left && (0..held.len()).all(|gate| held[gate] == (gate == one));
        let held_back = held.contains(&true);
        let step = (after.last + self.streams - before.last) % self.streams;
        self.bins.hit_each(
            FLOW,
            [
                unsent && sets && before.unsent == 0 && ready,
                unsent && sets && before.unsent != 0 && !was_set && before.queued,
                unsent && sets && was_set,
                unsent && clears && was_set && none_left && before.queued,
                unsent && clears && was_set && !none_left,
                unsent && clears && !was_set,
                unsent && sets && only(0),
                unsent && sets && only(1),
                unsent && sets && only(2),
                taken && step == 1,
                taken && step != 1,
                taken && step != 0 && after.last < before.last,
                taken && step == 0,
                taken && after.last == self.streams - 1,
                taken && before.unsent.count_ones() == self.streams,
                taken && before.opened,
                take && none_left,
                take && only(0),
                take && only(1),
                take && only(2),
                sent && sets && ready,
                sent && clears && ready,
                sent && none_left,
                sent && !none_left && held_back,
                block && !before.window_closed && after.window_closed,
                block && before.opened && ready,
                block && before.opened && none_left,
                block && before.opened && !none_left && held_back,
                block && !before.queued,
            ],
        );
    }

    #[inline]
    fn count_gate(&mut self, operation: &Inputs, before: &Connection, after: &Connection, ready: bool) {
        let is = |code: u8| operation.s_axis_op_op == code;
        let (open, rate, start, stop) = (is(op::OPEN), is(op::RATE), is(op::START), is(op::STOP));
        let (allows, forbids) = (operation.s_axis_op_flag, !operation.s_axis_op_flag);
        let waits = after.unsent != 0;
        let queued = before.queued;
        self.bins.hit_each(
            GATE,
            [
                open && ready,
                open && queued,
                open && before.opened,
                open && !waits,
                open && waits && after.rate_closed && !after.stopped,
                open && waits && after.stopped && !after.rate_closed,
                rate && allows && ready,
                rate && allows && queued,
                rate && allows && !before.rate_closed,
                rate && allows && waits && after.window_closed && !after.stopped,
                rate && forbids && queued,
                rate && forbids && before.rate_closed,
                start && allows && ready && !before.window_closed,
                start && allows && ready && before.window_closed,
                start && allows && !before.stopped,
                start && allows && waits && after.rate_closed,
                start && forbids && queued,
                start && forbids && before.window_closed,
                start && forbids && before.stopped && before.recent[0].op == op::STOP,
                stop && !before.stopped && queued,
                stop && !before.stopped && !queued,
                stop && before.stopped,
            ],
        );
    }

    /// Counts what follows on what of one connection.
    #[inline]
    fn count_hazards(&mut self, connection: usize, now: Issued) {
        let is = |code: u8| now.op == code;
        let (unsent, take, sent, block) = (is(op::UNSENT), is(op::TAKE), is(op::SENT), is(op::BLOCK));
        let (open, rate, start, stop) = (is(op::OPEN), is(op::RATE), is(op::START), is(op::STOP));
        for last in self.connections[connection].recent {
            let distance = now.moment - last.moment;
            if !(NEAREST..=FARTHEST).contains(&distance) {
                continue;
            }
            let was = |code: u8| last.op == code;
            let hazards = [
                now.taken && last.ready,
                now.taken && last.taken,
                take && !now.taken && was(op::SENT) && !last.flag,
                take && !now.taken && was(op::RATE) && !last.flag,
                take && !now.taken && was(op::STOP),
                sent && now.ready && last.taken,
                sent && !now.flag && last.taken,
                sent && now.ready && was(op::UNSENT),
                block && now.closes && last.taken,
                block && now.ready && was(op::OPEN),
                open && now.ready && was(op::BLOCK),
                open && last.taken,
                unsent && now.ready && was(op::TAKE) && !last.taken,
                unsent && was(op::UNSENT) && last.stream != now.stream,
                rate && now.ready && was(op::RATE) && !last.flag,
                start && now.ready && was(op::STOP),
                start && now.ready && was(op::BLOCK),
                stop && was(op::STOP),
            ];
            for (hazard, happened) in hazards.into_iter().enumerate() {
                self.bins
                    .hit(HAZARD + hazard * DISTANCES + distance - NEAREST, happened);
            }
        }
        let recent = &mut self.connections[connection].recent;
        recent.rotate_right(1);
        recent[0] = now;
    }
}

/// RATE or START that lets go.
fn lets(connection: &Connection, operation: &mut Inputs) -> u8 {
    operation.s_axis_op_flag = true;
    if connection.stopped { op::START } else { op::RATE }
}

/// Something that begins to hold back, or, once the connection has left the queue for it, does so once more or lets go.
fn gates(connection: &Connection, operation: &mut Inputs, dice: u32) -> u8 {
    let held = (
        connection.window_closed,
        connection.rate_closed,
        connection.stopped,
    );
    if held == (false, false, false) {
        operation.s_axis_op_flag = false;
        return [op::BLOCK, op::RATE, op::RATE, op::STOP][(dice & 3) as usize];
    }
    if connection.queued {
        return op::TAKE;
    }
    match held {
        (true, false, false) => {
            operation.s_axis_op_flag = true;
            [op::BLOCK, op::OPEN, op::START, op::START][(dice & 3) as usize]
        }
        (false, true, false) => op::RATE,
        (false, false, true) => {
            operation.s_axis_op_flag |= dice & 2 != 0;
            [op::STOP, op::START][(dice & 1) as usize]
        }
        _ => lets(connection, operation),
    }
}

impl Connection {
    #[inline]
    fn may_send(&self) -> bool {
        self.unsent != 0 && !self.window_closed && !self.rate_closed && !self.stopped
    }
}
