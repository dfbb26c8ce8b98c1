//! The parameters of a NIC: one struct, read from TOML, used by the model, the RTL generator and the FPGA flow
//! alike. Nothing but a profile's values changes between a formal proof, the FPGA build and a cluster simulation.

use crate::port::parser::{HEADER_BYTES, ICRC_BYTES};
use serde::{Deserialize, Serialize};
use std::path::Path;
use thiserror::Error;

/// Names of the profiles that come with the project, smallest first.
pub const PROFILES: [&str; 3] = ["tiny", "ecp5", "asic400g"];

/// Parameters of a NIC. Each field's documentation gives its unit, its range and what a larger value costs.
///
/// All sizes are powers of two so that an index is a bit field and never needs a divider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Name of the profile: lower snake case; it names generated files and reports.
    pub name: String,
    /// Connections the NIC keeps, 2 to 4096, a power of two. Each costs one word of `path_table`'s eligibility
    /// memory and of `rate_limiter`'s bucket memory, and `paths` path contexts.
    pub connections: u32,
    /// Paths of each connection, 2 to 32, a power of two. Each costs one word in every per-path memory of
    /// `path_table`, `sack_rx` and `sack_tx`; selection looks at this many bits in one clock.
    pub paths: u32,
    /// Planes (independent fabrics, one port each) a path can be on, 1 to 16, a power of two. Costs bits in a route.
    pub planes: u32,
    /// Width of the selective-acknowledgement vector and the most packets outstanding on a path: 16 to 256, a power
    /// of two (requirement R6: 256 on the wire). Each bit costs some 20 flip-flops in `sack_rx` and 40 in `sack_tx`,
    /// and a bit in six per-path vectors.
    pub sack_bits: u32,
    /// Width of a packet sequence number, 2 more than log2(`sack_bits`) to 24 (the wire's width). A smaller one wraps
    /// sooner, which is what formal proofs and exhaustive tests want.
    pub psn_bits: u32,
    /// Width of a timestamp in ticks of one clock, 16 to 32. Serial-number arithmetic makes half of the range
    /// usable: two events must be less than 2^(`timestamp_bits` - 1) ticks apart to be ordered.
    pub timestamp_bits: u32,
    /// Width of a round-trip time in ticks, 8 to 24 and less than `timestamp_bits`; longer samples saturate.
    pub rtt_bits: u32,
    /// Width of a window's integer part in packets, 4 to 10; the in-flight count has the same width and saturates.
    pub window_bits: u32,
    /// Largest packet on the wire in bytes, all headers included: 256 to 16383. A bucket may owe up to this much.
    pub max_packet_bytes: u32,
    /// Width of a token bucket's burst in bytes, 14 to 24.
    pub burst_bits: u32,
    /// Slots of the rate limiter's timing wheel, 16 to 1024, a power of two: a word of list heads each.
    pub wheel_slots: u32,
    /// log2 of the ticks a wheel slot lasts, 2 to 10. A finer slot wakes a connection more exactly and shortens
    /// the wheel's horizon of `wheel_slots` x 2^`wheel_tick_bits` ticks, after which it must look again.
    pub wheel_tick_bits: u32,
    /// Width of the packet and memory buses in bits: 64, 128, 256 or 512. Costs as many flip-flops in each of some thirty pipeline stages of the wire
    /// and memory paths, and the cube of it in byte shifters.
    pub data_bits: u32,
    /// Most payload bytes of a packet, 64 to 8192, a power of two, and with [`HEADER_BYTES`] and checksum at most `max_packet_bytes`.
    pub mtu_bytes: u32,
    /// UDP destination port of the transport, 1 to 65535. Free of cost.
    pub udp_port: u32,
    /// Streams (independent orders of messages) of each connection, 2 to 16, a power of two. Each costs a word in `receive_table` and `message_table`,
    /// and `receives` and `messages` entries there (requirement R10: nothing else grows with them).
    pub streams: u32,
    /// Receives that can be posted on a stream, 2 to 64, a power of two: an entry of some 130 bits each.
    pub receives: u32,
    /// Messages of a stream that can be on their way at once, 2 to 64, a power of two: an entry of some 100 bits each.
    pub messages: u32,
    /// Memory regions, 4 to 65536, a power of two: an entry of some 160 bits each.
    pub keys: u32,
}

/// Why a profile was refused.
#[derive(Debug, Error)]
pub enum ParamsError {
    /// No built-in profile has that name and no file could be read at that path.
    #[error(
        "there is no profile '{0}': the built-in ones are tiny, ecp5 and asic400g, and a path must end in .toml"
    )]
    Unknown(String),
    /// The profile's file could not be read.
    #[error("cannot read the profile {path}: {source}")]
    Read {
        /// The file asked for.
        path: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The text is not TOML, or a field is missing, unknown or of the wrong type.
    #[error("the profile {path} is not valid: {message}")]
    Parse {
        /// Where the text came from.
        path: String,
        /// What the TOML reader said, with line and column.
        message: String,
    },
    /// The values describe hardware that cannot be built.
    #[error("the profile '{name}' is impossible: {reason}")]
    Impossible {
        /// The profile's name.
        name: String,
        /// Which field is wrong, its value and what it may be.
        reason: String,
    },
}

/// Number of bits that number `count` things, at least one.
pub const fn index_bits(count: u32) -> u32 {
    if count <= 2 {
        1
    } else {
        32 - (count - 1).leading_zeros()
    }
}

impl Params {
    /// The built-in profile of that name, or the profile in the file at that path (which must end in `.toml`).
    pub fn load(name: &str) -> Result<Self, ParamsError> {
        let text = match name {
            "tiny" => include_str!("../profiles/tiny.toml"),
            "ecp5" => include_str!("../profiles/ecp5.toml"),
            "asic400g" => include_str!("../profiles/asic400g.toml"),
            path if Path::new(path).extension().is_some_and(|e| e == "toml") => {
                let text = std::fs::read_to_string(path).map_err(|source| ParamsError::Read {
                    path: path.into(),
                    source,
                })?;
                return Self::from_toml(&text, path);
            }
            other => return Err(ParamsError::Unknown(other.into())),
        };
        Self::from_toml(text, name)
    }

    /// Reads and checks a profile; `origin` says in errors where the text came from.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, ParamsError> {
        let params: Self = toml::from_str(text).map_err(|e| ParamsError::Parse {
            path: origin.into(),
            message: e.to_string(),
        })?;
        params.check()?;
        Ok(params)
    }

    /// Refuses, with a sentence, values that describe hardware which cannot be built.
    pub fn check(&self) -> Result<(), ParamsError> {
        let refuse = |reason: String| {
            Err(ParamsError::Impossible {
                name: self.name.clone(),
                reason,
            })
        };
        let mut name = self.name.chars();
        if !name.next().is_some_and(|c| c.is_ascii_lowercase())
            || !name.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        {
            return refuse(format!(
                "name is '{}', but it must be lower snake case",
                self.name
            ));
        }
        let ranges = [
            ("connections", self.connections, 2, 4096, true),
            ("paths", self.paths, 2, 32, true),
            ("planes", self.planes, 1, 16, true),
            ("sack_bits", self.sack_bits, 16, 256, true),
            (
                "psn_bits",
                self.psn_bits,
                index_bits(self.sack_bits) + 2,
                24,
                false,
            ),
            ("timestamp_bits", self.timestamp_bits, 16, 32, false),
            (
                "rtt_bits",
                self.rtt_bits,
                8,
                self.timestamp_bits.saturating_sub(1).min(24),
                false,
            ),
            ("window_bits", self.window_bits, 4, 10, false),
            ("max_packet_bytes", self.max_packet_bytes, 256, 16383, false),
            ("burst_bits", self.burst_bits, 14, 24, false),
            ("wheel_slots", self.wheel_slots, 16, 1024, true),
            ("wheel_tick_bits", self.wheel_tick_bits, 2, 10, false),
            ("data_bits", self.data_bits, 64, 512, true),
            ("mtu_bytes", self.mtu_bytes, 64, 8192, true),
            ("udp_port", self.udp_port, 1, 65535, false),
            ("streams", self.streams, 2, 16, true),
            ("receives", self.receives, 2, 64, true),
            ("messages", self.messages, 2, 64, true),
            ("keys", self.keys, 4, 65536, true),
        ];
        for (field, value, low, high, power_of_two) in ranges {
            if value < low || value > high {
                return refuse(format!("{field} is {value}, but it must be from {low} to {high}"));
            }
            if power_of_two && !value.is_power_of_two() {
                return refuse(format!("{field} is {value}, but it must be a power of two"));
            }
        }
        let horizon_bits = index_bits(self.wheel_slots) + self.wheel_tick_bits;
        if horizon_bits >= self.timestamp_bits {
            return refuse(format!(
                "the wheel spans 2^{horizon_bits} ticks (wheel_slots x 2^wheel_tick_bits), but a timestamp of {} bits can order only half of its range",
                self.timestamp_bits
            ));
        }
        if self.wheel_slots << self.wheel_tick_bits < 4 * self.connections {
            return refuse(format!(
                "the wheel spans {} ticks, but {} connections need at least {} so that looking again cannot fill the pipeline",
                self.wheel_slots << self.wheel_tick_bits,
                self.connections,
                4 * self.connections
            ));
        }
        let packet_bytes = self.mtu_bytes + HEADER_BYTES + ICRC_BYTES;
        if packet_bytes > self.max_packet_bytes {
            return refuse(format!(
                "a payload of mtu_bytes makes a packet of {packet_bytes} bytes, but max_packet_bytes is {}",
                self.max_packet_bytes
            ));
        }
        Ok(())
    }

    /// All paths of all connections; a path's index is `connection * paths + path`.
    pub const fn total_paths(&self) -> u32 {
        self.connections * self.paths
    }

    /// Width of a connection's index.
    pub const fn connection_bits(&self) -> u32 {
        index_bits(self.connections)
    }

    /// Width of a path's index within its connection.
    pub const fn path_bits(&self) -> u32 {
        index_bits(self.paths)
    }

    /// Width of a path's index among all paths of all connections.
    pub const fn path_index_bits(&self) -> u32 {
        self.connection_bits() + self.path_bits()
    }

    /// Width of a plane's index.
    pub const fn plane_bits(&self) -> u32 {
        index_bits(self.planes)
    }

    /// Width of a bit position in the selective-acknowledgement vector.
    pub const fn sack_index_bits(&self) -> u32 {
        index_bits(self.sack_bits)
    }

    /// All streams of all connections; a stream's index is `connection * streams + stream`.
    pub const fn total_streams(&self) -> u32 {
        self.connections * self.streams
    }

    /// Width of a stream's index among all streams of all connections.
    pub const fn stream_index_bits(&self) -> u32 {
        self.connection_bits() + index_bits(self.streams)
    }

    /// Width of a memory region's index.
    pub const fn key_index_bits(&self) -> u32 {
        index_bits(self.keys)
    }

    /// Bytes (lanes) of a beat of the packet and memory buses.
    pub const fn lanes(&self) -> u32 {
        self.data_bits / 8
    }

    /// Width of a lane's index.
    pub const fn lane_bits(&self) -> u32 {
        index_bits(self.lanes())
    }

    /// Width of a count of payload bytes of a packet, 0 to `mtu_bytes` inclusive.
    pub const fn payload_bits(&self) -> u32 {
        index_bits(self.mtu_bytes) + 1
    }

    /// Jobs that a chain of operations has under way at once: enough to keep a bus of 64 bits full with the smallest packets, or a wider one.
    pub const fn jobs(&self) -> u32 {
        if self.data_bits == 64 { 16 } else { 64 }
    }

    /// Width of a stream's index within its connection.
    pub const fn stream_bits(&self) -> u32 {
        index_bits(self.streams)
    }

    /// Width of the number of a packet within its message: a message has less than 2^32 bytes.
    pub const fn packet_bits(&self) -> u32 {
        32 - index_bits(self.mtu_bytes)
    }

    /// Bits of a message's number that are kept of an outstanding packet: enough to name an entry of its stream's ring of requests, and four more, so
    /// that a message released meanwhile is not taken for a later one.
    pub const fn message_slot_bits(&self) -> u32 {
        index_bits(self.messages) + 4
    }

    /// Beats of the buffer for received frames: two of the largest, so that one arrives while another is placed.
    pub const fn frame_buffer_beats(&self) -> u32 {
        (2 * self.max_packet_bytes.div_ceil(self.lanes())).next_power_of_two()
    }

    /// Width of a count of packets of one path, 0 to `sack_bits` inclusive.
    pub const fn sack_count_bits(&self) -> u32 {
        self.sack_index_bits() + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_profile_is_possible() {
        for name in PROFILES {
            assert_eq!(Params::load(name).unwrap().name, name);
        }
    }

    #[test]
    fn a_profile_survives_toml() {
        let params = Params::load("ecp5").unwrap();
        assert_eq!(
            Params::from_toml(&toml::to_string(&params).unwrap(), "copy").unwrap(),
            params
        );
    }

    /// Each impossible profile is refused with one sentence that names the field and what it may be.
    #[test]
    fn impossible_profiles_are_refused_with_a_sentence() {
        type Edit = fn(&mut Params);
        let cases: [(Edit, &str); 9] = [
            (
                |p| p.connections = 3,
                "connections is 3, but it must be a power of two",
            ),
            (|p| p.paths = 64, "paths is 64, but it must be from 2 to 32"),
            (|p| p.psn_bits = 9, "psn_bits is 9, but it must be from 10 to 24"),
            (
                |p| p.data_bits = 48,
                "data_bits is 48, but it must be from 64 to 512",
            ),
            (
                |p| p.mtu_bytes = 8192,
                "a payload of mtu_bytes makes a packet of 8284 bytes, but max_packet_bytes is 4300",
            ),
            (|p| p.rtt_bits = 31, "rtt_bits is 31, but it must be from 8 to 24"),
            (
                |p| p.name = "Big One".into(),
                "name is 'Big One', but it must be lower snake case",
            ),
            (
                |p| p.timestamp_bits = 0,
                "timestamp_bits is 0, but it must be from 16 to 32",
            ),
            (
                |p| (p.connections, p.wheel_slots, p.wheel_tick_bits) = (4096, 16, 2),
                "the wheel spans 64 ticks, but 4096 connections need at least 16384 so that looking again cannot fill the pipeline",
            ),
        ];
        for (edit, reason) in cases {
            let mut params = Params::load("ecp5").unwrap();
            edit(&mut params);
            let refusal = params.check().unwrap_err().to_string();
            assert_eq!(
                refusal,
                format!("the profile '{}' is impossible: {reason}", params.name)
            );
        }
    }

    #[test]
    fn unknown_profiles_and_fields_are_refused() {
        assert!(
            Params::load("huge")
                .unwrap_err()
                .to_string()
                .contains("there is no profile 'huge'")
        );
        assert!(
            Params::load("/nowhere/p.toml")
                .unwrap_err()
                .to_string()
                .starts_with("cannot read the profile")
        );
        let text = format!("{}\ncolour = 3\n", include_str!("../profiles/tiny.toml"));
        assert!(
            Params::from_toml(&text, "p")
                .unwrap_err()
                .to_string()
                .contains("colour")
        );
    }
}
