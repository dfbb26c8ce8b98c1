//! Packets to frames and back, and what is dropped for which reason (R2 to R6).

mod wire;

use metaroce_model::port::Vector;
use metaroce_model::wire::table::{BASE, ETHERNET, IPV4, Position, UDP, UDP_PORT, get, set};
use metaroce_model::wire::{
    Ack, Base, Body, Data, DropReason, Nak, Opcode, Packet, Receiver, Route, Target, icrc,
};
use proptest::prelude::*;
use std::collections::BTreeSet;
use wire::{Golden, RECEIVER, golden, golden_of};

fn decode(frame: &[u8]) -> Result<Packet, DropReason> {
    Packet::decode(frame, &RECEIVER).map(|(packet, _)| packet)
}

/// Every opcode that is not reserved, to bytes laid out by hand and back (R2 to R6).
#[test]
fn golden_bytes() {
    let golden = golden();
    let opcodes: Vec<_> = golden.iter().map(|golden| golden.packet.opcode()).collect();
    let expected: Vec<_> = Opcode::ALL
        .into_iter()
        .filter(|opcode| !opcode.is_reserved())
        .collect();
    assert_eq!(opcodes, expected);
    for Golden {
        packet,
        payload,
        frame,
    } in &golden
    {
        let name = packet.opcode().name();
        assert_eq!(packet.encode(payload, UDP_PORT), *frame, "{name}");
        let (decoded, range) = Packet::decode(frame, &RECEIVER).expect(name);
        assert_eq!(decoded, *packet, "{name}");
        assert_eq!(&frame[range], *payload, "{name}");
    }
}

/// A frame cut at any byte is dropped, and so is one with bytes added: for its length, as long as it is a frame of Ethernet.
#[test]
fn every_truncation_and_extension() {
    for Golden { frame, .. } in golden() {
        for bytes in 0..frame.len() {
            let reason = if bytes < 60 {
                DropReason::Truncated
            } else {
                DropReason::Length
            };
            assert_eq!(decode(&frame[..bytes]), Err(reason), "{bytes} of {}", frame.len());
        }
        let mut longer = frame.clone();
        while longer.len() < 4400 {
            longer.push(longer.len() as u8);
            assert_eq!(
                decode(&longer),
                Err(DropReason::Length),
                "{} of {}",
                longer.len(),
                frame.len()
            );
        }
    }
}

/// The same with length fields, header checksum and ICRC that are true of the new length: only the opcode's own size is
/// then left to check.
#[test]
fn every_consistent_length() {
    for Golden { packet, frame, .. } in golden() {
        let opcode = packet.opcode();
        for bytes in 60..=RECEIVER.max_packet_bytes + 20 {
            let mut other = frame.clone();
            other.resize(bytes, 0xa7);
            repair(&mut other);
            let expected = if bytes > RECEIVER.max_packet_bytes {
                Err(DropReason::Length)
            } else if bytes < opcode.least_frame_bytes()
                || !opcode.is_data() && bytes > opcode.least_frame_bytes()
            {
                Err(DropReason::Size)
            } else {
                Ok(opcode.header_bytes()..bytes - 4)
            };
            let range = Packet::decode(&other, &RECEIVER).map(|(_, range)| range);
            assert_eq!(range, expected, "{} of {bytes} bytes", opcode.name());
        }
    }
}

/// Every bit flipped alone, as it is and with what covers it made good again. What is then not dropped is listed here:
/// MAC addresses and UDP checksum are ignored. With the header checksum made good also what switches change. With the ICRC
/// made good the values of the packet, and what is reserved or ignored.
#[test]
fn every_bit() {
    use DropReason::*;
    let ok = None;
    for golden in golden() {
        let opcode = golden.packet.opcode();
        let mut names = BTreeSet::new();
        let mut bit = 0;
        for header in opcode.headers() {
            for field in header.fields {
                let (plain, checksum, icrc) = match (header.name, field.name) {
                    ("ethernet", "destination_mac" | "source_mac") => (ok, ok, ok),
                    ("ethernet", "ether_type") => (Some(NotIpv4), Some(NotIpv4), Some(NotIpv4)),
                    ("ipv4", "dscp" | "ecn" | "time_to_live" | "header_checksum") => (Some(IpHeader), ok, ok),
                    ("ipv4", "identification" | "source_address") => (Some(IpHeader), Some(Icrc), ok),
                    ("ipv4", "version" | "header_length" | "fragment_offset" | "protocol") => {
                        (Some(IpHeader), Some(IpHeader), Some(IpHeader))
                    }
                    // Reserved bit, Don't Fragment, More Fragments: below, bit by bit.
                    ("ipv4", "fragment_flags") => (Some(IpHeader), Some(Icrc), ok),
                    ("ipv4", "total_length") => (Some(IpHeader), Some(Length), Some(Length)),
                    ("ipv4", "destination_address") => (Some(IpHeader), Some(Address), Some(Address)),
                    ("udp", "udp_checksum") => (ok, ok, ok),
                    ("udp", "source_port") => (Some(Icrc), Some(Icrc), ok),
                    ("udp", "destination_port") => (Some(Port), Some(Port), Some(Port)),
                    ("udp", "udp_length") => (Some(Length), Some(Length), Some(Length)),
                    ("base", "wire_version") => (Some(Version), Some(Version), Some(Version)),
                    ("base", "opcode") => {
                        for i in 0..field.bits {
                            flipped_opcode(&golden, bit + i);
                        }
                        bit += field.bits;
                        continue;
                    }
                    _ => (Some(Icrc), Some(Icrc), ok),
                };
                for i in 0..field.bits {
                    let more_fragments = field.name == "fragment_flags" && i == 2;
                    let reasons = if more_fragments {
                        [Some(IpHeader); 3]
                    } else {
                        [plain, checksum, icrc]
                    };
                    for (repairs, reason) in reasons.into_iter().enumerate() {
                        let mut frame = golden.frame.clone();
                        frame[(bit + i) / 8] ^= 0x80 >> ((bit + i) % 8);
                        if repairs >= 1 {
                            repair_checksum(&mut frame);
                        }
                        if repairs >= 2 {
                            repair_icrc(&mut frame);
                        }
                        let got = decode(&frame).err();
                        assert_eq!(
                            got,
                            reason,
                            "{} {}.{} bit {i}, repairs {repairs}",
                            opcode.name(),
                            header.name,
                            field.name
                        );
                    }
                }
                if plain.is_none() {
                    names.insert(field.name);
                }
                bit += field.bits;
            }
        }
        assert_eq!(
            names,
            BTreeSet::from(["destination_mac", "source_mac", "udp_checksum"])
        );
        for bit in bit..golden.frame.len() * 8 {
            let mut frame = golden.frame.clone();
            frame[bit / 8] ^= 0x80 >> (bit % 8);
            assert_eq!(
                decode(&frame),
                Err(Icrc),
                "{} payload or ICRC, bit {bit}",
                opcode.name()
            );
        }
    }
}

/// A bit of the opcode flipped, with a good ICRC if the size is right then: another opcode's number, or none.
fn flipped_opcode(golden: &Golden, bit: usize) {
    let mut frame = golden.frame.clone();
    frame[bit / 8] ^= 0x80 >> (bit % 8);
    let reason = match Opcode::from_value(frame[bit / 8]) {
        None => DropReason::Opcode,
        Some(opcode) if opcode.is_reserved() => DropReason::Opcode,
        Some(opcode) if opcode.is_data() && frame.len() >= 92 => DropReason::Icrc,
        Some(opcode) if frame.len() == opcode.least_frame_bytes() => DropReason::Icrc,
        Some(_) => DropReason::Size,
    };
    assert_eq!(
        decode(&frame),
        Err(reason),
        "{} to {:#x}",
        golden.name(),
        frame[bit / 8]
    );
}

/// Each number of `opcode`, in a frame that is good in all else.
#[test]
fn every_opcode_number() {
    for value in 0..=255u8 {
        let mut frame = golden_of(Opcode::Ack).frame;
        set(&mut frame, Opcode::Ack.position(&BASE, "opcode"), value.into());
        repair(&mut frame);
        let reason = match value {
            0..=3 | 0x10 => None,
            0x11 | 0x12 => Some(DropReason::Size),
            _ => Some(DropReason::Opcode),
        };
        assert_eq!(decode(&frame).err(), reason, "opcode {value:#x}");
    }
}

/// Of two reasons the one with the lower number is given: each fault is laid over all that come after it.
#[test]
fn reasons_in_order() {
    fn at(name: &str) -> Position {
        let headers = Opcode::Probe.headers().iter();
        let header = headers
            .copied()
            .find(|header| header.fields.iter().any(|field| field.name == name));
        Opcode::Probe.position(header.unwrap(), name)
    }
    type Fault = fn(&mut Vec<u8>);
    // From the last reason to the first; the frame keeps all faults.
    let faults: [(DropReason, Fault); 10] = [
        (DropReason::Icrc, |frame| *frame.last_mut().unwrap() ^= 1),
        (DropReason::Size, |frame| {
            set(frame, at("opcode"), Opcode::Ack.value().into())
        }),
        (DropReason::Opcode, |frame| {
            set(frame, at("opcode"), Opcode::ReadRequest.value().into())
        }),
        (DropReason::Version, |frame| set(frame, at("wire_version"), 1)),
        (DropReason::Length, |frame| set(frame, at("udp_length"), 27)),
        (DropReason::Port, |frame| set(frame, at("destination_port"), 4791)),
        (DropReason::Address, |frame| {
            set(frame, at("destination_address"), 0x7f00_0001);
            repair_checksum(frame);
        }),
        (DropReason::IpHeader, |frame| {
            set(frame, at("header_checksum"), 0x1234)
        }),
        (DropReason::NotIpv4, |frame| set(frame, at("ether_type"), 0x86dd)),
        (DropReason::Truncated, |frame| frame.truncate(59)),
    ];
    let mut frame = golden_of(Opcode::Probe).frame;
    assert!(decode(&frame).is_ok());
    for (reason, fault) in faults {
        fault(&mut frame);
        assert_eq!(decode(&frame), Err(reason));
    }
}

/// A checksum of 0xffff stands for the same as 0 in one's complement arithmetic (RFC 1071), and is accepted.
#[test]
fn both_zeros_of_the_checksum() {
    let mut golden = golden_of(Opcode::Probe);
    let sum = u16::from_be_bytes([golden.frame[24], golden.frame[25]]);
    // The low half of the source address takes up what the checksum had, so that this becomes zero.
    golden.packet.route.source_address += u32::from(sum);
    let mut frame = golden.packet.encode(&[], UDP_PORT);
    assert_eq!(frame[24..26], [0, 0]);
    assert_eq!(decode(&frame), Ok(golden.packet));
    frame[24..26].fill(0xff);
    assert_eq!(decode(&frame), Ok(golden.packet));
}

/// The longest payload that the length fields can tell.
#[test]
fn longest() {
    let packet = golden_of(Opcode::Send).packet;
    let payload: Vec<u8> = (0..65_457u32).map(|i| (i * 7) as u8).collect();
    let frame = packet.encode(&payload, UDP_PORT);
    let receiver = Receiver {
        max_packet_bytes: usize::MAX,
        ..RECEIVER
    };
    assert_eq!(
        Packet::decode(&frame, &receiver),
        Ok((packet, 88..88 + payload.len()))
    );
}

/// A program that asks for a frame that cannot be is told so.
#[test]
#[should_panic(expected = "does not fit in IPv4")]
fn too_long() {
    golden_of(Opcode::Send).packet.encode(&[0; 65_458], UDP_PORT);
}

/// The same for a payload where there is none.
#[test]
#[should_panic(expected = "NAK has no payload")]
fn payload_of_a_nak() {
    golden_of(Opcode::Nak).packet.encode(&[0], UDP_PORT);
}

/// Makes length fields, header checksum and ICRC true of the frame.
fn repair(frame: &mut [u8]) {
    let ip_bytes = (frame.len() - ETHERNET.bytes()) as u64;
    set(frame, Opcode::Probe.position(&IPV4, "total_length"), ip_bytes);
    set(frame, Opcode::Probe.position(&UDP, "udp_length"), ip_bytes - 20);
    repair_checksum(frame);
    repair_icrc(frame);
}

fn repair_checksum(frame: &mut [u8]) {
    let checksum = Opcode::Probe.position(&IPV4, "header_checksum");
    set(frame, checksum, 0);
    let header = etherparse_checksum(&frame[14..34]);
    set(frame, checksum, header.into());
}

/// The header checksum by a library, so that the codec's own sum is not its own judge.
fn etherparse_checksum(header: &[u8]) -> u16 {
    let mut sum = etherparse::checksum::Sum16BitWords::new();
    sum = sum.add_slice(header);
    sum.ones_complement().to_be()
}

fn repair_icrc(frame: &mut [u8]) {
    let end = frame.len() - 4;
    let icrc = icrc(&frame[..end]);
    frame[end..].copy_from_slice(&icrc.to_le_bytes());
}

fn any_packet() -> impl Strategy<Value = (Packet, Vec<u8>)> {
    let u24 = || 0..1u32 << 24;
    let u48 = || 0..1u64 << 48;
    let route = (u48(), u48(), 0..64u8, 0..4u8, any::<u32>(), any::<u16>());
    let base = (
        any::<bool>(),
        any::<bool>(),
        u24(),
        any::<u8>(),
        u24(),
        any::<u32>(),
    );
    let write = (any::<u32>(), any::<u64>()).prop_map(|(key, address)| Target::Write { key, address });
    let send = u24().prop_map(|receive| Target::Send { receive });
    let data = (
        any::<u16>(),
        u24(),
        any::<u32>(),
        any::<u32>(),
        any::<Option<u32>>(),
        prop_oneof![write, send],
    );
    let data = data.prop_map(|(stream, message, message_length, offset, immediate, target)| {
        Body::Data(Data {
            stream,
            message,
            message_length,
            offset,
            immediate,
            target,
        })
    });
    let ack = (
        any::<[u64; 4]>(),
        any::<u32>(),
        any::<[u16; 3]>(),
        0..1u16 << 12,
        0..16u8,
    );
    let ack = ack.prop_map(|(vector, echo, [hold, packets, marked], hint, window_state)| {
        let vector = Vector::new(vector);
        Body::Ack(Ack {
            vector,
            echo,
            hold,
            packets,
            marked,
            hint,
            window_state,
        })
    });
    let nak = (any::<u16>(), u24(), any::<u8>());
    let nak = nak.prop_map(|(stream, message, code)| {
        Body::Nak(Nak {
            stream,
            message,
            code,
        })
    });
    let body = prop_oneof![4 => data, 2 => ack, 1 => nak, 1 => Just(Body::Probe)];
    let payload = proptest::collection::vec(any::<u8>(), 0..300);
    (route, base, body, payload).prop_map(|(route, base, body, payload)| {
        let (destination_mac, source_mac, dscp, ecn, source_address, source_port) = route;
        let (last, acknowledge, connection, path, psn, timestamp) = base;
        let packet = Packet {
            route: Route {
                destination_mac,
                source_mac,
                dscp,
                ecn,
                source_address,
                destination_address: RECEIVER.address,
                source_port,
            },
            base: Base {
                last,
                acknowledge,
                connection,
                path,
                psn,
                timestamp,
            },
            body,
        };
        let payload = if packet.opcode().is_data() {
            payload
        } else {
            vec![]
        };
        (packet, payload)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// What is encoded is decoded as it was, and other libraries agree on the headers up to UDP.
    #[test]
    fn round_trip((packet, payload) in any_packet(), udp_port: u16) {
        let frame = packet.encode(&payload, udp_port);
        let receiver = Receiver { udp_port, ..RECEIVER };
        let start = frame.len() - payload.len() - 4;
        prop_assert_eq!(Packet::decode(&frame, &receiver), Ok((packet, start..frame.len() - 4)));
        prop_assert_eq!(&frame[start..frame.len() - 4], &payload[..]);
        let parsed = etherparse::PacketHeaders::from_ethernet_slice(&frame).unwrap();
        let Some(etherparse::NetHeaders::Ipv4(ip, _)) = parsed.net else { panic!("not IPv4") };
        prop_assert_eq!(ip.calc_header_checksum(), ip.header_checksum);
        prop_assert_eq!(u32::from_be_bytes(ip.source), packet.route.source_address);
        prop_assert_eq!(ip.ecn.value(), packet.route.ecn);
        prop_assert_eq!(ip.dscp.value(), packet.route.dscp);
        prop_assert!(ip.dont_fragment);
        let udp = parsed.transport.unwrap().udp().unwrap();
        prop_assert_eq!((udp.source_port, udp.destination_port), (packet.route.source_port, udp_port));
    }

    /// No bytes make the decoder panic, however much of a frame they resemble.
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200), good in 0..62usize, repairs: bool) {
        let mut frame = bytes;
        let template = &golden_of(Opcode::Write).frame;
        let good = good.min(frame.len()).min(template.len());
        frame[..good].copy_from_slice(&template[..good]);
        if repairs && frame.len() >= 60 {
            repair(&mut frame);
        }
        if let Ok((packet, range)) = Packet::decode(&frame, &RECEIVER) {
            prop_assert_eq!(range.end, frame.len() - 4);
            prop_assert_eq!(range.start, packet.opcode().header_bytes());
        }
    }

    /// A field is read as it was written, and nothing around it changes, wherever it stands.
    #[test]
    fn get_and_set(bits in 1..=64usize, bit in 0..40usize, value: u64, fill: u8) {
        let at = Position { bit, bits };
        let mut bytes = [fill; 13];
        set(&mut bytes, at, value);
        prop_assert_eq!(get(&bytes, at), value & (u64::MAX >> (64 - bits)));
        for i in (0..bit).chain(bit + bits..13 * 8) {
            prop_assert_eq!(bytes[i / 8] << (i % 8) & 0x80, fill << (i % 8) & 0x80);
        }
    }
}
