//! Messages out of packets, in captures that lost, repeated or reordered them (R5).

mod captures;

use captures::generated;
use metaroce_model::rocev2::{Messages, Operation, Packet, Psn};
use proptest::prelude::*;

/// The data packets of the generated capture's first message of several packets, and their frame numbers.
fn long_message() -> Vec<(u64, Packet)> {
    let (_, capture) = generated(7);
    let messages = Messages::from_packets(capture.packets());
    let message = messages
        .messages
        .iter()
        .find(|message| message.packets.len() == 8)
        .unwrap();
    let frames: Vec<u64> = message.packets.iter().map(|packet| packet.frame).collect();
    capture
        .packets()
        .filter(|(number, _)| frames.contains(number))
        .map(|(number, packet)| (number, packet.clone()))
        .collect()
}

fn fold(packets: &[(u64, Packet)]) -> Messages {
    Messages::from_packets(packets.iter().map(|(number, packet)| (*number, packet)))
}

/// A message without its first, a middle or its last packet is none, and all its packets are orphans.
#[test]
fn a_missing_packet_orphans_the_others() {
    let write = long_message();
    // A send has no RETH whose length would betray the gap.
    let mut send = write.clone();
    for (_, packet) in &mut send {
        packet.operation = match packet.operation {
            Operation::WriteFirst { .. } => Operation::SendFirst,
            Operation::WriteLast { immediate } => Operation::SendLast { immediate },
            _ => Operation::SendMiddle,
        };
    }
    assert_eq!((fold(&write).messages.len(), fold(&send).messages.len()), (1, 1));
    for (missing, packets) in (0..8).flat_map(|missing| [(missing, &write), (missing, &send)]) {
        let mut rest = packets.clone();
        rest.remove(missing);
        let folded = fold(&rest);
        assert_eq!(
            (folded.messages.len(), folded.duplicates, folded.orphans),
            (0, 0, 7),
            "without {missing}"
        );
    }
}

/// Packets sent again, before or after the end of the message, are duplicates.
#[test]
fn retransmissions_count_once() {
    let packets = long_message();
    let again = [&packets[..5], &packets[3..], &packets[2..]].concat();
    let folded = fold(&again);
    assert_eq!(folded.messages, fold(&packets).messages);
    assert_eq!((folded.duplicates, folded.orphans), (8, 0));
}

/// A message whose length is not that of its RETH is none; so is a write with a send in it.
#[test]
fn contradictions_are_orphans() {
    let mut shorter = long_message();
    shorter[3].1.payload.pop();
    assert_eq!((fold(&shorter).messages.len(), fold(&shorter).orphans), (0, 8));
    let mut mixed = long_message();
    mixed[3].1.operation = Operation::SendMiddle;
    assert_eq!((fold(&mixed).messages.len(), fold(&mixed).orphans), (0, 8));
}

proptest! {
    /// Whatever the PSNs (across their wrap), the order and the losses: every data packet is in a message, a
    /// duplicate or an orphan, and without loss the messages are the original ones.
    #[test]
    fn no_packet_is_lost(
        start in any::<u32>(),
        order in Just((0..24usize).collect::<Vec<_>>()).prop_shuffle(),
        lost in prop::collection::vec(any::<bool>(), 24),
    ) {
        let message = long_message();
        let packets: Vec<_> = (0..24).map(|index| {
            let (_, mut packet) = message[index % 8].clone();
            packet.psn = Psn::new(start.wrapping_add(index as u32));
            (index as u64, packet)
        }).collect();
        let shuffled: Vec<_> = order.iter().map(|&index| packets[index].clone()).collect();
        prop_assert_eq!(fold(&shuffled).messages, fold(&packets).messages);

        let kept: Vec<_> = shuffled.into_iter().zip(lost).filter(|(_, lost)| !lost).map(|(packet, _)| packet).collect();
        let folded = fold(&kept);
        let in_messages: usize = folded.messages.iter().map(|message| message.packets.len()).sum();
        prop_assert_eq!(in_messages as u64 + folded.duplicates + folded.orphans, kept.len() as u64);
    }
}
