//! Model of `receiver`. Contract: [`crate::port::receiver`].

use super::Unit;
use crate::{
    Params,
    pipeline::Queue,
    port::{
        key_table, receive_table,
        receiver::{Inputs, Outputs, judgement},
        sack_rx,
    },
    wire::{NakCode, Opcode},
};

/// Model of the unit. Queues towards others hold entries with the fields of their stream, all others zero.
#[derive(Clone, Debug)]
pub struct Receiver {
    streams: u16,
    paths: u16,
    most_jobs: usize,
    jobs: usize,
    to_check: Queue<Header>,
    to_judge: Queue<Header>,
    to_finish: Queue<Header>,
    /// Known, and the domain.
    looked: Queue<(bool, u8)>,
    known: Queue<bool>,
    checked: Queue<u8>,
    /// Status and address.
    matched: Queue<(u8, u64)>,
    /// Judgement and address.
    judged: Queue<(u8, u64)>,
    sacked: Queue<Sacked>,
    lookup: Queue<(u16, u8)>,
    check: Queue<Outputs>,
    match_op: Queue<Outputs>,
    sack: Queue<(u8, u16, u32)>,
    place: Queue<Outputs>,
    owe: Queue<Outputs>,
    nak: Queue<Outputs>,
    event: u8,
    decided: Decided,
}

/// Rules that happen in this clock, decided in the one before; `admits`: if a header is offered.
#[derive(Clone, Copy, Debug, Default)]
struct Decided {
    admits: bool,
    checks: bool,
    judges: bool,
    finishes: bool,
}

/// A packet's header, with what it is.
#[derive(Clone, Copy, Debug)]
struct Header {
    fields: Inputs,
    probe: bool,
    send: bool,
}

/// What `sack_rx` gave.
#[derive(Clone, Copy, Debug)]
struct Sacked {
    verdict: u8,
    /// A hole was opened or filled.
    changed: bool,
}

impl Unit for Receiver {
    const NAME: &'static str = "receiver";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        let jobs = params.jobs() as usize;
        Self {
            streams: params.streams as u16,
            paths: params.paths as u16,
            most_jobs: jobs,
            jobs: 0,
            to_check: Queue::new(jobs),
            to_judge: Queue::new(jobs),
            to_finish: Queue::new(jobs),
            looked: Queue::new(jobs),
            known: Queue::new(jobs),
            checked: Queue::new(jobs),
            matched: Queue::new(jobs),
            judged: Queue::new(jobs),
            sacked: Queue::new(jobs),
            lookup: Queue::new(1),
            check: Queue::new(1),
            match_op: Queue::new(1),
            sack: Queue::new(1),
            place: Queue::new(1),
            owe: Queue::new(1),
            nak: Queue::new(1),
            event: 0,
            decided: Decided::default(),
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        let (connection, plane) = self.lookup.head().copied().unwrap_or_default();
        let check = self.check.head().copied().unwrap_or_default();
        let match_op = self.match_op.head().copied().unwrap_or_default();
        let (op, path, psn) = self.sack.head().copied().unwrap_or_default();
        let place = self.place.head().copied().unwrap_or_default();
        let owe = self.owe.head().copied().unwrap_or_default();
        let nak = self.nak.head().copied().unwrap_or_default();
        Outputs {
            s_axis_data_tready: self.decided.admits,
            m_axis_lookup_tvalid: !self.lookup.is_empty(),
            m_axis_lookup_connection: connection,
            m_axis_lookup_plane: plane,
            m_axis_match_tvalid: match_op.m_axis_match_tvalid,
            m_axis_match_stream: match_op.m_axis_match_stream,
            m_axis_match_number: match_op.m_axis_match_number,
            m_axis_match_offset: match_op.m_axis_match_offset,
            m_axis_match_bytes: match_op.m_axis_match_bytes,
            m_axis_sack_tvalid: !self.sack.is_empty(),
            m_axis_sack_op: op,
            m_axis_sack_path: path,
            m_axis_sack_psn: psn,
            m_axis_place_tvalid: place.m_axis_place_tvalid,
            m_axis_place_discard: place.m_axis_place_discard,
            m_axis_place_bytes: place.m_axis_place_bytes,
            m_axis_place_address: place.m_axis_place_address,
            m_axis_place_stream: place.m_axis_place_stream,
            m_axis_place_message: place.m_axis_place_message,
            m_axis_place_length: place.m_axis_place_length,
            m_axis_place_immediate: place.m_axis_place_immediate,
            m_axis_place_kind: place.m_axis_place_kind,
            m_axis_owe_tvalid: owe.m_axis_owe_tvalid,
            m_axis_owe_path: owe.m_axis_owe_path,
            m_axis_owe_timestamp: owe.m_axis_owe_timestamp,
            m_axis_owe_arrival: owe.m_axis_owe_arrival,
            m_axis_owe_plane: owe.m_axis_owe_plane,
            m_axis_owe_counts: owe.m_axis_owe_counts,
            m_axis_owe_marked: owe.m_axis_owe_marked,
            m_axis_owe_at_once: owe.m_axis_owe_at_once,
            m_axis_nak_tvalid: nak.m_axis_nak_tvalid,
            m_axis_nak_connection: nak.m_axis_nak_connection,
            m_axis_nak_path: nak.m_axis_nak_path,
            m_axis_nak_plane: nak.m_axis_nak_plane,
            m_axis_nak_stream: nak.m_axis_nak_stream,
            m_axis_nak_message: nak.m_axis_nak_message,
            m_axis_nak_code: nak.m_axis_nak_code,
            event_valid: self.event != 0,
            event_code: self.event,
            ..check
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            self.reset();
            return;
        }
        let decided = self.decided;
        let admits = decided.admits && inputs.s_axis_data_tvalid;
        self.decided = self.decide(admits);
        self.outputs_taken(inputs);
        self.event = 0;
        if decided.finishes {
            self.finish();
        }
        if decided.judges {
            self.judge();
        }
        if decided.checks {
            self.check();
        }
        if admits {
            self.admit(inputs);
        }
        self.strobes(inputs);
    }

    #[inline]
    fn rests(&self) -> bool {
        self.event == 0
            && self.decided.admits
            && self.looked.is_empty()
            && self.checked.is_empty()
            && self.sacked.is_empty()
            && self.lookup.is_empty()
            && self.check.is_empty()
            && self.match_op.is_empty()
            && self.sack.is_empty()
            && self.place.is_empty()
            && self.owe.is_empty()
            && self.nak.is_empty()
    }
}

impl Receiver {
    /// Nothing of the past is left that an idle NIC must not have.
    pub(super) fn is_at_rest(&self) -> bool {
        self.jobs == 0
            && self.place.is_empty()
            && self.owe.is_empty()
            && self.nak.is_empty()
            && self.sacked.is_empty()
            && self.judged.is_empty()
            && self.known.is_empty()
    }

    fn reset(&mut self) {
        self.jobs = 0;
        self.decided = Decided::default();
        self.to_check.clear();
        self.to_judge.clear();
        self.to_finish.clear();
        self.looked.clear();
        self.known.clear();
        self.checked.clear();
        self.matched.clear();
        self.judged.clear();
        self.sacked.clear();
        self.lookup.clear();
        self.check.clear();
        self.match_op.clear();
        self.sack.clear();
        self.place.clear();
        self.owe.clear();
        self.nak.clear();
        self.event = 0;
    }

    /// What happens in the next clock. `admits`: a header is accepted in this one.
    #[inline]
    fn decide(&self, admits: bool) -> Decided {
        let checks = !self.looked.is_empty() && self.check.has_room() && self.match_op.has_room();
        let judges = !self.checked.is_empty()
            && self
                .to_judge
                .head()
                .is_some_and(|header| !header.send || !self.matched.is_empty())
            && self.sack.has_room();
        let finishes =
            !self.sacked.is_empty() && self.place.has_room() && self.owe.has_room() && self.nak.has_room();
        Decided {
            admits: !admits && self.jobs < self.most_jobs && self.lookup.has_room(),
            checks: checks && !self.decided.checks,
            judges: judges && !self.decided.judges,
            finishes: finishes && !self.decided.finishes,
        }
    }

    #[inline]
    fn outputs_taken(&mut self, inputs: &Inputs) {
        if inputs.m_axis_lookup_tready {
            self.lookup.take();
        }
        if inputs.m_axis_check_tready {
            self.check.take();
        }
        if inputs.m_axis_match_tready {
            self.match_op.take();
        }
        if inputs.m_axis_sack_tready {
            self.sack.take();
        }
        if inputs.m_axis_place_tready {
            self.place.take();
        }
        if inputs.m_axis_owe_tready {
            self.owe.take();
        }
        if inputs.m_axis_nak_tready {
            self.nak.take();
        }
    }

    #[inline]
    fn strobes(&mut self, inputs: &Inputs) {
        if inputs.looked_valid {
            self.looked.put((inputs.looked_known, inputs.looked_domain));
        }
        if inputs.checked_valid {
            self.checked.put(inputs.checked_status);
        }
        if inputs.matched_valid {
            self.matched.put((inputs.matched_status, inputs.matched_address));
        }
        if inputs.sacked_valid {
            self.sacked.put(Sacked {
                verdict: inputs.sacked_verdict,
                changed: inputs.sacked_new_hole || inputs.sacked_filled,
            });
        }
    }

    #[inline]
    fn admit(&mut self, inputs: &Inputs) {
        let opcode = inputs.s_axis_data_opcode;
        let header = Header {
            fields: *inputs,
            probe: opcode == Opcode::Probe.value(),
            send: opcode == Opcode::Send.value() || opcode == Opcode::SendImmediate.value(),
        };
        self.to_check.put(header);
        self.to_judge.put(header);
        self.to_finish.put(header);
        self.lookup
            .put((inputs.s_axis_data_connection, inputs.s_axis_data_plane));
        self.jobs += 1;
    }

    #[inline]
    fn check(&mut self) {
        let (Some((known, domain)), Some(header)) = (self.looked.take(), self.to_check.take()) else {
            return;
        };
        let fields = header.fields;
        self.known.put(known);
        self.check.put(Outputs {
            m_axis_check_tvalid: true,
            m_axis_check_key: fields.s_axis_data_key,
            m_axis_check_address: fields.s_axis_data_address,
            m_axis_check_bytes: if header.send || header.probe {
                0
            } else {
                fields.s_axis_data_payload_bytes
            },
            m_axis_check_domain: domain,
            ..Outputs::default()
        });
        if header.send {
            self.match_op.put(Outputs {
                m_axis_match_tvalid: true,
                m_axis_match_stream: self.stream(&fields),
                m_axis_match_number: fields.s_axis_data_receive,
                m_axis_match_offset: fields.s_axis_data_offset,
                m_axis_match_bytes: fields.s_axis_data_payload_bytes,
                ..Outputs::default()
            });
        }
    }

    #[inline]
    fn stream(&self, fields: &Inputs) -> u16 {
        fields.s_axis_data_connection * self.streams + fields.s_axis_data_stream % self.streams
    }

    #[inline]
    fn path(&self, fields: &Inputs) -> u16 {
        fields.s_axis_data_connection * self.paths + u16::from(fields.s_axis_data_path)
    }

    #[inline]
    fn judge(&mut self) {
        let (Some(header), Some(known), Some(checked)) =
            (self.to_judge.take(), self.known.take(), self.checked.take())
        else {
            return;
        };
        let fields = header.fields;
        let matched = if header.send { self.matched.take() } else { None };
        let (matched, buffer) = matched.unwrap_or_default();
        let bytes = fields.s_axis_data_payload_bytes;
        let end = u64::from(fields.s_axis_data_offset) + u64::from(bytes);
        let length = fields.s_axis_data_message_length;
        let judgement = if !known {
            judgement::UNKNOWN
        } else if header.probe {
            judgement::PROBE
        } else if fields.s_axis_data_stream >= self.streams
            || end > length.into()
            || (bytes == 0 && length != 0)
        {
            judgement::MALFORMED
        } else if header.send {
            match matched {
                receive_table::status::NOT_POSTED => judgement::NOT_POSTED,
                receive_table::status::TOO_LONG => judgement::TOO_LONG,
                receive_table::status::GONE => judgement::GONE,
                _ => judgement::ACCEPTED,
            }
        } else {
            match checked {
                key_table::status::BAD_KEY => judgement::BAD_KEY,
                key_table::status::OUT_OF_BOUNDS => judgement::OUT_OF_BOUNDS,
                _ => judgement::ACCEPTED,
            }
        };
        let address = if header.send {
            buffer
        } else {
            fields.s_axis_data_address
        };
        self.judged.put((judgement, address));
        let op = if judgement == judgement::ACCEPTED {
            sack_rx::op::PACKET
        } else {
            sack_rx::op::QUERY
        };
        self.sack.put((op, self.path(&fields), fields.s_axis_data_psn));
    }

    #[inline]
    fn finish(&mut self) {
        let (Some(header), Some((judgement, address)), Some(sacked)) =
            (self.to_finish.take(), self.judged.take(), self.sacked.take())
        else {
            return;
        };
        self.jobs -= 1;
        let fields = header.fields;
        let end = u64::from(fields.s_axis_data_offset) + u64::from(fields.s_axis_data_payload_bytes);
        let last = end == u64::from(fields.s_axis_data_message_length);
        let duplicate = sacked.verdict == sack_rx::verdict::DUPLICATE;
        match judgement {
            judgement::PROBE => self.owe(&fields, false, true),
            judgement::ACCEPTED if sacked.verdict == sack_rx::verdict::NEW => {
                self.place(&fields, false, address);
                self.owe(&fields, true, sacked.changed || last);
            }
            judgement::ACCEPTED if !duplicate => {
                self.place(&fields, true, address);
                self.event = judgement::OUT_OF_WINDOW;
            }
            judgement::UNKNOWN | judgement::MALFORMED | judgement::GONE => {
                self.place(&fields, true, address);
                self.event = judgement;
            }
            _ if duplicate => {
                self.place(&fields, true, address);
                self.owe(&fields, true, true);
                self.event = judgement::DUPLICATE;
            }
            refused => {
                self.place(&fields, true, address);
                self.nak(&fields, refused);
                self.event = refused;
            }
        }
    }

    #[inline]
    fn place(&mut self, fields: &Inputs, discard: bool, address: u64) {
        let bytes = fields.s_axis_data_payload_bytes;
        if discard && bytes == 0 {
            return;
        }
        self.place.put(Outputs {
            m_axis_place_tvalid: true,
            m_axis_place_discard: discard,
            m_axis_place_bytes: bytes,
            m_axis_place_address: address,
            m_axis_place_stream: self.stream(fields),
            m_axis_place_message: fields.s_axis_data_message,
            m_axis_place_length: fields.s_axis_data_message_length,
            m_axis_place_immediate: fields.s_axis_data_immediate,
            m_axis_place_kind: fields.s_axis_data_opcode & 3,
            ..Outputs::default()
        });
    }

    #[inline]
    fn owe(&mut self, fields: &Inputs, counts: bool, at_once: bool) {
        self.owe.put(Outputs {
            m_axis_owe_tvalid: true,
            m_axis_owe_path: self.path(fields),
            m_axis_owe_timestamp: fields.s_axis_data_timestamp,
            m_axis_owe_arrival: fields.s_axis_data_arrival,
            m_axis_owe_plane: fields.s_axis_data_plane,
            m_axis_owe_counts: counts,
            m_axis_owe_marked: fields.s_axis_data_marked,
            m_axis_owe_at_once: at_once,
            ..Outputs::default()
        });
    }

    #[inline]
    fn nak(&mut self, fields: &Inputs, refused: u8) {
        let code = match refused {
            judgement::NOT_POSTED => NakCode::ReceiverNotReady,
            judgement::BAD_KEY => NakCode::BadKey,
            judgement::OUT_OF_BOUNDS => NakCode::OutOfBounds,
            _ => NakCode::BadLength,
        };
        self.nak.put(Outputs {
            m_axis_nak_tvalid: true,
            m_axis_nak_connection: fields.s_axis_data_connection,
            m_axis_nak_path: fields.s_axis_data_path,
            m_axis_nak_plane: fields.s_axis_data_plane,
            m_axis_nak_stream: fields.s_axis_data_stream,
            m_axis_nak_message: fields.s_axis_data_message,
            m_axis_nak_code: code.value(),
            ..Outputs::default()
        });
    }
}
