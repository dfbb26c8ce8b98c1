//! `deparser` against its contract: random headers and payloads against a slow reference that puts frames together bit by
//! bit.

mod common;

use common::{
    Delay,
    frames::{Frame, beat_of, bytes_of, icrc, ones, opcode, random_headers},
    random_beat,
};
use metaroce_model::{
    Params,
    params::PROFILES,
    port::{
        Beat,
        deparser::{Inputs, LATENCY, Outputs},
    },
    unit::{Unit, deparser::Deparser},
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// A frame of the slow reference: its bytes as far as they are known.
struct Making {
    bytes: Vec<u8>,
    payload_bytes: usize,
    header_bytes: usize,
    at: usize,
    plane: u8,
}

/// The slow reference.
struct Reference {
    params: Params,
    data: Option<Inputs>,
    ack: Option<Inputs>,
    chose_data: bool,
    making: Option<Making>,
    delay: Delay<(Beat, u64, bool, u8)>,
    bins: BTreeMap<&'static str, u32>,
}

impl Reference {
    fn new(params: &Params) -> Self {
        Self {
            params: params.clone(),
            data: None,
            ack: None,
            chose_data: true,
            making: None,
            delay: Delay::new(LATENCY),
            bins: BTreeMap::new(),
        }
    }

    fn hit(&mut self, bin: &'static str, condition: bool) {
        *self.bins.entry(bin).or_default() += u32::from(condition);
    }

    /// The bytes of payload in the next beat, by their lanes.
    fn payload_lanes(&self) -> std::ops::Range<usize> {
        let lanes = self.params.lanes() as usize;
        let Some(making) = &self.making else { return 0..0 };
        let lane = |byte: usize| byte.saturating_sub(making.at).min(lanes);
        lane(making.header_bytes)..lane(making.header_bytes + making.payload_bytes)
    }

    fn outputs(&self) -> Outputs {
        let (tdata, tkeep, tlast, plane) = self.delay.head().copied().unwrap_or_default();
        Outputs {
            s_axis_data_tready: self.data.is_none(),
            s_axis_ack_tready: self.ack.is_none(),
            s_axis_payload_tready: self.delay.moves() && !self.payload_lanes().is_empty(),
            m_axis_tx_tvalid: self.delay.head().is_some(),
            m_axis_tx_tdata: tdata,
            m_axis_tx_tkeep: tkeep,
            m_axis_tx_tlast: tlast,
            m_axis_tx_plane: plane,
        }
    }

    fn clock(&mut self, inputs: &Inputs) {
        self.hit("reset in a frame", inputs.rst && self.making.is_some());
        if inputs.rst {
            let bins = std::mem::take(&mut self.bins);
            *self = Self::new(&self.params);
            self.bins = bins;
            return;
        }
        let ready = self.outputs();
        let moves = self.delay.moves();
        self.hit("stall", !moves && self.making.is_some());
        let beat = if moves { self.beat(inputs) } else { None };
        self.delay.clock(beat, inputs.m_axis_tx_tready);
        if moves && self.making.is_none() {
            let takes_data = self.data.is_some() && (self.ack.is_none() || !self.chose_data);
            self.hit("both wait", self.data.is_some() && self.ack.is_some());
            let udp_port = self.params.udp_port;
            let chosen = if takes_data {
                self.data.take()
            } else {
                self.ack.take()
            };
            if let Some(header) = chosen {
                self.chose_data = takes_data;
                self.hit("frame after frame", beat.is_some());
                let (frame, plane) = if takes_data {
                    (Frame::of_data(&header, &[], udp_port), header.s_axis_data_plane)
                } else {
                    (Frame::of_ack(&header, udp_port), header.s_axis_ack_plane)
                };
                let payload_bytes = if opcode::DATA.contains(&frame.opcode) {
                    usize::from(header.s_axis_data_payload_bytes)
                } else {
                    0
                };
                let bytes = frame.headers(payload_bytes);
                let lanes = self.params.lanes() as usize;
                let spill = (bytes.len() + payload_bytes) % lanes;
                self.hit("checksum in two beats", spill + 4 > lanes);
                self.hit("checksum in a beat of its own", spill == 0);
                self.hit("frame ends with a beat", (spill + 4).is_multiple_of(lanes));
                self.hit(
                    "data without payload",
                    opcode::DATA.contains(&frame.opcode) && payload_bytes == 0,
                );
                self.hit(
                    "payload of an MTU",
                    payload_bytes == self.params.mtu_bytes as usize,
                );
                self.hit("write", frame.opcode <= opcode::WRITE_IMMEDIATE);
                self.hit(
                    "send",
                    [opcode::SEND, opcode::SEND_IMMEDIATE].contains(&frame.opcode),
                );
                self.hit("probe", frame.opcode == opcode::PROBE);
                self.hit("ack", frame.opcode == opcode::ACK);
                self.hit("nak", frame.opcode == opcode::NAK);
                self.making = Some(Making {
                    header_bytes: bytes.len(),
                    bytes,
                    payload_bytes,
                    at: 0,
                    plane,
                });
            }
        }
        if ready.s_axis_data_tready && inputs.s_axis_data_tvalid {
            self.data = Some(*inputs);
        }
        if ready.s_axis_ack_tready && inputs.s_axis_ack_tvalid {
            self.ack = Some(*inputs);
        }
    }

    fn beat(&mut self, inputs: &Inputs) -> Option<(Beat, u64, bool, u8)> {
        let lanes = self.params.lanes() as usize;
        let payload = self.payload_lanes();
        let waits = !payload.is_empty() && !inputs.s_axis_payload_tvalid;
        self.hit("payload is late", waits);
        let making = self.making.as_mut()?;
        if waits {
            return None;
        }
        making
            .bytes
            .extend(&bytes_of(&inputs.s_axis_payload_tdata, lanes)[payload]);
        if making.bytes.len() == making.header_bytes + making.payload_bytes {
            let checksum = icrc(&making.bytes);
            making.bytes.extend(checksum);
        }
        let bytes = &making.bytes[making.at..making.bytes.len().min(making.at + lanes)];
        let end = making.header_bytes + making.payload_bytes + 4;
        let last = making.at + lanes >= end;
        let beat = (beat_of(bytes), ones(bytes.len()), last, making.plane);
        assert!(bytes.len() == lanes || last);
        making.at += lanes;
        if last {
            self.making = None;
        }
        Some(beat)
    }
}

/// R2, R4, R5, R6, H1: every output in every clock is the reference's, for each profile, with every opcode, stalls, payload that is
/// late and resets.
#[test]
fn random_headers_match_the_reference() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for profile in PROFILES {
        let params = Params::load(profile).unwrap();
        let mut unit = Deparser::new(&params);
        let mut reference = Reference::new(&params);
        for clock in 0..60_000 {
            let phase = clock / 1024;
            let outputs = unit.outputs();
            assert_eq!(outputs, reference.outputs(), "{profile}, clock {clock}");
            let mut inputs = Inputs::default();
            // Fields are noise while nothing is offered, but costly to make in every clock.
            if outputs.s_axis_data_tready || outputs.s_axis_ack_tready {
                inputs = random_headers(&mut random, &params);
                inputs.s_axis_data_tvalid = random.random_ratio([16, 2][phase % 2], 16);
                inputs.s_axis_ack_tvalid = random.random_ratio([2, 16, 1][phase / 2 % 3], 16);
            }
            inputs.rst = random.random_ratio(1, 3000);
            inputs.s_axis_payload_tvalid = random.random_ratio([16, 8][phase / 3 % 2], 16);
            inputs.s_axis_payload_tdata = random_beat(&mut random, &params);
            inputs.m_axis_tx_tready = random.random_ratio([16, 12, 4][phase / 4 % 3], 16);
            unit.clock(&inputs);
            reference.clock(&inputs);
        }
        for (bin, hits) in &reference.bins {
            assert!(*hits > 0, "{profile}: '{bin}' never occurred");
        }
        assert_eq!(reference.bins.len(), 15);
    }
}
