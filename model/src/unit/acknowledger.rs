//! Model of `acknowledger`. Contract: [`crate::port::acknowledger`].

use super::Unit;
use crate::{
    Params,
    pipeline::Queue,
    port::{
        Vector,
        acknowledger::{Inputs, Outputs, SOURCE_PORT},
    },
    wire::Opcode,
};

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct Acknowledger {
    paths: u16,
    most_jobs: usize,
    jobs: usize,
    due: Queue<u16>,
    taken: Queue<Taken>,
    looked: Queue<Looked>,
    sacked: Queue<(u32, Vector)>,
    waiting: Queue<Job>,
    nak: Queue<Nak>,
    /// Path and time.
    take: Queue<(u16, u32)>,
    /// Connection and plane.
    lookup: Queue<(u16, u8)>,
    sack: Queue<u16>,
    ack: Queue<Outputs>,
    /// *finish* happens in this clock, decided in the one before.
    finishes: bool,
}

/// What `ack_table` gave.
#[derive(Clone, Copy, Debug)]
struct Taken {
    path: u16,
    plane: u8,
    echo: u32,
    hold: u16,
    packets: u16,
    marked: u16,
}

/// What `connection_table` gave.
#[derive(Clone, Copy, Debug)]
struct Looked {
    known: bool,
    peer: u32,
    dscp: u8,
    destination_mac: u64,
    destination_address: u32,
    source_mac: u64,
    source_address: u32,
}

/// A refusal.
#[derive(Clone, Copy, Debug)]
struct Nak {
    connection: u16,
    path: u8,
    plane: u8,
    stream: u16,
    message: u32,
    code: u8,
}

/// What is being made.
#[derive(Clone, Copy, Debug)]
enum Job {
    Ack(Taken),
    Nak(Nak),
}

impl Unit for Acknowledger {
    const NAME: &'static str = "acknowledger";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        let jobs = params.jobs() as usize;
        Self {
            paths: params.paths as u16,
            most_jobs: jobs,
            jobs: 0,
            finishes: false,
            due: Queue::new(params.total_paths() as usize),
            taken: Queue::new(jobs),
            looked: Queue::new(jobs),
            sacked: Queue::new(jobs),
            waiting: Queue::new(jobs),
            nak: Queue::new(1),
            take: Queue::new(2),
            lookup: Queue::new(2),
            sack: Queue::new(2),
            ack: Queue::new(1),
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        let (take_path, take_now) = self.take.head().copied().unwrap_or_default();
        let (connection, plane) = self.lookup.head().copied().unwrap_or_default();
        Outputs {
            m_axis_take_tvalid: !self.take.is_empty(),
            m_axis_take_path: take_path,
            m_axis_take_now: take_now,
            m_axis_lookup_tvalid: !self.lookup.is_empty(),
            m_axis_lookup_connection: connection,
            m_axis_lookup_plane: plane,
            m_axis_sack_tvalid: !self.sack.is_empty(),
            m_axis_sack_path: self.sack.head().copied().unwrap_or_default(),
            s_axis_nak_tready: self.nak.has_room(),
            ..self.ack.head().copied().unwrap_or_default()
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            self.reset();
            return;
        }
        let may_begin = self.jobs < self.most_jobs;
        let accepts = self.nak.has_room() && inputs.s_axis_nak_tvalid;
        let takes = !self.due.is_empty() && may_begin && self.take.has_room();
        let looks = !self.taken.is_empty() && self.lookup.has_room() && self.sack.has_room();
        let refuses = !takes && !looks && !self.nak.is_empty() && may_begin && self.lookup.has_room();
        let finishes = self.finishes;
        self.finishes = match self.waiting.head() {
            Some(Job::Ack(_)) => !self.sacked.is_empty(),
            Some(Job::Nak(_)) => true,
            None => false,
        } && !finishes
            && !self.looked.is_empty()
            && self.ack.has_room();

        if inputs.m_axis_take_tready {
            self.take.take();
        }
        if inputs.m_axis_lookup_tready {
            self.lookup.take();
        }
        if inputs.m_axis_sack_tready {
            self.sack.take();
        }
        if inputs.m_axis_ack_tready {
            self.ack.take();
        }
        if finishes {
            self.finish(inputs);
        }
        if looks && let Some(taken) = self.taken.take() {
            self.lookup.put((taken.path / self.paths, taken.plane));
            self.sack.put(taken.path);
            self.waiting.put(Job::Ack(taken));
        }
        if takes && let Some(path) = self.due.take() {
            self.take.put((path, inputs.now));
            self.jobs += 1;
        }
        if refuses && let Some(nak) = self.nak.take() {
            self.lookup.put((nak.connection, nak.plane));
            self.waiting.put(Job::Nak(nak));
            self.jobs += 1;
        }
        self.strobes(inputs);
        if accepts {
            self.nak.put(Nak {
                connection: inputs.s_axis_nak_connection,
                path: inputs.s_axis_nak_path,
                plane: inputs.s_axis_nak_plane,
                stream: inputs.s_axis_nak_stream,
                message: inputs.s_axis_nak_message,
                code: inputs.s_axis_nak_code,
            });
        }
    }

    #[inline]
    fn rests(&self) -> bool {
        self.due.is_empty()
            && self.taken.is_empty()
            && self.looked.is_empty()
            && self.nak.is_empty()
            && self.take.is_empty()
            && self.lookup.is_empty()
            && self.sack.is_empty()
            && self.ack.is_empty()
    }
}

impl Acknowledger {
    /// Nothing of the past is left that an idle NIC must not have.
    pub(super) fn is_at_rest(&self) -> bool {
        self.jobs == 0
            && self.due.is_empty()
            && self.nak.is_empty()
            && self.waiting.is_empty()
            && self.ack.is_empty()
    }

    fn reset(&mut self) {
        self.jobs = 0;
        self.finishes = false;
        self.due.clear();
        self.taken.clear();
        self.looked.clear();
        self.sacked.clear();
        self.waiting.clear();
        self.nak.clear();
        self.take.clear();
        self.lookup.clear();
        self.sack.clear();
        self.ack.clear();
    }

    #[inline]
    fn strobes(&mut self, inputs: &Inputs) {
        if inputs.due_valid {
            self.due.put(inputs.due_path);
        }
        if inputs.taken_valid {
            self.taken.put(Taken {
                path: inputs.taken_path,
                plane: inputs.taken_plane,
                echo: inputs.taken_echo,
                hold: inputs.taken_hold,
                packets: inputs.taken_packets,
                marked: inputs.taken_marked,
            });
        }
        if inputs.looked_valid {
            self.looked.put(Looked {
                known: inputs.looked_known,
                peer: inputs.looked_peer,
                dscp: inputs.looked_dscp,
                destination_mac: inputs.looked_destination_mac,
                destination_address: inputs.looked_destination_address,
                source_mac: inputs.looked_source_mac,
                source_address: inputs.looked_source_address,
            });
        }
        if inputs.sacked_valid {
            self.sacked.put((inputs.sacked_base, inputs.sacked_vector));
        }
    }

    #[inline]
    fn finish(&mut self, inputs: &Inputs) {
        let (Some(job), Some(looked)) = (self.waiting.take(), self.looked.take()) else {
            return;
        };
        self.jobs -= 1;
        let header = Outputs {
            m_axis_ack_tvalid: true,
            m_axis_ack_destination_mac: looked.destination_mac,
            m_axis_ack_source_mac: looked.source_mac,
            m_axis_ack_source_address: looked.source_address,
            m_axis_ack_destination_address: looked.destination_address,
            m_axis_ack_dscp: looked.dscp,
            m_axis_ack_connection: looked.peer,
            m_axis_ack_timestamp: inputs.now,
            ..Outputs::default()
        };
        let header = match job {
            Job::Ack(taken) => {
                let (base, vector) = self.sacked.take().unwrap_or_default();
                let path = taken.path % self.paths;
                Outputs {
                    m_axis_ack_source_port: SOURCE_PORT + path,
                    m_axis_ack_plane: taken.plane,
                    m_axis_ack_opcode: Opcode::Ack.value(),
                    m_axis_ack_path: path as u8,
                    m_axis_ack_psn: base,
                    m_axis_ack_vector: vector,
                    m_axis_ack_echo: taken.echo,
                    m_axis_ack_hold: taken.hold,
                    m_axis_ack_packets: taken.packets,
                    m_axis_ack_marked: taken.marked,
                    m_axis_ack_hint: inputs.config_hint,
                    ..header
                }
            }
            Job::Nak(nak) => Outputs {
                m_axis_ack_source_port: SOURCE_PORT + u16::from(nak.path),
                m_axis_ack_plane: nak.plane,
                m_axis_ack_opcode: Opcode::Nak.value(),
                m_axis_ack_path: nak.path,
                m_axis_ack_stream: nak.stream,
                m_axis_ack_message: nak.message,
                m_axis_ack_code: nak.code,
                ..header
            },
        };
        if looked.known {
            self.ack.put(header);
        }
    }
}
