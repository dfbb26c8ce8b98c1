//! How fast `nic` is, in clocks: what docs/performance.md states. Counts of clocks of the model, no times.

use metaroce_model::{
    Params,
    pair::{Faults, IMMEDIATE, Message, Pair, Setup},
    port::{configuration::command, nic},
    unit::{Unit, nic::Nic},
};

const SOURCE: u64 = 0x1_0000_0000_0000;
const TARGET: u64 = 0x2_0000_0000;
const KEY: u32 = 0x0100_0003;

fn pair(params: &Params) -> Pair<Nic, Nic> {
    // The other end is near: what is measured is the NIC, not the way.
    let near = Faults {
        delay: 5,
        skew: 0,
        ..Faults::NONE
    };
    let mut pair = Pair::new(params, Nic::new(params), Nic::new(params), near, 1);
    for end in [&mut pair.left, &mut pair.right] {
        end.host.memory.allow(TARGET..TARGET + (1 << 32));
        end.host.command(nic::Inputs {
            s_axis_command_command: command::REGION,
            s_axis_command_key: KEY,
            s_axis_command_address: TARGET,
            s_axis_command_mac: 1 << 32,
            s_axis_command_domain: 1,
            s_axis_command_flag: true,
            ..Default::default()
        });
    }
    let setup = |end| Setup {
        window: 64,
        ..Setup::new(end)
    };
    pair.configure(params, setup).unwrap();
    pair
}

fn message(number: u64, length: u32) -> Message {
    Message {
        kind: IMMEDIATE,
        length,
        local: SOURCE + number * u64::from(length),
        remote: TARGET + number * u64::from(length),
        key: KEY,
        immediate: 1,
    }
}

/// Frames and beats that the left NIC sends in `clocks`, after `warm_up`.
fn sent(pair: &mut Pair<Nic, Nic>, warm_up: u64, clocks: u64) -> (u64, u64) {
    let (mut frames, mut beats) = (0, 0);
    for clock in 0..warm_up + clocks {
        let outputs = pair.left.nic.outputs();
        if clock >= warm_up && outputs.m_axis_tx_tvalid {
            beats += 1;
            frames += u64::from(outputs.m_axis_tx_tlast);
        }
        pair.step().unwrap();
    }
    (frames, beats)
}

/// R3, R8: packets of an MTU keep the bus full: a beat in every clock.
#[test]
fn full_packets_keep_the_bus_full() {
    for profile in ["tiny", "ecp5"] {
        let params = Params::load(profile).unwrap();
        let mut pair = pair(&params);
        for number in 0..40 {
            let stream = number % u64::from(params.total_streams());
            pair.post(0, stream as u16, message(number, 64 * params.mtu_bytes));
        }
        let clocks = 20_000;
        let (frames, beats) = sent(&mut pair, 20_000, clocks);
        println!("{profile}: {frames} frames, {beats} beats in {clocks} clocks");
        assert!(
            beats * 1000 >= clocks * 995,
            "{profile}: {beats} beats in {clocks} clocks"
        );
    }
}

/// R10: how many clocks a message of 64 bytes takes, on one connection and on all.
#[test]
fn small_messages() {
    let profile = "ecp5";
    let params = Params::load(profile).unwrap();
    let frame_beats = (88u64 + 64 + 4).div_ceil(params.lanes().into());
    for connections in [1, params.connections] {
        let mut pair = pair(&params);
        let streams = u64::from(connections * params.streams);
        for number in 0..4000 {
            pair.post(0, (number % streams) as u16, message(number, 64));
        }
        let clocks = 10_000;
        let (frames, _) = sent(&mut pair, 5000, clocks);
        println!(
            "{profile}, {connections} connections: a message of 64 bytes every {:.1} clocks; its frame has {frame_beats} beats",
            clocks as f64 / frames as f64
        );
        let most = if connections == 1 { 80 } else { 30 };
        assert!(
            frames * most >= clocks,
            "{profile}, {connections}: {frames} in {clocks} clocks"
        );
    }
}

/// R4, R11: clocks from an accepted work request to the frame's first beat, and from a frame's last beat to the completion at the receiver, at rest.
#[test]
fn latency_at_rest() {
    for profile in ["tiny", "ecp5"] {
        let params = Params::load(profile).unwrap();
        let mut pair = pair(&params);
        pair.left.host.pace.latency = 1;
        pair.post(0, 0, message(0, 64));
        let (mut accepted, mut first_beat, mut last_in, mut completed) = (None, None, None, None);
        let mut offered = 0;
        while completed.is_none() {
            let (left, right) = (pair.left.nic.outputs(), pair.right.nic.outputs());
            if offered == 0 {
                accepted = Some(pair.clock);
                offered = 1;
            }
            if left.m_axis_tx_tvalid && first_beat.is_none() {
                first_beat = Some(pair.clock);
            }
            if right.m_axis_cqe_tvalid {
                completed = Some(pair.clock);
            }
            let before = pair.left.link.is_idle();
            pair.step().unwrap();
            if first_beat.is_some() && !before && pair.left.link.is_idle() && last_in.is_none() {
                last_in = Some(pair.clock - 1);
            }
            assert!(pair.clock < 100_000);
        }
        let [accepted, first_beat, last_in, completed] =
            [accepted, first_beat, last_in, completed].map(Option::unwrap);
        println!(
            "{profile}: {} clocks from work request to first beat, {} from last beat to completion",
            first_beat - accepted,
            completed - last_in
        );
        assert!(first_beat - accepted < 200 && completed - last_in < 200);
    }
}
