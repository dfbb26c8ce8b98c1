//! `sack_rx` against its contract: directed cases.

mod common;

use common::sized;
use metaroce_model::{
    Params,
    port::{
        Vector,
        sack_rx::{COMMIT, Inputs, LATENCY, Outputs, op, verdict},
    },
    unit::{Unit, sack_rx::SackRx},
};

/// An operation, offered with the output open.
fn operation(op: u8, path: u16, psn: u32) -> Inputs {
    Inputs {
        s_axis_rx_tvalid: true,
        s_axis_rx_op: op,
        s_axis_rx_path: path,
        s_axis_rx_psn: psn,
        m_axis_rx_tready: true,
        ..Default::default()
    }
}

fn idle() -> Inputs {
    Inputs {
        m_axis_rx_tready: true,
        ..Default::default()
    }
}

/// A unit of profile tiny (32-bit vector, 8-bit PSN) after its clear.
fn tiny() -> SackRx {
    let mut unit = SackRx::new(&Params::load("tiny").unwrap());
    while !unit.outputs().s_axis_rx_tready {
        unit.clock(&idle());
    }
    unit
}

/// Does one operation and waits for its result, so that its base is committed.
fn run(unit: &mut SackRx, op: u8, path: u16, psn: u32) -> Outputs {
    while !unit.outputs().s_axis_rx_tready {
        unit.clock(&idle());
    }
    unit.clock(&operation(op, path, psn));
    for _ in 1..LATENCY {
        assert!(!unit.outputs().m_axis_rx_tvalid);
        unit.clock(&idle());
    }
    let result = unit.outputs();
    assert!(result.m_axis_rx_tvalid);
    unit.clock(&idle());
    result
}

fn packet(unit: &mut SackRx, psn: u32) -> Outputs {
    run(unit, op::PACKET, 3, psn)
}

fn bits(set: &[usize]) -> Vector {
    let mut vector = Vector::ZERO;
    for &bit in set {
        vector.set(bit, true);
    }
    vector
}

/// R6: packets in order move the base and leave the vector empty.
#[test]
fn in_order() {
    let mut unit = tiny();
    for psn in 0..600u32 {
        let result = packet(&mut unit, psn & 0xff);
        assert_eq!(result.m_axis_rx_verdict, verdict::NEW);
        assert_eq!(result.m_axis_rx_base, (psn + 1) & 0xff);
        assert_eq!(result.m_axis_rx_vector, Vector::ZERO);
        assert!(!result.m_axis_rx_hole && !result.m_axis_rx_new_hole && !result.m_axis_rx_filled);
    }
}

/// R4, R6: a gap shows at once, each later packet has its bit, and the packet that fills it moves the base past all.
#[test]
fn a_hole_and_its_filling() {
    let mut unit = tiny();
    packet(&mut unit, 0);
    let result = packet(&mut unit, 3);
    assert!(result.m_axis_rx_new_hole && result.m_axis_rx_hole && !result.m_axis_rx_filled);
    assert_eq!((result.m_axis_rx_base, result.m_axis_rx_vector), (1, bits(&[3])));
    let result = packet(&mut unit, 4);
    assert!(!result.m_axis_rx_new_hole && result.m_axis_rx_hole && !result.m_axis_rx_filled);
    assert_eq!(result.m_axis_rx_vector, bits(&[3, 4]));
    let result = packet(&mut unit, 2);
    assert!(!result.m_axis_rx_new_hole && result.m_axis_rx_hole && result.m_axis_rx_filled);
    assert_eq!(
        (result.m_axis_rx_base, result.m_axis_rx_vector),
        (1, bits(&[2, 3, 4]))
    );
    let result = packet(&mut unit, 1);
    assert!(!result.m_axis_rx_new_hole && !result.m_axis_rx_hole && result.m_axis_rx_filled);
    assert_eq!(
        (result.m_axis_rx_base, result.m_axis_rx_vector),
        (5, Vector::ZERO)
    );
}

/// R6: the verdict at each edge of the window and of half the range; the vector's index is the PSN modulo its length.
#[test]
fn edges_of_the_window() {
    for base in [0u32, 1, 31, 32, 100, 127, 128, 224, 225, 255] {
        for (ahead, expected) in [
            (0, verdict::NEW),
            (31, verdict::NEW),
            (32, verdict::OUT_OF_WINDOW),
            (127, verdict::OUT_OF_WINDOW),
            (128, verdict::DUPLICATE),
            (255, verdict::DUPLICATE),
        ] {
            let mut unit = tiny();
            run(&mut unit, op::INIT, 3, base);
            let psn = (base + ahead) & 0xff;
            let result = packet(&mut unit, psn);
            assert_eq!(result.m_axis_rx_verdict, expected, "base {base}, ahead {ahead}");
            assert_eq!(
                (result.m_axis_rx_op, result.m_axis_rx_path, result.m_axis_rx_psn),
                (op::PACKET, 3, psn)
            );
            let (base_after, vector) = match ahead {
                0 => ((base + 1) & 0xff, Vector::ZERO),
                31 => (base, bits(&[psn as usize % 32])),
                _ => (base, Vector::ZERO),
            };
            assert_eq!(
                (result.m_axis_rx_base, result.m_axis_rx_vector),
                (base_after, vector)
            );
            let again = packet(&mut unit, psn);
            let again_expected = match expected {
                verdict::NEW => verdict::DUPLICATE,
                other => other,
            };
            assert_eq!(again.m_axis_rx_verdict, again_expected);
            assert_eq!(
                (again.m_axis_rx_base, again.m_axis_rx_vector),
                (base_after, vector)
            );
        }
    }
}

/// R6: a whole window received backwards, with the base last, at every length of the vector and across its wrap.
#[test]
fn a_full_window_backwards() {
    for sack_bits in [16u32, 32, 64, 128, 256] {
        let mut unit = SackRx::new(&sized(sack_bits));
        let first = 3 * sack_bits + 5;
        run(&mut unit, op::INIT, 0, first);
        for ahead in (1..sack_bits).rev() {
            let result = run(&mut unit, op::PACKET, 0, first + ahead);
            assert_eq!(
                (result.m_axis_rx_verdict, result.m_axis_rx_base),
                (verdict::NEW, first)
            );
            assert_eq!(result.m_axis_rx_vector.count_ones() as u32, sack_bits - ahead);
        }
        let result = run(&mut unit, op::PACKET, 0, first);
        assert_eq!(result.m_axis_rx_base, (first + sack_bits) & (4 * sack_bits - 1));
        assert_eq!(
            (result.m_axis_rx_vector, result.m_axis_rx_hole),
            (Vector::ZERO, false)
        );
    }
}

/// R2: INIT starts one path anew and leaves the others.
#[test]
fn init_starts_one_path_anew() {
    let mut unit = tiny();
    packet(&mut unit, 1);
    run(&mut unit, op::PACKET, 4, 2);
    let result = run(&mut unit, op::INIT, 3, 77);
    assert_eq!(
        (result.m_axis_rx_op, result.m_axis_rx_verdict),
        (op::INIT, verdict::NEW)
    );
    assert_eq!(
        (result.m_axis_rx_base, result.m_axis_rx_vector),
        (77, Vector::ZERO)
    );
    assert!(!result.m_axis_rx_hole && !result.m_axis_rx_new_hole && !result.m_axis_rx_filled);
    assert_eq!(packet(&mut unit, 76).m_axis_rx_verdict, verdict::DUPLICATE);
    assert_eq!(packet(&mut unit, 77).m_axis_rx_verdict, verdict::NEW);
    let result = run(&mut unit, op::PACKET, 4, 1);
    assert_eq!(
        (result.m_axis_rx_base, result.m_axis_rx_vector),
        (0, bits(&[1, 2]))
    );
}

/// R6: a base counts as the window `COMMIT` moving clocks after its operation was accepted, and not before.
#[test]
fn the_window_lags_by_commit() {
    for distance in 1..=COMMIT + 1 {
        let mut unit = tiny();
        unit.clock(&operation(op::PACKET, 3, 0));
        for _ in 1..distance {
            unit.clock(&idle());
        }
        unit.clock(&operation(op::PACKET, 3, 32));
        for _ in 1..LATENCY {
            unit.clock(&idle());
        }
        let expected = if distance < COMMIT {
            verdict::OUT_OF_WINDOW
        } else {
            verdict::NEW
        };
        assert_eq!(unit.outputs().m_axis_rx_verdict, expected, "distance {distance}");
        assert_eq!(unit.outputs().m_axis_rx_base, 1);
    }
}

/// R6: while the window lags, what lies between it and the base is a duplicate, as it is everywhere else.
#[test]
fn a_duplicate_is_found_at_every_distance() {
    for distance in 1..=2 * COMMIT {
        let mut unit = tiny();
        unit.clock(&operation(op::PACKET, 3, 0));
        for _ in 1..distance {
            unit.clock(&idle());
        }
        assert_eq!(
            packet_at_once(&mut unit, 0),
            verdict::DUPLICATE,
            "distance {distance}"
        );
    }
}

/// The verdict on a packet that is accepted in the present clock.
fn packet_at_once(unit: &mut SackRx, psn: u32) -> u8 {
    unit.clock(&operation(op::PACKET, 3, psn));
    for _ in 1..LATENCY {
        unit.clock(&idle());
    }
    unit.outputs().m_axis_rx_verdict
}

/// H1: after an INIT nothing is accepted for `COMMIT - 1` moving clocks; clocks in which the pipeline stands do not count.
#[test]
fn nothing_is_accepted_after_an_init() {
    let mut unit = tiny();
    unit.clock(&operation(op::INIT, 3, 9));
    for _ in 1..COMMIT {
        assert!(!unit.outputs().s_axis_rx_tready);
        unit.clock(&idle());
    }
    assert!(unit.outputs().s_axis_rx_tready);

    let mut unit = tiny();
    unit.clock(&operation(op::PACKET, 0, 0));
    unit.clock(&operation(op::PACKET, 1, 0));
    let closed = Inputs::default();
    for _ in 0..LATENCY - 2 {
        unit.clock(&closed);
    }
    assert!(unit.outputs().m_axis_rx_tvalid && unit.outputs().s_axis_rx_tready);
    unit.clock(&Inputs {
        m_axis_rx_tready: false,
        ..operation(op::INIT, 3, 9)
    });
    for _ in 0..100 {
        assert!(!unit.outputs().s_axis_rx_tready);
        unit.clock(&closed);
    }
    // The first clock with the output open still stands: the queue is full until it ends.
    for _ in 0..COMMIT {
        assert!(!unit.outputs().s_axis_rx_tready);
        unit.clock(&idle());
    }
    assert!(unit.outputs().s_axis_rx_tready);
}

/// H1: the clear after reset takes `connections * paths + COMMIT` clocks, counted from the last clock with `rst` high.
#[test]
fn the_clear_after_reset_is_counted() {
    for profile in ["tiny", "ecp5"] {
        let params = Params::load(profile).unwrap();
        let clear = params.total_paths() as usize + COMMIT;
        let mut unit = SackRx::new(&params);
        let offered = operation(op::PACKET, 1, 7);
        let not_ready = |unit: &mut SackRx| {
            let mut clocks = 0;
            while !unit.outputs().s_axis_rx_tready {
                assert_eq!(unit.outputs(), Outputs::default());
                unit.clock(&offered);
                clocks += 1;
            }
            clocks
        };
        assert_eq!(not_ready(&mut unit), clear);
        unit.clock(&offered);
        for _ in 0..LATENCY {
            unit.clock(&offered);
        }
        assert!(unit.outputs().m_axis_rx_tvalid);
        for _ in 0..3 {
            unit.clock(&Inputs { rst: true, ..offered });
            assert_eq!(unit.outputs(), Outputs::default());
        }
        assert_eq!(not_ready(&mut unit), clear);
        assert_eq!(run(&mut unit, op::PACKET, 1, 7).m_axis_rx_verdict, verdict::NEW);
    }
}
