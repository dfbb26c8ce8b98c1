//! What a packet does: the opcodes of the reliable connection service that the model knows, each with exactly the
//! extended headers that the specification gives it (InfiniBand Architecture Specification, volume 1, chapter 9,
//! the table of opcodes).

use super::Malformed;
use super::field::be_bytes;
use super::header::{AETH_BYTES, Aeth, IMMEDIATE_BYTES, RETH_BYTES, Reth};

/// An operation with its extended headers. First, middle and last packets make up a longer message; an only packet
/// is a whole one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// SEND First.
    SendFirst,
    /// SEND Middle.
    SendMiddle,
    /// SEND Last, with or without immediate data.
    SendLast {
        /// Immediate data, if the message has some.
        immediate: Option<u32>,
    },
    /// SEND Only, with or without immediate data.
    SendOnly {
        /// Immediate data, if the message has some.
        immediate: Option<u32>,
    },
    /// RDMA WRITE First.
    WriteFirst {
        /// Where the message goes.
        reth: Reth,
    },
    /// RDMA WRITE Middle.
    WriteMiddle,
    /// RDMA WRITE Last, with or without immediate data.
    WriteLast {
        /// Immediate data, if the message has some.
        immediate: Option<u32>,
    },
    /// RDMA WRITE Only, with or without immediate data.
    WriteOnly {
        /// Where the message goes.
        reth: Reth,
        /// Immediate data, if the message has some.
        immediate: Option<u32>,
    },
    /// Acknowledge: ACK, NAK or RNR NAK.
    Acknowledge {
        /// What is acknowledged, and how.
        aeth: Aeth,
    },
}

impl Operation {
    /// Reads the extended headers that `opcode` asks for off the front of `bytes`.
    ///
    /// `Ok(None)` when the opcode is none of these: another service or operation.
    pub fn take(opcode: u8, bytes: &mut &[u8]) -> Result<Option<Self>, Malformed> {
        Ok(Some(match opcode {
            0x00 => Self::SendFirst,
            0x01 => Self::SendMiddle,
            0x02 => Self::SendLast { immediate: None },
            0x03 => Self::SendLast {
                immediate: Some(take_immediate(bytes)?),
            },
            0x04 => Self::SendOnly { immediate: None },
            0x05 => Self::SendOnly {
                immediate: Some(take_immediate(bytes)?),
            },
            0x06 => Self::WriteFirst {
                reth: Reth::take(bytes)?,
            },
            0x07 => Self::WriteMiddle,
            0x08 => Self::WriteLast { immediate: None },
            0x09 => Self::WriteLast {
                immediate: Some(take_immediate(bytes)?),
            },
            0x0a => Self::WriteOnly {
                reth: Reth::take(bytes)?,
                immediate: None,
            },
            0x0b => Self::WriteOnly {
                reth: Reth::take(bytes)?,
                immediate: Some(take_immediate(bytes)?),
            },
            0x11 => Self::Acknowledge {
                aeth: Aeth::take(bytes)?,
            },
            _ => return Ok(None),
        }))
    }

    /// The opcode in the base transport header.
    pub fn opcode(&self) -> u8 {
        match self {
            Self::SendFirst => 0x00,
            Self::SendMiddle => 0x01,
            Self::SendLast { immediate: None } => 0x02,
            Self::SendLast { immediate: Some(_) } => 0x03,
            Self::SendOnly { immediate: None } => 0x04,
            Self::SendOnly { immediate: Some(_) } => 0x05,
            Self::WriteFirst { .. } => 0x06,
            Self::WriteMiddle => 0x07,
            Self::WriteLast { immediate: None } => 0x08,
            Self::WriteLast { immediate: Some(_) } => 0x09,
            Self::WriteOnly { immediate: None, .. } => 0x0a,
            Self::WriteOnly {
                immediate: Some(_), ..
            } => 0x0b,
            Self::Acknowledge { .. } => 0x11,
        }
    }

    /// Appends the extended headers to `bytes`, in the order of the wire: RETH or AETH, then immediate data.
    pub fn put(&self, bytes: &mut Vec<u8>) {
        if let Some(reth) = self.reth() {
            reth.put(bytes);
        }
        if let Self::Acknowledge { aeth } = self {
            aeth.put(bytes);
        }
        if let Some(immediate) = self.immediate() {
            bytes.extend(immediate.to_be_bytes());
        }
    }

    /// Bytes of the extended headers.
    pub fn header_bytes(&self) -> usize {
        let acknowledge = matches!(self, Self::Acknowledge { .. });
        usize::from(self.reth().is_some()) * RETH_BYTES
            + usize::from(acknowledge) * AETH_BYTES
            + usize::from(self.immediate().is_some()) * IMMEDIATE_BYTES
    }

    /// Where a write goes, in the packets that say so: first and only.
    pub fn reth(&self) -> Option<Reth> {
        match self {
            Self::WriteFirst { reth } | Self::WriteOnly { reth, .. } => Some(*reth),
            _ => None,
        }
    }

    /// Immediate data, if there is some.
    pub fn immediate(&self) -> Option<u32> {
        match self {
            Self::SendLast { immediate }
            | Self::SendOnly { immediate }
            | Self::WriteLast { immediate }
            | Self::WriteOnly { immediate, .. } => *immediate,
            _ => None,
        }
    }

    /// Whether the packet is part of a message, rather than an acknowledgement.
    pub fn is_data(&self) -> bool {
        !matches!(self, Self::Acknowledge { .. })
    }

    /// Whether the packet is part of an RDMA WRITE.
    pub fn is_write(&self) -> bool {
        matches!(
            self,
            Self::WriteFirst { .. } | Self::WriteMiddle | Self::WriteLast { .. } | Self::WriteOnly { .. }
        )
    }

    /// Whether the packet begins a message.
    pub fn begins(&self) -> bool {
        matches!(
            self,
            Self::SendFirst | Self::SendOnly { .. } | Self::WriteFirst { .. } | Self::WriteOnly { .. }
        )
    }

    /// Whether the packet ends a message.
    pub fn ends(&self) -> bool {
        matches!(
            self,
            Self::SendLast { .. } | Self::SendOnly { .. } | Self::WriteLast { .. } | Self::WriteOnly { .. }
        )
    }
}

fn take_immediate(bytes: &mut &[u8]) -> Result<u32, Malformed> {
    Ok(u32::from_be_bytes(be_bytes(bytes)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every opcode of the table comes back with the headers it went out with, and no other opcode is taken.
    #[test]
    fn opcodes_round_trip() {
        let headers: Vec<u8> = (1..=32).collect();
        let mut known = 0;
        for opcode in 0..=u8::MAX {
            let mut rest = &headers[..];
            let Some(operation) = Operation::take(opcode, &mut rest).unwrap() else {
                continue;
            };
            known += 1;
            let mut written = Vec::new();
            operation.put(&mut written);
            assert_eq!(operation.opcode(), opcode);
            assert_eq!(
                written,
                headers[..headers.len() - rest.len()],
                "opcode {opcode:#04x}"
            );
            assert_eq!(written.len(), operation.header_bytes(), "opcode {opcode:#04x}");
            let mut short = &headers[..written.len().saturating_sub(1)];
            assert_eq!(Operation::take(opcode, &mut short).is_err(), !written.is_empty());
        }
        assert_eq!(known, 13);
    }
}
