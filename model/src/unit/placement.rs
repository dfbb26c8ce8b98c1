//! Model of `placement`. Contract: [`crate::port::placement`].

use super::Unit;
use crate::{
    Params,
    pipeline::Queue,
    port::{
        Beat,
        parser::HEADER_BYTES,
        placement::{Inputs, Outputs},
    },
};

/// Model of the unit.
#[derive(Clone, Debug)]
pub struct Placement {
    lanes: u64,
    place: Queue<Packet>,
    transfers: Queue<Transfer>,
    tokens: Queue<Packet>,
    command: Queue<Command>,
    beat: Queue<(Beat, bool)>,
    write: Queue<Write>,
    passing: Passing,
    /// Bytes of the transfer before the beat that is written next.
    written: u64,
    released: u32,
}

/// A packet's fields in `s_axis_place`.
#[derive(Clone, Copy, Debug, Default)]
struct Packet {
    discard: bool,
    bytes: u16,
    address: u64,
    stream: u16,
    message: u32,
    length: u32,
    immediate: u32,
    kind: u8,
}

#[derive(Clone, Copy, Debug)]
struct Transfer {
    address: u64,
    empty: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Command {
    from: u8,
    to: u8,
    bytes: u16,
}

/// An entry of `write`; `null` ones are not offered.
#[derive(Clone, Copy, Debug, Default)]
struct Write {
    data: Beat,
    keep: u64,
    last: bool,
    address: u64,
    null: bool,
}

/// The frame whose beats are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passing {
    Nothing,
    Placed,
    Discarded,
}

impl Unit for Placement {
    const NAME: &'static str = "placement";
    type Inputs = Inputs;
    type Outputs = Outputs;

    fn new(params: &Params) -> Self {
        let jobs = params.jobs() as usize;
        Self {
            lanes: params.lanes().into(),
            place: Queue::new(jobs),
            transfers: Queue::new(jobs),
            tokens: Queue::new(jobs),
            command: Queue::new(2),
            beat: Queue::new(2),
            write: Queue::new(2),
            passing: Passing::Nothing,
            written: 0,
            released: 0,
        }
    }

    #[inline]
    fn outputs(&self) -> Outputs {
        let command = self.command.head().copied().unwrap_or_default();
        let (beat, beat_last) = self.beat.head().copied().unwrap_or_default();
        let write = self.write.head().copied().unwrap_or_default();
        let token = self.token().copied().unwrap_or_default();
        Outputs {
            s_axis_place_tready: self.place.has_room(),
            s_axis_payload_tready: self.takes_payload(),
            m_axis_command_tvalid: !self.command.is_empty(),
            m_axis_command_from: command.from,
            m_axis_command_to: command.to,
            m_axis_command_bytes: command.bytes,
            m_axis_beat_tvalid: !self.beat.is_empty(),
            m_axis_beat_tdata: beat,
            m_axis_beat_tlast: beat_last,
            s_axis_aligned_tready: self.takes_aligned(),
            m_axis_write_tvalid: !self.write.is_empty() && !write.null,
            m_axis_write_tdata: write.data,
            m_axis_write_tkeep: write.keep,
            m_axis_write_tlast: write.last,
            m_axis_write_address: write.address,
            m_axis_count_tvalid: self.token().is_some(),
            m_axis_count_stream: token.stream,
            m_axis_count_message: token.message,
            m_axis_count_bytes: token.bytes,
            m_axis_count_length: token.length,
            m_axis_count_immediate: token.immediate,
            m_axis_count_kind: token.kind,
        }
    }

    #[inline]
    fn clock(&mut self, inputs: &Inputs) {
        if inputs.rst {
            self.reset();
            return;
        }
        let accepts = self.place.has_room() && inputs.s_axis_place_tvalid;
        let begins = self.passing == Passing::Nothing
            && !self.place.is_empty()
            && self.command.has_room()
            && self.transfers.has_room()
            && self.tokens.has_room();
        let passes = self.takes_payload() && inputs.s_axis_payload_tvalid;
        let writes = self.takes_aligned() && inputs.s_axis_aligned_tvalid;
        let empties = self.write.has_room() && self.transfers.head().is_some_and(|transfer| transfer.empty);
        let leaves = self
            .write
            .head()
            .copied()
            .filter(|write| write.null || inputs.m_axis_write_tready);
        let counts = self.token().is_some() && inputs.m_axis_count_tready;

        if inputs.m_axis_command_tready {
            self.command.take();
        }
        if inputs.m_axis_beat_tready {
            self.beat.take();
        }
        if leaves.is_some() {
            self.write.take();
        }
        if counts {
            self.tokens.take();
            self.released -= 1;
        }
        if leaves.is_some_and(|write| write.null || write.last) {
            self.released += 1;
        }
        if writes {
            self.write(inputs);
        } else if empties {
            self.transfers.take();
            self.write.put(Write {
                null: true,
                ..Write::default()
            });
        }
        if passes {
            self.pass(inputs);
        } else if begins {
            self.begin();
        }
        if accepts {
            self.place.put(Packet {
                discard: inputs.s_axis_place_discard,
                bytes: inputs.s_axis_place_bytes,
                address: inputs.s_axis_place_address,
                stream: inputs.s_axis_place_stream,
                message: inputs.s_axis_place_message,
                length: inputs.s_axis_place_length,
                immediate: inputs.s_axis_place_immediate,
                kind: inputs.s_axis_place_kind,
            });
        }
    }

    #[inline]
    fn rests(&self) -> bool {
        self.is_at_rest()
    }
}

impl Placement {
    /// Nothing of the past is left that an idle NIC must not have.
    pub(super) fn is_at_rest(&self) -> bool {
        self.released == 0
            && self.passing == Passing::Nothing
            && self.place.is_empty()
            && self.transfers.is_empty()
            && self.tokens.is_empty()
            && self.command.is_empty()
            && self.beat.is_empty()
            && self.write.is_empty()
    }

    fn reset(&mut self) {
        self.place.clear();
        self.transfers.clear();
        self.tokens.clear();
        self.command.clear();
        self.beat.clear();
        self.write.clear();
        self.passing = Passing::Nothing;
        self.written = 0;
        self.released = 0;
    }

    #[inline]
    fn takes_payload(&self) -> bool {
        match self.passing {
            Passing::Nothing => false,
            Passing::Placed => self.beat.has_room(),
            Passing::Discarded => true,
        }
    }

    #[inline]
    fn takes_aligned(&self) -> bool {
        self.write.has_room() && self.transfers.head().is_some_and(|transfer| !transfer.empty)
    }

    /// The token that is offered.
    #[inline]
    fn token(&self) -> Option<&Packet> {
        self.tokens.head().filter(|_| self.released > 0)
    }

    #[inline]
    fn begin(&mut self) {
        let Some(packet) = self.place.take() else { return };
        if packet.discard {
            self.passing = Passing::Discarded;
            return;
        }
        self.tokens.put(packet);
        let empty = packet.bytes == 0;
        let lane = packet.address % self.lanes;
        self.transfers.put(Transfer {
            address: packet.address - lane,
            empty,
        });
        if !empty {
            self.command.put(Command {
                from: (u64::from(HEADER_BYTES) % self.lanes) as u8,
                to: lane as u8,
                bytes: packet.bytes,
            });
            self.passing = Passing::Placed;
        }
    }

    #[inline]
    fn pass(&mut self, inputs: &Inputs) {
        if self.passing == Passing::Placed {
            self.beat
                .put((inputs.s_axis_payload_tdata, inputs.s_axis_payload_tlast));
        }
        if inputs.s_axis_payload_tlast {
            self.passing = Passing::Nothing;
        }
    }

    #[inline]
    fn write(&mut self, inputs: &Inputs) {
        let address = self.transfers.head().map_or(0, |transfer| transfer.address);
        self.write.put(Write {
            data: inputs.s_axis_aligned_tdata,
            keep: inputs.s_axis_aligned_tkeep,
            last: inputs.s_axis_aligned_tlast,
            address: address.wrapping_add(self.written),
            null: false,
        });
        self.written += self.lanes;
        if inputs.s_axis_aligned_tlast {
            self.transfers.take();
            self.written = 0;
        }
    }
}
