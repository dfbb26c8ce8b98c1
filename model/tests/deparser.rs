//! `deparser` against its contract: directed cases.

mod common;

use common::frames::{beat_of, bytes_of, icrc, ones, opcode};
use metaroce_model::{
    Params,
    params::PROFILES,
    port::deparser::{Inputs, LATENCY, Outputs},
    unit::{Unit, deparser::Deparser},
    wire::{Base, Body, Data, Packet, Route, Target},
};

/// Nothing offered, the output open.
fn idle() -> Inputs {
    Inputs {
        m_axis_tx_tready: true,
        ..Default::default()
    }
}

/// A header of data with another value in every field.
fn data(opcode: u8, payload_bytes: u16) -> Inputs {
    Inputs {
        s_axis_data_tvalid: true,
        s_axis_data_destination_mac: 0x0102_0304_0506,
        s_axis_data_source_mac: 0x1112_1314_1516,
        s_axis_data_source_address: 0x0a0b_0c0d,
        s_axis_data_destination_address: 0xc0a8_0107,
        s_axis_data_source_port: 0xbeef,
        s_axis_data_dscp: 0x2a,
        s_axis_data_plane: 1,
        s_axis_data_opcode: opcode,
        s_axis_data_flags: 3,
        s_axis_data_connection: 0x12_3456,
        s_axis_data_path: 2,
        s_axis_data_psn: 0xa7,
        s_axis_data_timestamp: 0x9876,
        s_axis_data_payload_bytes: payload_bytes,
        s_axis_data_stream: 0x7788,
        s_axis_data_message: 0xab_cdef,
        s_axis_data_message_length: 0x0123_4567,
        s_axis_data_offset: 0x89ab_cdef,
        s_axis_data_immediate: 0xdead_beef,
        s_axis_data_key: 0x5566_7788,
        s_axis_data_address: 0x1020_3040_5060_7080,
        s_axis_data_receive: 0x65_4321,
        ..idle()
    }
}

fn ack(opcode: u8) -> Inputs {
    Inputs {
        s_axis_ack_tvalid: true,
        s_axis_ack_opcode: opcode,
        s_axis_ack_psn: 0x44,
        s_axis_ack_code: 3,
        ..idle()
    }
}

fn tiny() -> Deparser {
    Deparser::new(&Params::load("tiny").unwrap())
}

/// The frames that come out when the headers of `inputs` are offered as soon as they may, with zeros as payload; each with
/// the clock of its first beat, and the clock of its last.
fn frames(unit: &mut Deparser, params: &Params, offers: &[Inputs]) -> Vec<(Vec<u8>, usize, usize)> {
    let (mut next, mut frames, mut bytes, mut first) = (0, vec![], vec![], None);
    let mut clock = 0;
    while frames.len() < offers.len() {
        let outputs = unit.outputs();
        let mut inputs = idle();
        if let Some(offer) = offers.get(next) {
            inputs = *offer;
            let ready = if offer.s_axis_data_tvalid {
                outputs.s_axis_data_tready
            } else {
                outputs.s_axis_ack_tready
            };
            next += usize::from(ready);
        }
        inputs.s_axis_payload_tvalid = true;
        if outputs.m_axis_tx_tvalid {
            first = first.or(Some(clock));
            let keep = outputs.m_axis_tx_tkeep.count_ones() as usize;
            assert_eq!(outputs.m_axis_tx_tkeep, ones(keep));
            bytes.extend(bytes_of(&outputs.m_axis_tx_tdata, keep));
            if outputs.m_axis_tx_tlast {
                frames.push((std::mem::take(&mut bytes), first.take().unwrap(), clock));
            } else {
                assert_eq!(keep, params.lanes() as usize);
            }
        }
        unit.clock(&inputs);
        clock += 1;
        assert!(clock < 100_000, "a frame never came");
    }
    frames
}

/// R2, R5: the bytes of a probe are these, written by hand; every constant and length is in them.
#[test]
fn a_probe_byte_by_byte() {
    let params = Params::load("tiny").unwrap();
    let got = frames(&mut tiny(), &params, &[data(opcode::PROBE, 99)]);
    // The sum of the IPv4 header's words is 0x19db0, folded 0x9db1, complemented 0x624e.
    let mut expected = vec![
        0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x08, 0x00, //
        0x45, 0xaa, 0x00, 0x2e, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x62, 0x4e, //
        0x0a, 0x0b, 0x0c, 0x0d, 0xc0, 0xa8, 0x01, 0x07, //
        0xbe, 0xef, 0xee, 0x48, 0x00, 0x1a, 0x00, 0x00, //
        0x03, 0x12, 0x12, 0x34, 0x56, 0x02, 0x00, 0x00, 0xa7, 0x00, 0x00, 0x98, 0x76, 0x00,
    ];
    let checksum = icrc(&expected);
    expected.extend(checksum);
    assert_eq!(got[0].0, expected);
}

/// R5: what the table's encoder makes of a packet is what the unit makes, for every profile and kind of payload.
#[test]
fn frames_are_those_of_the_encoder() {
    for profile in PROFILES {
        let params = Params::load(profile).unwrap();
        for payload_bytes in [0, 1, 3, 4, 5, 8, 63, 64, 255, params.mtu_bytes] {
            let inputs = data(opcode::WRITE_IMMEDIATE, payload_bytes as u16);
            let packet = Packet {
                route: Route {
                    destination_mac: inputs.s_axis_data_destination_mac,
                    source_mac: inputs.s_axis_data_source_mac,
                    dscp: inputs.s_axis_data_dscp,
                    ecn: 2,
                    source_address: inputs.s_axis_data_source_address,
                    destination_address: inputs.s_axis_data_destination_address,
                    source_port: inputs.s_axis_data_source_port,
                },
                base: Base {
                    last: true,
                    acknowledge: true,
                    connection: inputs.s_axis_data_connection,
                    path: inputs.s_axis_data_path,
                    psn: inputs.s_axis_data_psn,
                    timestamp: inputs.s_axis_data_timestamp,
                },
                body: Body::Data(Data {
                    stream: inputs.s_axis_data_stream,
                    message: inputs.s_axis_data_message,
                    message_length: inputs.s_axis_data_message_length,
                    offset: inputs.s_axis_data_offset,
                    immediate: Some(inputs.s_axis_data_immediate),
                    target: Target::Write {
                        key: inputs.s_axis_data_key,
                        address: inputs.s_axis_data_address,
                    },
                }),
            };
            let expected = packet.encode(&vec![0; payload_bytes as usize], params.udp_port as u16);
            let got = frames(&mut Deparser::new(&params), &params, &[inputs]);
            assert_eq!(got[0].0, expected, "{profile}, {payload_bytes} bytes");
        }
    }
}

/// R4: accepted in clock 0, chosen in 1, the first beat enters in 2 and comes out `LATENCY` clocks later; then frames follow
/// each other without a bubble, with and without payload.
#[test]
fn frames_back_to_back_without_a_bubble() {
    for profile in PROFILES {
        let params = Params::load(profile).unwrap();
        let lanes = params.lanes() as usize;
        // A register is refilled in the second clock after its choice, so that one stream alone cannot fill frames of one beat.
        let offers = match lanes {
            64 => [
                ack(opcode::ACK),
                data(opcode::WRITE, 100),
                ack(opcode::NAK),
                data(opcode::SEND, 0),
                ack(opcode::ACK),
                data(opcode::PROBE, 0),
            ],
            _ => [
                data(opcode::PROBE, 0),
                data(opcode::WRITE, 200),
                data(opcode::SEND, 0),
                data(opcode::SEND_IMMEDIATE, 7),
                ack(opcode::ACK),
                data(opcode::WRITE, 1),
            ],
        };
        let got = frames(&mut Deparser::new(&params), &params, &offers);
        let mut clock = 2 + LATENCY;
        for (bytes, first, last) in got {
            assert_eq!(first, clock, "{profile}");
            clock += bytes.len().div_ceil(lanes);
            assert_eq!(last + 1, clock);
        }
    }
}

/// R6: of two headers that wait an acknowledgement's is chosen first after reset, then they take turns; a choice without
/// competition counts too.
#[test]
fn data_and_acknowledgements_take_turns() {
    let mut unit = tiny();
    let both = Inputs {
        s_axis_data_tvalid: true,
        ..data(opcode::PROBE, 0)
    };
    let both = Inputs {
        s_axis_ack_tvalid: true,
        s_axis_ack_opcode: opcode::NAK,
        ..both
    };
    let mut order = vec![];
    // Byte 43 is the opcode: lane 3 of the sixth beat.
    let run = |unit: &mut Deparser, inputs: Inputs, clocks: usize, order: &mut Vec<u8>, beat: &mut usize| {
        for _ in 0..clocks {
            let outputs = unit.outputs();
            if outputs.m_axis_tx_tvalid {
                if *beat == 5 {
                    order.push(outputs.m_axis_tx_tdata.data[0].to_le_bytes()[3]);
                }
                *beat = if outputs.m_axis_tx_tlast { 0 } else { *beat + 1 };
            }
            unit.clock(&inputs);
        }
    };
    let mut beat = 0;
    run(&mut unit, both, 40, &mut order, &mut beat);
    run(&mut unit, idle(), 60, &mut order, &mut beat);
    assert_eq!(
        &order[..4],
        [opcode::NAK, opcode::PROBE, opcode::NAK, opcode::PROBE]
    );
    // A probe alone, then both: the acknowledgement is first.
    order.clear();
    run(&mut unit, data(opcode::PROBE, 0), 1, &mut order, &mut beat);
    run(&mut unit, idle(), 60, &mut order, &mut beat);
    run(&mut unit, both, 1, &mut order, &mut beat);
    run(&mut unit, idle(), 60, &mut order, &mut beat);
    // An acknowledgement alone, then both: data is first.
    run(&mut unit, ack(opcode::NAK), 1, &mut order, &mut beat);
    run(&mut unit, idle(), 60, &mut order, &mut beat);
    run(&mut unit, both, 1, &mut order, &mut beat);
    run(&mut unit, idle(), 60, &mut order, &mut beat);
    use opcode::{NAK, PROBE};
    assert_eq!(order, [PROBE, NAK, PROBE, NAK, PROBE, NAK]);
}

/// H1: a reset in any clock of a frame leaves nothing of it; the next frame is whole.
#[test]
fn a_reset_forgets_the_frame() {
    let params = Params::load("tiny").unwrap();
    let expected = frames(&mut tiny(), &params, &[data(opcode::SEND, 20)]);
    for clocks in 0..40 {
        let mut unit = tiny();
        let busy = Inputs {
            s_axis_payload_tvalid: true,
            s_axis_payload_tdata: beat_of(&[0xff; 8]),
            s_axis_ack_tvalid: true,
            s_axis_ack_opcode: opcode::ACK,
            ..data(opcode::WRITE, 40)
        };
        for _ in 0..clocks {
            unit.clock(&busy);
        }
        unit.clock(&Inputs { rst: true, ..busy });
        let ready = Outputs {
            s_axis_data_tready: true,
            s_axis_ack_tready: true,
            ..Default::default()
        };
        assert_eq!(unit.outputs(), ready);
        assert_eq!(frames(&mut unit, &params, &[data(opcode::SEND, 20)]), expected);
    }
}
