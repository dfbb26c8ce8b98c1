//! Stimulus of `completion`: messages of both sides and refusals, tables that answer after a while, and an application that does not always take completions.

use crate::{
    answers::Answers,
    bins::Bins,
    stimulus::{Flow, Offer, Random, Resets, Stimulus, random},
};
use metaroce_model::{
    Params,
    port::completion::{Inputs, Outputs, WAITING},
    unit::completion::Completion as Unit,
};
use rand::RngExt;

/// Bins of completions, and of what is told to nobody.
const CQE_BINS: [&str; 19] = [
    "received Write: not told",
    "received Write with immediate",
    "received Send",
    "received Send with immediate",
    "sent Write",
    "sent Write with immediate",
    "sent Send",
    "sent Send with immediate",
    "refusal that stops its connection",
    "refusal of a connection that was stopped before",
    "received after received",
    "received after sent",
    "sent after received",
    "sent after sent",
    "received and sent in turn, six times",
    "refusal between two messages of one side",
    "refusal between messages of both sides",
    "message without bytes",
    "message of most bytes",
];

/// Bins of a clock.
const CLOCK_BINS: [&str; 21] = [
    "received message held back: its COMPLETE has no place",
    "received message held back: too many wait",
    "sent message held back: its RELEASE has no place",
    "sent message held back: too many wait",
    "refusal held back: its STOP has no place",
    "refusal held back: too many wait",
    "a message of both sides and a refusal accepted at once",
    "all three tables answer at once",
    "completion held back",
    "as many received messages as can wait, all complete",
    "as many sent messages as can wait, all released",
    "as many refusals as can wait, all stopped",
    "most COMPLETEs without answer",
    "most RELEASEs without answer",
    "most STOPs without answer",
    "received message held until it is accepted",
    "sent message held until it is accepted",
    "refusal held until it is accepted",
    "reset while completions are offered",
    "reset while answers are awaited",
    "reset while the other side is next",
];

const CLOCK: usize = CQE_BINS.len();

/// Drives the unit.
pub struct Completion {
    random: Random,
    resets: Resets,
    received: Offer,
    sent: Offer,
    error: Offer,
    completed: Answers,
    released: Answers,
    stopped: Answers,
    complete_ready: Flow,
    release_ready: Flow,
    stop_ready: Flow,
    cqe_ready: Flow,
    stream_bits: u32,
    /// Kinds of received messages in this phase, and clocks left of it.
    kinds: [u8; 4],
    left: u32,
    /// The fields of the three input streams of what comes next.
    next: Inputs,
    /// Whether the last completion of a message was of a received one, and of the last two completions, latest first, the side; a refusal has none.
    last: [Option<bool>; 2],
    received_last: bool,
    /// Completions so far that each were of the other side than the one before.
    in_turn: u32,
    /// The outputs of the clock before, if it was not one of reset.
    before: Option<Outputs>,
    bins: Bins,
}

/// Kinds of received messages, a phase each: all, some without an answer to wait for, only such that wait for one.
const KINDS: [[u8; 4]; 4] = [[0, 1, 2, 3], [0, 1, 1, 3], [2, 3, 2, 3], [1, 1, 1, 2]];

impl Stimulus<Unit> for Completion {
    fn new(params: &Params, seed: u64) -> Self {
        Self {
            random: random(seed),
            resets: Resets::new(700),
            received: Offer::new(300),
            sent: Offer::new(300),
            error: Offer::new(300),
            completed: Answers::new(400),
            released: Answers::new(400),
            stopped: Answers::new(400),
            complete_ready: Flow::new(200),
            release_ready: Flow::new(200),
            stop_ready: Flow::new(200),
            cqe_ready: Flow::new(400),
            stream_bits: params.stream_index_bits(),
            kinds: KINDS[0],
            left: 0,
            next: Inputs::default(),
            last: [None; 2],
            received_last: false,
            in_turn: 0,
            before: None,
            bins: Bins::new(CQE_BINS.into_iter().chain(CLOCK_BINS)),
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        if self.left == 0 {
            self.left = self.random.random_range(1..1000);
            self.kinds = KINDS[self.random.random_range(0..KINDS.len())];
        }
        self.left -= 1;
        let held = [self.received.held(), self.sent.held(), self.error.held()];
        let mut inputs = self.garbage();
        inputs.rst = self.resets.next(&mut self.random);
        self.offer_received(&mut inputs, outputs);
        self.offer_sent(&mut inputs, outputs);
        self.offer_error(&mut inputs, outputs);
        inputs.completed_valid = self.completed.next(&mut self.random);
        inputs.released_valid = self.released.next(&mut self.random);
        inputs.stopped_valid = self.stopped.next(&mut self.random);
        inputs.m_axis_complete_tready = self.complete_ready.next(&mut self.random);
        inputs.m_axis_release_tready = self.release_ready.next(&mut self.random);
        inputs.m_axis_stop_tready = self.stop_ready.next(&mut self.random);
        inputs.m_axis_cqe_tready = self.cqe_ready.next(&mut self.random);
        self.count_clock(&inputs, outputs, held);
        if inputs.rst {
            self.reset();
        } else {
            self.count_completion(&inputs, outputs);
            self.clock(&inputs, outputs);
            self.before = Some(*outputs);
        }
        inputs
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl Completion {
    /// Random values that fit in the fields.
    #[inline]
    fn garbage(&mut self) -> Inputs {
        let (a, b, c): (u64, u64, u64) = (self.random.random(), self.random.random(), self.random.random());
        let (d, e): (u64, u64) = (self.random.random(), self.random.random());
        let stream = |bits: u64| (bits & ((1 << self.stream_bits) - 1)) as u16;
        Inputs {
            s_axis_received_stream: stream(a),
            s_axis_received_message: (a >> 16) as u32 & 0xff_ffff,
            s_axis_received_kind: (a >> 40) as u8 & 3,
            s_axis_sent_stream: stream(a >> 44),
            stopped_newly: a >> 63 != 0,
            s_axis_received_length: b as u32,
            s_axis_received_immediate: (b >> 32) as u32,
            s_axis_error_stream: stream(c),
            s_axis_error_message: (c >> 16) as u32 & 0xff_ffff,
            s_axis_error_code: (c >> 40) as u8,
            completed_identifier: d as u32,
            released_identifier: (d >> 32) as u32,
            released_message: e as u32 & 0xff_ffff,
            released_kind: (e >> 24) as u8 & 3,
            released_length: (e >> 32) as u32,
            ..Inputs::default()
        }
    }

    #[inline]
    fn offer_received(&mut self, inputs: &mut Inputs, outputs: &Outputs) {
        let accepts = outputs.s_axis_received_tready && !inputs.rst;
        let is_held = self.received.held();
        let offered = self.received.next(&mut self.random, accepts, true);
        inputs.s_axis_received_tvalid = offered.valid;
        if !offered.real {
            return;
        }
        if !is_held {
            inputs.s_axis_received_kind = self.kinds[usize::from(inputs.s_axis_received_kind)];
            match self.random.random_range(0..16) {
                0 => inputs.s_axis_received_length = 0,
                1 => inputs.s_axis_received_length = u32::MAX,
                _ => {}
            }
            self.next.s_axis_received_stream = inputs.s_axis_received_stream;
            self.next.s_axis_received_message = inputs.s_axis_received_message;
            self.next.s_axis_received_length = inputs.s_axis_received_length;
            self.next.s_axis_received_immediate = inputs.s_axis_received_immediate;
            self.next.s_axis_received_kind = inputs.s_axis_received_kind;
        }
        inputs.s_axis_received_stream = self.next.s_axis_received_stream;
        inputs.s_axis_received_message = self.next.s_axis_received_message;
        inputs.s_axis_received_length = self.next.s_axis_received_length;
        inputs.s_axis_received_immediate = self.next.s_axis_received_immediate;
        inputs.s_axis_received_kind = self.next.s_axis_received_kind;
    }

    #[inline]
    fn offer_sent(&mut self, inputs: &mut Inputs, outputs: &Outputs) {
        let accepts = outputs.s_axis_sent_tready && !inputs.rst;
        let is_held = self.sent.held();
        let offered = self.sent.next(&mut self.random, accepts, true);
        inputs.s_axis_sent_tvalid = offered.valid;
        if !offered.real {
            return;
        }
        if !is_held {
            self.next.s_axis_sent_stream = inputs.s_axis_sent_stream;
        }
        inputs.s_axis_sent_stream = self.next.s_axis_sent_stream;
    }

    #[inline]
    fn offer_error(&mut self, inputs: &mut Inputs, outputs: &Outputs) {
        let accepts = outputs.s_axis_error_tready && !inputs.rst;
        let is_held = self.error.held();
        let offered = self.error.next(&mut self.random, accepts, true);
        inputs.s_axis_error_tvalid = offered.valid;
        if !offered.real {
            return;
        }
        if !is_held {
            self.next.s_axis_error_stream = inputs.s_axis_error_stream;
            self.next.s_axis_error_message = inputs.s_axis_error_message;
            self.next.s_axis_error_code = inputs.s_axis_error_code.max(1);
        }
        inputs.s_axis_error_stream = self.next.s_axis_error_stream;
        inputs.s_axis_error_message = self.next.s_axis_error_message;
        inputs.s_axis_error_code = self.next.s_axis_error_code;
    }

    fn reset(&mut self) {
        self.received.clear();
        self.sent.clear();
        self.error.clear();
        self.completed.reset();
        self.released.reset();
        self.stopped.reset();
        self.last = [None; 2];
        self.received_last = false;
        self.in_turn = 0;
        self.before = None;
    }

    /// The rising edge.
    #[inline]
    fn clock(&mut self, inputs: &Inputs, outputs: &Outputs) {
        self.completed.clock(
            outputs.m_axis_complete_tvalid && inputs.m_axis_complete_tready,
            inputs.completed_valid,
        );
        self.released.clock(
            outputs.m_axis_release_tvalid && inputs.m_axis_release_tready,
            inputs.released_valid,
        );
        self.stopped.clock(
            outputs.m_axis_stop_tvalid && inputs.m_axis_stop_tready,
            inputs.stopped_valid,
        );
    }

    #[inline]
    fn count_completion(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let told = outputs.m_axis_cqe_tvalid && inputs.m_axis_cqe_tready;
        let error = told && outputs.m_axis_cqe_error != 0;
        let received = told && outputs.m_axis_cqe_received;
        let sent = told && !error && !received;
        let kind = outputs.m_axis_cqe_kind;
        let after = |is: bool| !error && self.last[0] == Some(is);
        let around = self.last[0].is_none();
        let before = |is: bool| around && self.last[1] == Some(is);
        if told && !error {
            let turns = self.last[0] == Some(!received);
            self.in_turn = if turns { self.in_turn + 1 } else { 0 };
        }
        self.bins.hit_each(
            0,
            [
                inputs.s_axis_received_tvalid
                    && outputs.s_axis_received_tready
                    && inputs.s_axis_received_kind == 0,
                received && kind == 1,
                received && kind == 2,
                received && kind == 3,
                sent && kind == 0,
                sent && kind == 1,
                sent && kind == 2,
                sent && kind == 3,
                error,
                inputs.stopped_valid && !inputs.stopped_newly,
                received && after(true),
                received && after(false),
                sent && after(true),
                sent && after(false),
                told && !error && self.in_turn >= 6,
                (received && before(true)) || (sent && before(false)),
                (received && before(false)) || (sent && before(true)),
                received && outputs.m_axis_cqe_length == 0,
                received && outputs.m_axis_cqe_length == u32::MAX,
            ],
        );
        if told {
            let side = (!error).then_some(received);
            self.last = [side, self.last[0]];
            self.received_last = side.unwrap_or(self.received_last);
        }
    }

    #[inline]
    fn count_clock(&mut self, inputs: &Inputs, outputs: &Outputs, held: [bool; 3]) {
        let runs = !inputs.rst;
        let received_waits = runs && inputs.s_axis_received_tvalid && !outputs.s_axis_received_tready;
        let sent_waits = runs && inputs.s_axis_sent_tvalid && !outputs.s_axis_sent_tready;
        let error_waits = runs && inputs.s_axis_error_tvalid && !outputs.s_axis_error_tready;
        let complete_waits = outputs.m_axis_complete_tvalid && !inputs.m_axis_complete_tready;
        let release_waits = outputs.m_axis_release_tvalid && !inputs.m_axis_release_tready;
        let stop_waits = outputs.m_axis_stop_tvalid && !inputs.m_axis_stop_tready;
        let cqe_waits = outputs.m_axis_cqe_tvalid && !inputs.m_axis_cqe_tready;
        // What stayed in its register though its operation had room, stayed because the queue of those that wait was full.
        let stayed = |of: fn(&Outputs) -> bool| self.before.as_ref().is_some_and(of);
        let most_received = received_waits
            && stayed(|before| !before.s_axis_received_tready && !before.m_axis_complete_tvalid);
        let most_sent =
            sent_waits && stayed(|before| !before.s_axis_sent_tready && !before.m_axis_release_tvalid);
        let most_errors =
            error_waits && stayed(|before| !before.s_axis_error_tready && !before.m_axis_stop_tvalid);
        // And the queue is still full if nothing was delivered.
        let cqe_stays = cqe_waits && stayed(|before| before.m_axis_cqe_tvalid);
        let [completes, releases, stops] =
            [&self.completed, &self.released, &self.stopped].map(Answers::waiting);
        let most = WAITING as u32;
        self.bins.hit_each(
            CLOCK,
            [
                received_waits && complete_waits,
                most_received,
                sent_waits && release_waits,
                most_sent,
                error_waits && stop_waits,
                most_errors,
                runs && inputs.s_axis_received_tvalid
                    && outputs.s_axis_received_tready
                    && inputs.s_axis_sent_tvalid
                    && outputs.s_axis_sent_tready
                    && inputs.s_axis_error_tvalid
                    && outputs.s_axis_error_tready,
                runs && inputs.completed_valid && inputs.released_valid && inputs.stopped_valid,
                cqe_waits,
                most_received && completes == 0 && cqe_stays,
                most_sent && releases == 0 && cqe_stays,
                most_errors && stops == 0 && cqe_stays,
                completes == most,
                releases == most,
                stops == most,
                runs && held[0] && outputs.s_axis_received_tready,
                runs && held[1] && outputs.s_axis_sent_tready,
                runs && held[2] && outputs.s_axis_error_tready,
                inputs.rst && outputs.m_axis_cqe_tvalid,
                inputs.rst && completes > 0 && releases > 0 && stops > 0,
                inputs.rst && self.received_last,
            ],
        );
    }
}
