//! Fields in the beats of a bus: where the wire's table puts them, and registers that take them from the beats as they pass.

use crate::hdl::{Builder, Signal, bits::or_all};
use metaroce_model::wire::table::Position;
use std::{cell::RefCell, collections::BTreeMap};

/// The bits of a field that are in one beat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Number of the beat in its frame.
    pub beat: u32,
    /// First bit and width of each of its pieces in the beat, the field's least significant piece first.
    pub pieces: Vec<(u32, u32)>,
}

impl Part {
    fn bits(&self) -> u32 {
        self.pieces.iter().map(|(_, bits)| bits).sum()
    }

    fn of(&self, b: &Builder, name: &str, beat: &Signal) -> Signal {
        let pieces: Vec<Signal> = self
            .pieces
            .iter()
            .map(|(low, bits)| beat.slice(*low, *bits))
            .collect();
        match &pieces[..] {
            [piece] => piece.clone(),
            _ => b.concat(name, &pieces.iter().collect::<Vec<_>>()),
        }
    }
}

/// The parts of a field on a bus of `lanes` bytes, the least significant first, which is of the last beat.
pub fn parts(position: Position, lanes: u32) -> Vec<Part> {
    let (start, end) = (position.bit as u32, (position.bit + position.bits) as u32);
    let mut parts: Vec<Part> = Vec::new();
    for byte in (start / 8..end.div_ceil(8)).rev() {
        // On the wire a byte's bit 0 is its most significant.
        let (first, last) = (start.max(8 * byte), end.min(8 * byte + 8) - 1);
        let piece = (8 * (byte % lanes) + 7 - last % 8, last - first + 1);
        match parts.last_mut() {
            Some(part) if part.beat == byte / lanes => part.pieces.push(piece),
            _ => parts.push(Part {
                beat: byte / lanes,
                pieces: vec![piece],
            }),
        }
    }
    parts
}

/// The lowest `bits` bits of a field.
pub fn lowest(position: Position, bits: u32) -> Position {
    Position {
        bit: position.bit + position.bits - bits as usize,
        bits: bits as usize,
    }
}

/// The bits of a field above the lowest `bits`, if there are any.
pub fn above(position: Position, bits: u32) -> Option<Position> {
    let bits = position.bits - bits as usize;
    (bits > 0).then_some(Position {
        bit: position.bit,
        bits,
    })
}

/// A value that goes along the pipeline: registers are made as far as somebody looks.
pub struct Passing {
    b: Builder,
    moves: Signal,
    name: String,
    first: u32,
    registers: RefCell<Vec<Signal>>,
}

impl Passing {
    /// A value that is a register of stage `first`.
    pub fn from_register(b: &Builder, moves: &Signal, name: &str, first: u32, register: &Signal) -> Self {
        Self {
            b: b.clone(),
            moves: moves.clone(),
            name: name.into(),
            first,
            registers: RefCell::new(vec![register.clone()]),
        }
    }

    /// The value of an expression in stage `first - 1`.
    pub fn new(b: &Builder, moves: &Signal, name: &str, first: u32, value: &Signal) -> Self {
        let register = b.stage(&format!("{name}_{first}"), moves, value);
        Self::from_register(b, moves, name, first, &register)
    }

    /// The value in that stage.
    ///
    /// # Panics
    /// When the value is not there yet.
    pub fn at(&self, stage: u32) -> Signal {
        let position = stage
            .checked_sub(self.first)
            .unwrap_or_else(|| panic!("there is no {} in stage {stage} yet", self.name));
        let mut registers = self.registers.borrow_mut();
        while registers.len() as u32 <= position {
            let name = format!("{}_{}", self.name, self.first + registers.len() as u32);
            let register = self.b.stage(&name, &self.moves, &registers[registers.len() - 1]);
            registers.push(register);
        }
        registers[position as usize].clone()
    }
}

/// The beats that pass, and which of their frames they are.
pub struct Beats {
    b: Builder,
    moves: Signal,
    lanes: u32,
    data: Passing,
    /// By number in the frame: there is a beat, and it has that number.
    numbered: Vec<Passing>,
    /// Names of the wires that load what is taken from a beat.
    loads: RefCell<BTreeMap<String, Signal>>,
}

impl Beats {
    /// `data` and `position` (a bit for each of the first beats of a frame, as far as there are fields) are of stage 1.
    pub fn new(b: &Builder, moves: &Signal, data: &Signal, accepted: &Signal, position: &Signal) -> Self {
        let numbered = (0..position.width())
            .map(|beat| {
                let name = format!("is_beat_{beat}");
                Passing::new(b, moves, &name, 1, &(accepted & position.bit(beat)))
            })
            .collect();
        Self {
            b: b.clone(),
            moves: moves.clone(),
            lanes: data.width() / 8,
            data: Passing::new(b, moves, "data", 1, data),
            numbered,
            loads: RefCell::default(),
        }
    }

    /// The beat in that stage.
    pub fn data(&self, stage: u32) -> Signal {
        self.data.at(stage)
    }

    /// There is a beat in that stage, and it is number `beat` of its frame.
    pub fn is(&self, beat: u32, stage: u32) -> Signal {
        self.numbered[beat as usize].at(stage)
    }

    /// A field, taken in `stage` from the beats that enter it: there when the last beat of the field is in `stage`, until it comes in the next frame.
    pub fn take(&self, name: &str, position: Position, stage: u32) -> Signal {
        self.registers(name, position, stage, |part, value| {
            let loads = self.when(&format!("takes_beat_{}_{stage}", part.beat), || {
                &self.moves & self.is(part.beat, stage - 1)
            });
            (loads, value.clone())
        })
    }

    /// Like [`Beats::take`] for a field of frames with `present` only: it is zero from the first beat of a frame on, and remains so without `present`.
    pub fn take_if(&self, name: &str, position: Position, stage: u32, present: &Signal) -> Signal {
        self.registers(name, position, stage, |part, value| {
            let is_beat = self.is(part.beat, stage - 1);
            let loads = self.when(&format!("clears_or_takes_beat_{}_{stage}", part.beat), || {
                &self.moves & (self.is(0, stage - 1) | &is_beat)
            });
            (loads, value.gated(&(present & &is_beat)))
        })
    }

    /// In stage 3, from the field's last beat on: the field is not `value`.
    pub fn differs(&self, name: &str, position: Position, value: u64) -> Signal {
        let mut value = value;
        let parts = parts(position, self.lanes);
        let several = parts.len() > 1;
        let flags: Vec<Signal> = parts
            .iter()
            .map(|part| {
                let name = name_of(name, part, several);
                let seen = part.of(&self.b, &format!("{name}_1"), &self.data(1));
                let expected = value & (u64::MAX >> (64 - part.bits()));
                value >>= part.bits();
                let differs = self
                    .b
                    .stage(&format!("{name}_differs_2"), &self.moves, &!seen.is(expected));
                self.hold(&format!("{name}_differed_3"), part.beat, &differs)
            })
            .collect();
        or_all(&flags)
    }

    /// A register of stage 3 that keeps what `value` is in stage 2 with beat number `beat`.
    pub fn hold(&self, name: &str, beat: u32, value: &Signal) -> Signal {
        let loads = self.when(&format!("takes_beat_{beat}_3"), || &self.moves & self.is(beat, 2));
        self.b.stage(name, &loads, value)
    }

    fn registers(
        &self,
        name: &str,
        position: Position,
        stage: u32,
        next: impl Fn(&Part, &Signal) -> (Signal, Signal),
    ) -> Signal {
        let parts = parts(position, self.lanes);
        let several = parts.len() > 1;
        let registers: Vec<Signal> = parts
            .iter()
            .map(|part| {
                let name = name_of(name, part, several);
                let passing = part.of(
                    &self.b,
                    &format!("passing_{name}_{}", stage - 1),
                    &self.data(stage - 1),
                );
                let (loads, value) = next(part, &passing);
                self.b.stage(&format!("{name}_{stage}"), &loads, &value)
            })
            .collect();
        match &registers[..] {
            [register] => register.clone(),
            _ => self
                .b
                .concat(&format!("{name}_{stage}"), &registers.iter().collect::<Vec<_>>()),
        }
    }

    /// The wire of that name, made once.
    fn when(&self, name: &str, value: impl Fn() -> Signal) -> Signal {
        let mut loads = self.loads.borrow_mut();
        loads
            .entry(name.into())
            .or_insert_with(|| self.b.wire(name, &value()))
            .clone()
    }
}

fn name_of(field: &str, part: &Part, several: bool) -> String {
    if several {
        format!("{field}_of_beat_{}", part.beat)
    } else {
        field.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use metaroce_model::wire::{Opcode, table::*};

    /// R1: first byte most significant, byte 0 in lane 0; a field over two beats has its low part in the second.
    #[test]
    fn parts_are_where_the_table_puts_them() {
        let part = |beat, pieces: &[(u32, u32)]| Part {
            beat,
            pieces: pieces.to_vec(),
        };
        let address = position(COMMON, &IPV4, "destination_address");
        assert_eq!(
            parts(address, 8),
            [part(4, &[(8, 8), (0, 8)]), part(3, &[(56, 8), (48, 8)])]
        );
        assert_eq!(
            parts(address, 64),
            [part(0, &[(264, 8), (256, 8), (248, 8), (240, 8)])]
        );
        let fragment = position(COMMON, &IPV4, "fragment_offset");
        assert_eq!(parts(fragment, 8), [part(2, &[(40, 8), (32, 5)])]);
        let ecn = position(COMMON, &IPV4, "ecn");
        assert_eq!(parts(ecn, 8), [part(1, &[(56, 2)])]);
        let flags = position(COMMON, &BASE, "flags");
        assert_eq!(parts(flags, 16), [part(2, &[(80, 4)])]);
        let hint = Opcode::Ack.position(&ACK, "hint");
        assert_eq!(parts(hint, 8).len(), 1);
        assert_eq!(
            parts(lowest(fragment, 8), 8),
            [part(2, &[(40, 8)])],
            "the lowest bits are the last"
        );
        assert_eq!(parts(above(fragment, 8).unwrap(), 8), [part(2, &[(32, 5)])]);
        assert_eq!(above(fragment, 13), None);
    }
}
