//! Model of `timer`. Contract: [`crate::port::timer`].

use super::Unit;
use crate::{
    Params,
    pipeline::Queue,
    port::{
        path_table::op,
        timer::{Inputs, MAX_PROBES, Outputs, STEP_CLOCKS},
    },
    serial::Serial,
};

/// Results of READ that may be under way.
const READS: usize = 4;
/// Clocks for which a result is the head before it is judged.
const JUDGE_CLOCKS: u32 = 4;

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct Timer {
    timestamps: Serial,
    /// Largest time that a timer can wait for.
    longest: u64,
    probes: Box<[u8]>,
    /// READ, or TIMEOUT, of a path at a time.
    path: Queue<(u8, u16, u32)>,
    sack: Queue<(u16, u32)>,
    probe: Queue<u16>,
    ack: Queue<(u16, u32)>,
    read: Queue<Read>,
    /// Clocks that the head of `read` has been it, at most [`JUDGE_CLOCKS`].
    headed: u32,
    /// The time one clock ago and two clocks ago.
    earlier: [u32; 2],
    index: u16,
    wait: u32,
    reads: usize,
    clearing: u32,
}

/// What `path_table` gave.
#[derive(Clone, Copy, Debug)]
struct Read {
    path: u16,
    in_flight: u16,
    rtt_valid: bool,
    smoothed_rtt: u32,
    timeout: u32,
    backoff: u8,
    last_progress: u32,
}

/// What is to be done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judgement {
    Nothing,
    Progress,
    Probe,
    Timeout,
}

impl Unit for Timer {
    const NAME: &'static str = "timer";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        let paths = params.total_paths();
        Self {
            timestamps: Serial::new(params.timestamp_bits),
            longest: (1 << (params.timestamp_bits - 1)) - 1,
            probes: vec![0; paths as usize].into(),
            path: Queue::new(2),
            sack: Queue::new(2),
            probe: Queue::new(2),
            ack: Queue::new(2),
            read: Queue::new(READS),
            headed: 0,
            earlier: [0; 2],
            index: 0,
            wait: 0,
            reads: 0,
            clearing: paths,
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        let (path_op, path, path_now) = self.path.head().copied().unwrap_or_default();
        let (sack_path, sack_now) = self.sack.head().copied().unwrap_or_default();
        let (ack_path, ack_now) = self.ack.head().copied().unwrap_or_default();
        Outputs {
            m_axis_path_tvalid: !self.path.is_empty(),
            m_axis_path_op: path_op,
            m_axis_path_path: path,
            m_axis_path_now: path_now,
            m_axis_sack_tvalid: !self.sack.is_empty(),
            m_axis_sack_path: sack_path,
            m_axis_sack_now: sack_now,
            m_axis_probe_tvalid: !self.probe.is_empty(),
            m_axis_probe_path: self.probe.head().copied().unwrap_or_default(),
            m_axis_ack_tvalid: !self.ack.is_empty(),
            m_axis_ack_path: ack_path,
            m_axis_ack_now: ack_now,
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            self.reset();
            return;
        }
        let judges = self.headed >= JUDGE_CLOCKS
            && self.path.has_room()
            && self.sack.has_room()
            && self.probe.has_room();
        let judged = if judges { self.read.head() } else { None };
        let judged = judged.map(|read| (read.path, self.judge(read, inputs)));
        let times_out = matches!(judged, Some((_, Judgement::Timeout)));
        let steps = self.clearing == 0
            && self.wait == 0
            && self.path.has_room()
            && self.ack.has_room()
            && !times_out
            && self.reads < READS;

        self.headed = if self.read.is_empty() || judged.is_some() {
            0
        } else {
            (self.headed + 1).min(JUDGE_CLOCKS)
        };
        if inputs.m_axis_path_tready {
            self.path.take();
        }
        if inputs.m_axis_sack_tready {
            self.sack.take();
        }
        if inputs.m_axis_probe_tready {
            self.probe.take();
        }
        if inputs.m_axis_ack_tready {
            self.ack.take();
        }
        if let Some((path, judgement)) = judged {
            self.read.take();
            self.reads -= 1;
            self.act(path, judgement, inputs.now);
        }
        self.wait = self.wait.saturating_sub(1);
        if steps {
            self.path.put((op::READ, self.index, inputs.now));
            self.ack.put((self.index, inputs.now));
            self.index = self.index.wrapping_add(1) & (self.probes.len() - 1) as u16;
            self.wait = STEP_CLOCKS - 1;
            self.reads += 1;
        }
        self.clearing = self.clearing.saturating_sub(1);
        self.earlier = [inputs.now, self.earlier[0]];
        if inputs.read_valid {
            self.read.put(Read {
                path: inputs.read_path,
                in_flight: inputs.read_in_flight,
                rtt_valid: inputs.read_rtt_valid,
                smoothed_rtt: inputs.read_smoothed_rtt,
                timeout: inputs.read_timeout,
                backoff: inputs.read_backoff,
                last_progress: inputs.read_last_progress,
            });
        }
    }
}

impl Timer {
    fn reset(&mut self) {
        self.probes.fill(0);
        self.path.clear();
        self.sack.clear();
        self.probe.clear();
        self.ack.clear();
        self.read.clear();
        self.headed = 0;
        self.index = 0;
        self.wait = 0;
        self.reads = 0;
        self.clearing = self.probes.len() as u32;
    }

    #[inline]
    fn judge(&self, read: &Read, inputs: &Inputs) -> Judgement {
        let idle = u64::from(self.timestamps.distance(read.last_progress, self.earlier[1]));
        let base = if read.rtt_valid {
            let rtt = u64::from(read.smoothed_rtt);
            rtt + rtt / 4 + u64::from(inputs.config_probe)
        } else {
            inputs.config_first_probe.into()
        };
        let base = base.min(self.longest);
        let limit = u64::from(read.timeout)
            .max((base * 16) << read.backoff)
            .min(self.longest);
        let probes = self.probes[usize::from(read.path)];
        if read.in_flight == 0 || idle < base {
            Judgement::Progress
        } else if idle >= limit {
            Judgement::Timeout
        } else if probes < MAX_PROBES && idle >= base * u64::from(probes + 1) {
            Judgement::Probe
        } else {
            Judgement::Nothing
        }
    }

    #[inline]
    fn act(&mut self, path: u16, judgement: Judgement, now: u32) {
        let probes = &mut self.probes[usize::from(path)];
        match judgement {
            Judgement::Nothing => {}
            Judgement::Progress => *probes = 0,
            Judgement::Probe => {
                *probes += 1;
                self.probe.put(path);
            }
            Judgement::Timeout => {
                *probes = 0;
                self.path.put((op::TIMEOUT, path, now));
                self.sack.put((path, now));
            }
        }
    }
}
