//! `path_table` against its contract: directed cases, with values worked out by hand.

use metaroce_model::{
    Params,
    port::path_table::{Inputs, LATENCY, Outputs, SAME_PATH_CLOCKS, op, state},
    unit::{Unit, path_table::PathTable},
};

/// An operation, offered with the output open.
fn operation(op: u8, path: u16, now: u32) -> Inputs {
    Inputs {
        s_axis_op_tvalid: true,
        s_axis_op_op: op,
        s_axis_op_path: path,
        s_axis_op_now: now,
        m_axis_result_tready: true,
        ..Default::default()
    }
}

fn idle() -> Inputs {
    Inputs {
        m_axis_result_tready: true,
        ..Default::default()
    }
}

/// A path that is up, on plane 1, with its index as source port and a window of whole packets.
fn configure(path: u16, packets: u16) -> Inputs {
    Inputs {
        s_axis_op_clear: true,
        s_axis_op_plane: 1,
        s_axis_op_source_port: path,
        s_axis_op_state: state::UP,
        s_axis_op_window: packets << 4,
        ..operation(op::CONFIGURE, path, 0)
    }
}

fn acknowledge(path: u16, acknowledged: u16, lost: u16, now: u32) -> Inputs {
    Inputs {
        s_axis_op_acknowledged: acknowledged,
        s_axis_op_lost: lost,
        ..operation(op::ACKNOWLEDGE, path, now)
    }
}

fn sample(path: u16, rtt: u32) -> Inputs {
    Inputs {
        s_axis_op_rtt_valid: true,
        s_axis_op_rtt: rtt,
        ..operation(op::ACKNOWLEDGE, path, 0)
    }
}

/// A unit of profile tiny (2 connections of 4 paths, window of 6 bits, RTT of 10, timestamp of 16) after its clear.
fn tiny() -> PathTable {
    let mut unit = PathTable::new(&Params::load("tiny").unwrap());
    while !unit.outputs().s_axis_op_tready {
        unit.clock(&idle());
    }
    unit
}

/// Does one operation and waits for its result.
fn run(unit: &mut PathTable, operation: Inputs) -> Outputs {
    assert!(unit.outputs().s_axis_op_tready);
    unit.clock(&operation);
    for _ in 0..LATENCY {
        assert!(!unit.outputs().m_axis_result_tvalid);
        unit.clock(&idle());
    }
    let result = unit.outputs();
    assert!(result.m_axis_result_tvalid);
    unit.clock(&idle());
    result
}

/// The path chosen for the connection of `path`, if there is one.
fn select(unit: &mut PathTable, path: u16) -> Option<u16> {
    let result = run(unit, operation(op::SELECT, path, 0));
    if !result.m_axis_result_found {
        assert_eq!(result.m_axis_result_path, path);
    }
    result.m_axis_result_found.then_some(result.m_axis_result_path)
}

/// R3: round robin, two selections a turn, over the eligible paths; after reset it begins behind path 0.
#[test]
fn two_selections_a_turn_round_the_ring() {
    let mut unit = tiny();
    assert_eq!(select(&mut unit, 5), None);
    for path in [4, 5, 7] {
        run(&mut unit, configure(path, 8));
    }
    let chosen: Vec<_> = (0..9).map(|_| select(&mut unit, 6)).collect();
    assert_eq!(chosen, [5, 5, 7, 7, 4, 4, 5, 5, 7].map(Some));
    // Connections are apart.
    assert_eq!(select(&mut unit, 0), None);
    assert_eq!(select(&mut unit, 4), Some(7));
}

/// R3: what the result of a selection holds: the route, and nothing else.
#[test]
fn a_selection_gives_the_route() {
    let mut unit = tiny();
    run(&mut unit, configure(6, 8));
    run(&mut unit, operation(op::SEND, 6, 5));
    let result = run(&mut unit, operation(op::SELECT, 7, 5));
    let expected = Outputs {
        s_axis_op_tready: true,
        m_axis_result_tvalid: true,
        m_axis_result_op: op::SELECT,
        m_axis_result_path: 6,
        m_axis_result_found: true,
        m_axis_result_plane: 1,
        m_axis_result_source_port: 6,
        ..Default::default()
    };
    assert_eq!(result, expected);
    let nothing = run(&mut unit, operation(op::SELECT, 3, 5));
    let expected = Outputs {
        m_axis_result_path: 3,
        m_axis_result_found: false,
        m_axis_result_plane: 0,
        m_axis_result_source_port: 0,
        ..expected
    };
    assert_eq!(nothing, expected);
}

/// R3: the only eligible path is chosen again and again, also path 0 after reset.
#[test]
fn the_last_chosen_path_comes_last_in_the_ring() {
    for path in 0..4 {
        let mut unit = tiny();
        run(&mut unit, configure(path, 8));
        for _ in 0..5 {
            assert_eq!(select(&mut unit, 0), Some(path));
        }
    }
}

/// R3, R8: a turn ends early when its path is not eligible any more, and goes on if nothing was chosen meanwhile.
#[test]
fn a_turn_needs_an_eligible_path() {
    let mut unit = tiny();
    run(&mut unit, configure(1, 1));
    run(&mut unit, configure(2, 8));
    assert_eq!(select(&mut unit, 0), Some(1));
    run(&mut unit, operation(op::SEND, 1, 0));
    assert_eq!(select(&mut unit, 0), Some(2));
    run(&mut unit, acknowledge(1, 1, 0, 0));
    assert_eq!(select(&mut unit, 0), Some(2));
    assert_eq!(select(&mut unit, 0), Some(1));

    let down = |path| Inputs {
        s_axis_op_state: state::DOWN,
        ..configure(path, 8)
    };
    run(&mut unit, down(1));
    run(&mut unit, down(2));
    assert_eq!(select(&mut unit, 0), None);
    run(&mut unit, configure(1, 8));
    run(&mut unit, configure(2, 8));
    let chosen: Vec<_> = (0..3).map(|_| select(&mut unit, 0)).collect();
    assert_eq!(chosen, [1, 2, 2].map(Some));
}

/// R8: eligible is a path that is up and has window open, with a floor of one packet; fractions do not count.
#[test]
fn eligibility() {
    for (path_state, sixteenths, in_flight, expected) in [
        (state::UP, 0, 0, true),
        (state::UP, 0, 1, false),
        (state::UP, 16, 1, false),
        (state::UP, 31, 1, false),
        (state::UP, 32, 1, true),
        (state::UP, 47, 2, false),
        (state::UP, 48, 2, true),
        (state::UP, 1023, 62, true),
        (state::UP, 1023, 63, false),
        (state::DOWN, 160, 0, false),
        (state::SUSPECT, 160, 0, false),
        (state::PROBING, 160, 0, false),
    ] {
        let mut unit = tiny();
        let configured = Inputs {
            s_axis_op_state: path_state,
            s_axis_op_window: sixteenths,
            ..configure(2, 0)
        };
        run(&mut unit, configured);
        for _ in 0..in_flight {
            run(&mut unit, operation(op::SEND, 2, 0));
        }
        assert_eq!(
            select(&mut unit, 2).is_some(),
            expected,
            "{path_state} {sixteenths} {in_flight}"
        );
    }
}

/// R8: packets in flight rise with each one sent, fall with those acknowledged or lost, and stay within their width.
#[test]
fn in_flight_saturates() {
    let mut unit = tiny();
    run(&mut unit, configure(0, 8));
    for sent in 1..70u16 {
        let result = run(&mut unit, operation(op::SEND, 0, 0));
        assert_eq!(result.m_axis_result_in_flight, sent.min(63));
        assert_eq!(result.m_axis_result_utilisation, sent);
    }
    let in_flight = |unit: &mut PathTable, acknowledged, lost| {
        run(unit, acknowledge(0, acknowledged, lost, 0)).m_axis_result_in_flight
    };
    assert_eq!(in_flight(&mut unit, 32, 20), 11);
    assert_eq!(in_flight(&mut unit, 5, 6), 0);
    run(&mut unit, operation(op::SEND, 0, 0));
    assert_eq!(in_flight(&mut unit, 1, 32), 0);
}

/// R2: the running counts of packets and of marks are 16 bits wide and wrap; those that were lost do not count.
#[test]
fn counts_wrap() {
    let mut unit = tiny();
    run(&mut unit, configure(0, 8));
    for round in 1..=2100u32 {
        let counted = Inputs {
            s_axis_op_marked: 31,
            ..acknowledge(0, 32, 7, 0)
        };
        let result = run(&mut unit, counted);
        assert_eq!(u32::from(result.m_axis_result_packets), 32 * round % 65536);
        assert_eq!(u32::from(result.m_axis_result_marked), 31 * round % 65536);
    }
}

/// R2: the integer form of RFC 6298 against a table worked out by hand.
#[test]
fn round_trip_time_follows_rfc_6298() {
    let mut unit = tiny();
    let before = run(&mut unit, configure(0, 8));
    assert!(!before.m_axis_result_rtt_valid);
    assert_eq!(before.m_axis_result_timeout, 1023);
    for (rtt, smoothed, variance, timeout) in [
        (100, 100, 50, 300),    // 8 SRTT 800, 4 RTTVAR 200
        (120, 102, 42, 272),    // 820, 170
        (60, 97, 42, 267),      // 778, 170
        (97, 97, 32, 225),      // 778, 128
        (1000, 210, 249, 1209), // 1681, 999
        (0, 183, 240, 1143),    // 1471, 960
    ] {
        let result = run(&mut unit, sample(0, rtt));
        assert!(result.m_axis_result_rtt_valid);
        assert_eq!(
            (
                result.m_axis_result_smoothed_rtt,
                result.m_axis_result_rtt_variance,
                result.m_axis_result_timeout
            ),
            (smoothed, variance, timeout),
            "after the sample {rtt}"
        );
    }
    // An acknowledgement without a sample leaves the estimate.
    let result = run(&mut unit, acknowledge(0, 3, 0, 0));
    assert_eq!(result.m_axis_result_smoothed_rtt, 183);
    // Nothing is faster than one tick (the clock's granularity).
    run(&mut unit, configure(0, 8));
    assert_eq!(run(&mut unit, sample(0, 0)).m_axis_result_timeout, 1);
    // The largest samples stay within the ports' widths.
    for rtt in [1023, 0, 1023, 0, 1023, 1023, 1023] {
        let result = run(&mut unit, sample(0, rtt));
        assert!(result.m_axis_result_smoothed_rtt < 1024 && result.m_axis_result_rtt_variance < 1024);
    }
}

/// R9: a timeout empties the path, closes its window to one packet, backs off and makes it suspect.
#[test]
fn a_timeout_backs_off() {
    let mut unit = tiny();
    run(&mut unit, configure(0, 8));
    run(&mut unit, sample(0, 100));
    run(&mut unit, operation(op::SEND, 0, 0));
    for round in 1..=20u8 {
        let result = run(&mut unit, operation(op::TIMEOUT, 0, 77));
        assert_eq!(result.m_axis_result_backoff, round.min(15));
        assert_eq!(result.m_axis_result_state, state::SUSPECT);
        assert_eq!(
            (result.m_axis_result_in_flight, result.m_axis_result_window),
            (0, 16)
        );
        let timeout = [600, 1200, 2400, 4800, 9600, 19200]
            .get(usize::from(round) - 1)
            .copied();
        assert_eq!(result.m_axis_result_timeout, timeout.unwrap_or(32767));
        assert_eq!(result.m_axis_result_last_progress, 0);
    }
    assert_eq!(select(&mut unit, 0), None);
    // A loss alone is no progress (R8), an acknowledged packet is.
    let result = run(&mut unit, acknowledge(0, 0, 4, 500));
    assert_eq!(
        (result.m_axis_result_backoff, result.m_axis_result_state),
        (15, state::SUSPECT)
    );
    let result = run(&mut unit, acknowledge(0, 1, 0, 600));
    assert_eq!(
        (result.m_axis_result_backoff, result.m_axis_result_state),
        (0, state::UP)
    );
    assert_eq!(
        (result.m_axis_result_last_progress, result.m_axis_result_timeout),
        (600, 300)
    );
    assert_eq!(select(&mut unit, 0), Some(0));
}

/// R9: only a path that is up becomes suspect, and only a suspect one comes up by an acknowledgement.
#[test]
fn other_states_stay() {
    for kept in [state::DOWN, state::PROBING] {
        let mut unit = tiny();
        let configured = Inputs {
            s_axis_op_state: kept,
            ..configure(1, 8)
        };
        run(&mut unit, configured);
        let result = run(&mut unit, operation(op::TIMEOUT, 1, 0));
        assert_eq!(result.m_axis_result_state, kept);
        assert_eq!(run(&mut unit, acknowledge(1, 1, 0, 0)).m_axis_result_state, kept);
    }
}

/// R2: the utilisation halves once an epoch of 1024 ticks, across the wrap of the timestamp; a selection does not touch it.
#[test]
fn utilisation_decays() {
    let mut unit = tiny();
    run(&mut unit, configure(0, 8));
    let start = 62 << 10;
    for _ in 0..20 {
        run(&mut unit, operation(op::SEND, 0, start));
    }
    let utilisation =
        |unit: &mut PathTable, op, now| run(unit, operation(op, 0, now)).m_axis_result_utilisation;
    assert_eq!(utilisation(&mut unit, op::READ, start + 1023), 20);
    assert_eq!(utilisation(&mut unit, op::READ, 63 << 10), 10);
    assert_eq!(utilisation(&mut unit, op::SELECT, 1 << 10), 0);
    assert_eq!(utilisation(&mut unit, op::SEND, 0), 6);
    assert_eq!(utilisation(&mut unit, op::READ, 2 << 10), 1);
    // A reserved code does what READ does, under its own code.
    let result = run(&mut unit, operation(7, 0, 3 << 10));
    assert_eq!(
        (result.m_axis_result_op, result.m_axis_result_utilisation),
        (7, 0)
    );
    for _ in 0..70 {
        run(&mut unit, operation(op::SEND, 0, 3 << 10));
    }
    assert_eq!(utilisation(&mut unit.clone(), op::READ, 9 << 10), 1);
    assert_eq!(utilisation(&mut unit, op::READ, 19 << 10), 0);
}

/// R2: the utilisation saturates at its 16 bits.
#[test]
fn utilisation_saturates() {
    let mut unit = tiny();
    let mut results = 0;
    while results < 65_540 {
        let outputs = unit.outputs();
        if outputs.m_axis_result_tvalid {
            results += 1;
            assert_eq!(u32::from(outputs.m_axis_result_utilisation), results.min(65_535));
        }
        unit.clock(&operation(op::SEND, 0, 0));
    }
}

/// R2, R9: CONFIGURE moves a path and keeps what was learned about it, unless it is to be cleared.
#[test]
fn configure_with_and_without_clear() {
    let mut unit = tiny();
    run(&mut unit, configure(3, 8));
    run(&mut unit, operation(op::SEND, 3, 0));
    run(&mut unit, operation(op::SEND, 3, 0));
    run(&mut unit, operation(op::TIMEOUT, 3, 0));
    run(&mut unit, operation(op::SEND, 3, 0));
    let learned = Inputs {
        s_axis_op_marked: 2,
        ..sample(3, 50)
    };
    let learned = run(&mut unit, learned);
    let moved = Inputs {
        s_axis_op_clear: false,
        s_axis_op_plane: 0,
        s_axis_op_source_port: 0xcafe,
        s_axis_op_state: state::PROBING,
        s_axis_op_window: 99,
        s_axis_op_now: 1000,
        ..configure(3, 0)
    };
    let result = run(&mut unit, moved);
    let route = Outputs {
        m_axis_result_op: op::CONFIGURE,
        m_axis_result_plane: 0,
        m_axis_result_source_port: 0xcafe,
        m_axis_result_state: state::PROBING,
        m_axis_result_window: 99,
        ..learned
    };
    assert_eq!(result, route);
    assert_eq!(
        (result.m_axis_result_in_flight, result.m_axis_result_backoff),
        (1, 1)
    );
    let result = run(
        &mut unit,
        Inputs {
            s_axis_op_clear: true,
            ..moved
        },
    );
    let cleared = Outputs {
        m_axis_result_in_flight: 0,
        m_axis_result_rtt_valid: false,
        m_axis_result_smoothed_rtt: 0,
        m_axis_result_rtt_variance: 0,
        m_axis_result_timeout: 1023,
        m_axis_result_backoff: 0,
        m_axis_result_marked: 0,
        m_axis_result_utilisation: 0,
        m_axis_result_last_progress: 1000,
        ..route
    };
    assert_eq!(result, cleared);
}

/// The clocks in which the results of `operations`, offered one after the other, come out.
fn result_clocks(operations: &[Inputs]) -> Vec<usize> {
    let mut unit = tiny();
    let (mut next, mut clocks) = (0, vec![]);
    for clock in 0..100 {
        if unit.outputs().m_axis_result_tvalid {
            clocks.push(clock - LATENCY);
        }
        let ready = unit.outputs().s_axis_op_tready;
        unit.clock(operations.get(next).unwrap_or(&idle()));
        next += usize::from(ready);
    }
    clocks
}

/// H1: operations on one path issue `SAME_PATH_CLOCKS` apart, whatever stands between; selections and other paths every clock.
#[test]
fn operations_on_one_path_keep_their_distance() {
    let send = |path| operation(op::SEND, path, 0);
    let choose = operation(op::SELECT, 1, 0);
    let gap = SAME_PATH_CLOCKS;
    assert_eq!(
        result_clocks(&[send(1), send(2), send(3), choose, choose, choose]),
        [1, 2, 3, 4, 5, 6]
    );
    assert_eq!(
        result_clocks(&[send(1), send(1), send(1)]),
        [1, 1 + gap, 1 + 2 * gap]
    );
    assert_eq!(
        result_clocks(&[send(1), choose, choose, send(1), send(2)]),
        [1, 2, 3, 1 + gap, 2 + gap]
    );
}

/// R8: a selection sees every operation issued before it, however shortly.
#[test]
fn a_selection_sees_what_was_issued_before_it() {
    let mut unit = tiny();
    let operations = [
        configure(2, 1),
        operation(op::SELECT, 0, 0),
        operation(op::SELECT, 0, 0),
        configure(3, 1),
        operation(op::SELECT, 0, 0),
    ];
    for operation in &operations {
        assert!(unit.outputs().s_axis_op_tready);
        unit.clock(operation);
    }
    let mut chosen = vec![];
    for _ in 0..2 * LATENCY {
        let result = unit.outputs();
        if result.m_axis_result_tvalid && result.m_axis_result_op == op::SELECT {
            chosen.push((result.m_axis_result_path, result.m_axis_result_source_port));
        }
        unit.clock(&idle());
    }
    assert_eq!(chosen, [(2, 2), (2, 2), (3, 3)]);
}

/// H1: the clear after reset takes `connections * paths` clocks, counted from the last clock with `rst` high.
#[test]
fn the_clear_after_reset_is_counted() {
    for profile in ["tiny", "ecp5"] {
        let params = Params::load(profile).unwrap();
        let mut unit = PathTable::new(&params);
        let not_ready = |unit: &mut PathTable| {
            let mut clocks = 0;
            while !unit.outputs().s_axis_op_tready {
                assert_eq!(unit.outputs(), Outputs::default());
                unit.clock(&configure(1, 8));
                clocks += 1;
            }
            clocks
        };
        assert_eq!(not_ready(&mut unit), params.total_paths());
        while !unit.outputs().m_axis_result_tvalid {
            unit.clock(&configure(1, 8));
        }
        for _ in 0..3 {
            unit.clock(&Inputs {
                rst: true,
                ..configure(1, 8)
            });
            assert_eq!(unit.outputs(), Outputs::default());
        }
        assert_eq!(not_ready(&mut unit), params.total_paths());
        assert_eq!(select(&mut unit, 1), None);
        let expected = Outputs {
            s_axis_op_tready: true,
            m_axis_result_tvalid: true,
            m_axis_result_op: op::READ,
            m_axis_result_path: 1,
            m_axis_result_timeout: (1 << params.rtt_bits) - 1,
            ..Default::default()
        };
        assert_eq!(run(&mut unit, operation(op::READ, 1, 12345)), expected);
    }
}
