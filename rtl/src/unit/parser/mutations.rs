//! The lines of `parser` that the lockstep's own test breaks.

use crate::hdl::mutate::{Fault, Mutation};

const fn of(signal: &'static str, fault: Fault) -> Mutation {
    Mutation { signal, fault }
}

/// Lines whose breaking the lockstep must find.
pub const MUTATIONS: [Mutation; 38] = [
    of("moves", Fault::Operator),
    of("accepted", Fault::Operator),
    of("position_next", Fault::Zero),
    of("number_counts", Fault::Invert),
    of("number_next", Fault::Increment),
    of("writes_plane_1", Fault::Zero),
    of("local_address", Fault::Increment),
    of("keep_2", Fault::Invert),
    of("bytes_3", Fault::Decrement),
    of("absent_3", Fault::Increment),
    of("empty_3", Fault::Zero),
    of("icrc_beat_3", Fault::Increment),
    of("length_4", Fault::Increment),
    of("sees_probe_2", Fault::Operator),
    of("has_data_headers_5", Fault::Operator),
    of("exceeds_mtu_5", Fault::Zero),
    of("nak_size_5", Fault::Zero),
    of("size_right", Fault::Invert),
    of("not_ipv4_4", Fault::Zero),
    of("more_fragments_differed_3", Fault::Enable),
    of("port_wrong_4", Fault::Zero),
    of("numbers_too_large_4", Fault::Zero),
    of("opcode_unknown_4", Fault::Zero),
    of("truncated_5", Fault::Operator),
    of("too_long_5", Fault::Operator),
    of("address_configured_3", Fault::Invert),
    of("header_sum_before", Fault::Zero),
    of("header_sum_counts", Fault::Operator),
    of("icrc_expected", Fault::Increment),
    of("reason", Fault::Increment),
    of("cut_2", Fault::Zero),
    of("keep_12", Fault::Operator),
    of("payload_bytes_5", Fault::Increment),
    of("ends_11", Fault::Operator),
    of("ends_next", Fault::Invert),
    of("data_stays", Fault::Operator),
    of("ack_stays", Fault::Operator),
    of("dropping", Fault::Operator),
];
