//! Stimulus of `request_table`: streams whose rings fill, are cut into packets and drain, packets read again of messages that are held, released or still to come, and streams that start anew
//! just below the wrap of their numbers.

use crate::{
    bins::Bins,
    intake::{EVENTS, Intake},
    stimulus::{Flow, Random, Resets, Spray, Stimulus, random},
};
use metaroce_model::{
    Params,
    port::{
        receive_table::NUMBER_BITS,
        request_table::{Inputs, LATENCY, Outputs, SAME_STREAM_CLOCKS, op},
    },
    serial::Serial,
    unit::request_table::RequestTable as Unit,
};
use rand::RngExt;

/// Bins of a POST that takes effect.
const POST_BINS: [&str; 18] = [
    "POST",
    "POST into the last free entry",
    "POST into the first entry again",
    "POST refused, nothing sent",
    "POST refused, all sent",
    "POST refused, some sent",
    "POST of kind 0",
    "POST of kind 1",
    "POST of kind 2",
    "POST of kind 3",
    "POST of no bytes",
    "POST of one byte",
    "POST of one byte less than a packet",
    "POST of one packet",
    "POST of one byte more than a packet",
    "POST of most bytes",
    "POST: message the last before the wrap",
    "POST: receive the last before the wrap",
];

/// Bins of a NEXT or RELEASE that takes effect.
const NEXT_BINS: [&str; 24] = [
    "NEXT: first of several",
    "NEXT: in the middle",
    "NEXT: last of several, full",
    "NEXT: last of several, not full",
    "NEXT: only one, full",
    "NEXT: only one, not full",
    "NEXT: only one, no bytes",
    "NEXT: last, nothing unsent then",
    "NEXT: last, something unsent then",
    "NEXT: last of the last message before the wrap",
    "NEXT: last of the message in the last entry",
    "NEXT: none, nothing held",
    "NEXT: none, ring full",
    "NEXT: none, some held",
    "RELEASE: ring full",
    "RELEASE: nothing held then",
    "RELEASE: others unsent, none sent",
    "RELEASE: the last message before the wrap",
    "RELEASE: a Send",
    "RELEASE: a Write",
    "RELEASE: none, nothing held",
    "RELEASE: none, the oldest not begun",
    "RELEASE: none, the oldest begun",
    "RELEASE: none, ring full",
];

/// Bins of a READ that takes effect.
const READ_BINS: [&str; 23] = [
    "READ: the oldest",
    "READ: the newest of several",
    "READ: one in the middle",
    "READ: the newest, ring full",
    "READ: one that is being cut",
    "READ: one that is unsent",
    "READ: beyond the wrap of the numbers",
    "READ: beyond the wrap of the slots, not of the numbers",
    "READ: bits above the slot that are another message's",
    "READ: first of several",
    "READ: in the middle",
    "READ: last, full",
    "READ: last, not full",
    "READ: no bytes in the message",
    "READ: no bytes left",
    "READ: beyond the end",
    "READ: beyond the end, last of no bytes",
    "READ: none, released last",
    "READ: none, the next to be posted",
    "READ: none, the next to be posted, ring full",
    "READ: none, nothing held",
    "READ: none, same entry as one that is held",
    "READ: none, half of the slots ahead",
];

/// Bins of a packet given by NEXT or READ.
const PACKET_BINS: [&str; 6] = [
    "local address carries into its upper half",
    "local address wraps",
    "remote address carries into its upper half",
    "remote address wraps",
    "offset with its highest bit set",
    "packet of a Send after other Sends",
];

/// Bins of an INIT or a reserved operation that takes effect.
const OTHER_BINS: [&str; 13] = [
    "INIT: nothing held",
    "INIT: ring full",
    "INIT: a message is begun",
    "INIT: sent messages are held",
    "INIT: to the oldest message",
    "INIT: to the last message before the wrap",
    "INIT: to message 0",
    "INIT: to the last receive before the wrap",
    "reserved code 5",
    "reserved code 6",
    "reserved code 7",
    "reserved code, something unsent",
    "reserved code, nothing unsent",
];

/// Moving clocks between two operations on one stream, from acceptance to acceptance, that have a bin.
const ACCEPTED_DISTANCES: usize = 8;
/// Name of their bins.
const ACCEPTED_BIN: &str = "operation accepted {} moving clocks after another of its stream";

/// Moving clocks between two operations on one stream, from issue to issue, that have bins: these to [`FARTHEST`].
const NEAREST: usize = SAME_STREAM_CLOCKS;
const FARTHEST: usize = 12;
const DISTANCES: usize = FARTHEST + 1 - NEAREST;
/// Bins of two operations on one stream, for each distance.
const HAZARD_BINS: [&str; 21] = [
    "POST issued {} moving clocks after another",
    "POST refused, issued {} moving clocks after another that was not",
    "POST issued {} moving clocks after the RELEASE that freed its entry",
    "POST issued {} moving clocks after an INIT",
    "NEXT issued {} moving clocks after the POST of its message",
    "NEXT issued {} moving clocks after another of its message",
    "NEXT issued {} moving clocks after the last packet of the message before",
    "NEXT of none, issued {} moving clocks after the last packet of all",
    "NEXT of none, issued {} moving clocks after an INIT",
    "READ issued {} moving clocks after the POST of its message",
    "READ issued {} moving clocks after the NEXT that gave its packet",
    "READ of none, issued {} moving clocks after the RELEASE of its message",
    "READ issued {} moving clocks after another of its message",
    "READ of none, issued {} moving clocks after an INIT",
    "RELEASE issued {} moving clocks after the last packet of its message",
    "RELEASE of none, issued {} moving clocks after a packet of the oldest message",
    "RELEASE issued {} moving clocks after another",
    "RELEASE of none, issued {} moving clocks after another that was not",
    "RELEASE of none, issued {} moving clocks after an INIT",
    "INIT issued {} moving clocks after a NEXT",
    "INIT issued {} moving clocks after another",
];

const POST: usize = EVENTS.len();
const NEXT: usize = POST + POST_BINS.len();
const READ: usize = NEXT + NEXT_BINS.len();
const PACKET: usize = READ + READ_BINS.len();
const OTHER: usize = PACKET + PACKET_BINS.len();
const ACCEPTED: usize = OTHER + OTHER_BINS.len();
const HAZARD: usize = ACCEPTED + ACCEPTED_DISTANCES;

/// Numbers of messages and receives.
const NUMBERS: Serial = Serial::new(NUMBER_BITS);
/// The bit of a kind that tells a Send from a Write.
const SEND: u8 = 2;
/// Streams that can be hot at a time.
const HOT: u32 = 13;

/// Drives the unit.
pub struct RequestTable {
    random: Random,
    valid: Flow,
    ready: Flow,
    resets: Resets,
    stream_mask: u16,
    packets_mask: u32,
    slots: Serial,
    mtu_bytes: u32,
    /// Requests of a stream.
    messages: u32,
    spray: Spray,
    phase: Phase,
    streams: Box<[Stream]>,
    /// The rings of all streams, one after the other.
    requests: Box<[Request]>,
    intake: Intake<Inputs>,
    bins: Bins,
}

/// One stream, as the unit has it.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    posted: u32,
    current: u32,
    oldest: u32,
    receives: u32,
    /// The packet of the current message that is next.
    packet: u32,
    /// A Send was posted since it started.
    sends: bool,
    /// Moving clock of the last acceptance.
    accepted: usize,
    /// What was issued last, the latest first: as many as can be within [`FARTHEST`].
    recent: [Issued; FARTHEST / NEAREST],
}

impl Stream {
    #[inline]
    fn held(&self) -> u32 {
        NUMBERS.distance(self.oldest, self.posted)
    }

    #[inline]
    fn sent(&self) -> u32 {
        NUMBERS.distance(self.oldest, self.current)
    }

    #[inline]
    fn unsent(&self) -> u32 {
        NUMBERS.distance(self.current, self.posted)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Issued {
    moment: usize,
    op: u8,
    done: bool,
    message: u32,
    /// NEXT, READ: the packet, and whether it is its message's last.
    packet: u32,
    last: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Request {
    kind: u8,
    length: u32,
    local: u64,
    remote: u64,
    /// Another Send was posted before it.
    later_send: bool,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Post,
    Next,
    Release,
    /// READ of any message that is held.
    Held,
    /// READ of the oldest message.
    Oldest,
    /// READ of the newest message.
    Newest,
    /// READ of the current message.
    Current,
    /// READ of what the last operation on the stream was about.
    Repeat,
    /// READ of the next message to be posted, or one soon after.
    Coming,
    /// READ of the message released last, or one soon before.
    Released,
    /// READ of another slot with the entry of one that is held.
    Alias,
    /// READ of any slot.
    Any,
    Init,
    Reserved,
}

/// Mixtures of kinds, in parts.
const MIXTURES: [&[(Kind, usize)]; 8] = [
    // A stream at work.
    &[
        (Kind::Post, 8),
        (Kind::Next, 11),
        (Kind::Release, 7),
        (Kind::Held, 4),
        (Kind::Reserved, 1),
        (Kind::Repeat, 1),
    ],
    // The ring fills up.
    &[
        (Kind::Post, 21),
        (Kind::Next, 3),
        (Kind::Newest, 4),
        (Kind::Current, 2),
        (Kind::Coming, 2),
    ],
    // Everything is sent.
    &[
        (Kind::Next, 22),
        (Kind::Current, 4),
        (Kind::Repeat, 4),
        (Kind::Held, 2),
    ],
    // The ring drains.
    &[
        (Kind::Release, 14),
        (Kind::Next, 10),
        (Kind::Oldest, 4),
        (Kind::Released, 4),
    ],
    // One in, one out.
    &[
        (Kind::Post, 10),
        (Kind::Next, 11),
        (Kind::Release, 9),
        (Kind::Repeat, 2),
    ],
    // Packets are read again, of messages that are held and of others.
    &[
        (Kind::Held, 5),
        (Kind::Released, 5),
        (Kind::Coming, 4),
        (Kind::Alias, 4),
        (Kind::Any, 2),
        (Kind::Post, 4),
        (Kind::Next, 5),
        (Kind::Release, 3),
    ],
    // Mostly packets read again.
    &[
        (Kind::Held, 9),
        (Kind::Oldest, 5),
        (Kind::Newest, 5),
        (Kind::Repeat, 6),
        (Kind::Post, 3),
        (Kind::Next, 3),
        (Kind::Reserved, 1),
    ],
    // Streams start anew all the time.
    &[
        (Kind::Init, 7),
        (Kind::Post, 9),
        (Kind::Next, 8),
        (Kind::Release, 4),
        (Kind::Any, 2),
        (Kind::Coming, 2),
    ],
];

/// Stretch of operations with one mixture.
#[derive(Clone, Copy, Debug)]
struct Phase {
    left: u32,
    kinds: [Kind; 32],
}

impl Stimulus<Unit> for RequestTable {
    fn new(params: &Params, seed: u64) -> Self {
        let total = params.total_streams();
        let with_distance = |name: &str, distance: usize| name.replace("{}", &distance.to_string());
        let names = [
            &EVENTS[..],
            &POST_BINS,
            &NEXT_BINS,
            &READ_BINS,
            &PACKET_BINS,
            &OTHER_BINS,
        ]
        .concat();
        let accepted = (1..=ACCEPTED_DISTANCES).map(|distance| with_distance(ACCEPTED_BIN, distance));
        let hazards = HAZARD_BINS
            .iter()
            .flat_map(|name| (NEAREST..=FARTHEST).map(move |distance| with_distance(name, distance)));
        let names = names.into_iter().map(String::from).chain(accepted).chain(hazards);
        Self {
            random: random(seed),
            valid: Flow::new(400),
            ready: Flow::new(100),
            resets: Resets::with_clear((20 * total).max(20_000), total),
            stream_mask: (total - 1) as u16,
            packets_mask: u32::MAX >> (32 - params.packet_bits()),
            slots: Serial::new(params.message_slot_bits()),
            mtu_bytes: params.mtu_bytes,
            messages: params.messages,
            spray: Spray::new(total),
            phase: Phase {
                left: 0,
                kinds: [Kind::Any; 32],
            },
            streams: vec![Stream::default(); total as usize].into(),
            requests: vec![Request::default(); (total * params.messages) as usize].into(),
            intake: Intake::new(LATENCY),
            bins: Bins::new(names),
        }
    }

    #[inline]
    fn inputs(&mut self, outputs: &Outputs) -> Inputs {
        let rst = self.resets.next(&mut self.random);
        let ready = outputs.s_axis_op_tready;
        let valid = self.intake.held().is_some() || self.valid.next(&mut self.random);
        let taken = self.ready.next(&mut self.random);
        let result = outputs.m_axis_result_tvalid;
        self.bins
            .hit_each(0, self.intake.events(rst, valid, ready, result, taken));
        let garbage = self.garbage();
        let fields = if rst {
            self.reset();
            garbage
        } else {
            if let Some(operation) = self.intake.issue(ready) {
                self.execute(&operation);
            }
            // Nothing is accepted: garbage, unless the operation is one of those that are held steadily.
            let steady = garbage.s_axis_op_identifier >> 28 == 0;
            let offered = match self.intake.held() {
                None if valid && (ready || steady) => Some(self.operation(garbage)),
                held => held,
            };
            if self.intake.clock(offered, ready, result && taken) {
                self.count_acceptance(offered.unwrap_or(garbage).s_axis_op_stream);
            }
            offered.unwrap_or(garbage)
        };
        Inputs {
            rst,
            s_axis_op_tvalid: valid,
            m_axis_result_tready: taken,
            ..fields
        }
    }

    fn bins(&self) -> &Bins {
        &self.bins
    }
}

impl RequestTable {
    fn reset(&mut self) {
        if !self.intake.is_clearing() {
            self.streams.fill(Stream::default());
        }
        self.intake.reset();
    }

    /// Random values that fit in the fields.
    #[inline]
    fn garbage(&mut self) -> Inputs {
        let (a, b, c): (u64, u64, u64) = (self.random.random(), self.random.random(), self.random.random());
        let (d, e): (u64, u64) = (self.random.random(), self.random.random());
        Inputs {
            s_axis_op_op: (a & 7) as u8,
            s_axis_op_stream: (a >> 3) as u16 & self.stream_mask,
            s_axis_op_message: (a >> 19) as u32 & NUMBERS.mask(),
            s_axis_op_kind: (a >> 43 & 3) as u8,
            s_axis_op_tag: (a >> 45 & 1) as u8,
            s_axis_op_packet: b as u32 & self.packets_mask,
            s_axis_op_receive: (b >> 32) as u32 & NUMBERS.mask(),
            s_axis_op_length: c as u32,
            s_axis_op_identifier: (c >> 32) as u32,
            s_axis_op_local: d,
            s_axis_op_remote: e,
            s_axis_op_key: (d ^ e >> 32) as u32,
            s_axis_op_immediate: (e ^ d >> 32) as u32,
            ..Default::default()
        }
    }

    /// An operation to offer; the fields that it does not use stay `garbage`.
    fn operation(&mut self, garbage: Inputs) -> Inputs {
        if self.phase.left == 0 {
            self.change_phase();
        }
        self.phase.left -= 1;
        let dice = self.random.random::<u32>();
        let index = self.spray.next(dice as u16);
        let kind = self.phase.kinds[(dice >> 16) as usize & 31];
        let mut operation = Inputs {
            s_axis_op_stream: index,
            ..garbage
        };
        match kind {
            Kind::Post => self.post(&mut operation),
            Kind::Next => operation.s_axis_op_op = op::NEXT,
            Kind::Release => operation.s_axis_op_op = op::RELEASE,
            Kind::Init => self.init(&mut operation, dice >> 21),
            Kind::Reserved => operation.s_axis_op_op = 5 + (dice >> 21) as u8 % 3,
            _ => self.read(&mut operation, kind, dice >> 21),
        }
        operation
    }

    /// A POST: mostly of a few packets, and of bytes that lie where something carries, as often as not.
    fn post(&mut self, operation: &mut Inputs) {
        operation.s_axis_op_op = op::POST;
        let any = operation.s_axis_op_length;
        let mtu = self.mtu_bytes;
        let random = &mut self.random;
        operation.s_axis_op_length = match random.random_range(0..64) {
            0 => any,
            1 => u32::MAX - (any & 1),
            2 => any & !(mtu - 1),
            3..12 => any & 1,
            12..24 => mtu * (any & 3),
            24..40 => mtu - 1 + any % 3,
            40..48 => mtu * (1 + (any & 1)) + 1,
            _ => any % (4 * mtu),
        };
        let mut place = |address: u64| match random.random_range(0..4) {
            0 => address,
            1 => address | 0xffff_f000,
            2 => address | 0xffff_ffff_ffff_f000,
            _ => address & 0xffff,
        };
        operation.s_axis_op_local = place(operation.s_axis_op_local);
        operation.s_axis_op_remote = place(operation.s_axis_op_remote);
    }

    fn init(&mut self, operation: &mut Inputs, dice: u32) {
        operation.s_axis_op_op = op::INIT;
        let oldest = self.streams[usize::from(operation.s_axis_op_stream)].oldest;
        let below = self.random.random_range(0..2 * self.messages);
        operation.s_axis_op_message = match dice & 7 {
            0 => operation.s_axis_op_message,
            1 => oldest,
            2 => dice >> 3 & 1,
            3 => NUMBERS.mask(),
            // Just below the wrap of the slots alone.
            4 => NUMBERS.distance(below, operation.s_axis_op_message & !self.slots.mask()),
            _ => NUMBERS.mask() - below,
        };
        if dice >> 4 & 3 != 0 {
            operation.s_axis_op_receive = NUMBERS.mask() - (dice >> 6 & 3);
        }
    }

    /// A READ of that kind.
    fn read(&mut self, operation: &mut Inputs, kind: Kind, dice: u32) {
        operation.s_axis_op_op = op::READ;
        let stream = self.streams[usize::from(operation.s_axis_op_stream)];
        let some = self.random.random_range(0..stream.held().max(1));
        let few = dice & 3 & dice >> 2;
        let ring = self.messages;
        let (from, steps) = match kind {
            Kind::Oldest => (stream.oldest, 0),
            Kind::Newest => (stream.posted, NUMBERS.mask()),
            Kind::Current => (stream.current, 0),
            Kind::Repeat => (stream.recent[0].message, 0),
            Kind::Coming => (stream.posted, few),
            Kind::Released => (stream.oldest, NUMBERS.mask() - few),
            Kind::Alias if dice & 7 == 0 => (stream.oldest, self.slots.half()),
            Kind::Alias => (stream.oldest, some + ring * (1 + (dice >> 3 & 15))),
            Kind::Any => (operation.s_axis_op_message, 0),
            _ => (stream.oldest, some),
        };
        let message = NUMBERS.add(from, steps);
        // Only the slot counts.
        if dice >> 4 & 1 != 0 {
            let above = operation.s_axis_op_message & !self.slots.mask();
            operation.s_axis_op_message = above | message & self.slots.mask();
        } else {
            operation.s_axis_op_message = message;
        }
        let request = self.requests[self.place(operation.s_axis_op_stream, message)];
        let last = self.last_packet(request.length);
        operation.s_axis_op_packet = self.packets_mask
            & match dice >> 5 & 15 {
                0 => operation.s_axis_op_packet,
                1 => u32::MAX,
                2 => last + 1,
                3 => last + 2,
                4..7 => last,
                7 => last.saturating_sub(1),
                8 => 0,
                9..12 => stream.packet,
                12..14 => stream.recent[0].packet,
                _ => self.random.random_range(0..=last),
            };
    }

    /// Number of the last packet of a message of `length` bytes.
    #[inline]
    fn last_packet(&self, length: u32) -> u32 {
        length.saturating_sub(1) / self.mtu_bytes
    }

    fn change_phase(&mut self) {
        let random = &mut self.random;
        let mixture = MIXTURES[random.random_range(0..MIXTURES.len())];
        let mut parts = (mixture.iter()).flat_map(|&(kind, parts)| std::iter::repeat_n(kind, parts));
        self.phase.kinds = std::array::from_fn(|_| parts.next().unwrap_or(Kind::Any));
        // The hot streams often stay, so that one mixture finds what another left.
        if self.spray.count() > HOT || random.random_range(0..4) == 0 {
            let most = if random.random() { 8 } else { HOT };
            self.spray.change(random, most);
        }
        self.phase.left = random.random_range(1..=5 * self.messages * self.spray.count().min(HOT));
    }

    /// Place of a message among all requests.
    #[inline]
    fn place(&self, stream: u16, message: u32) -> usize {
        (u32::from(stream) * self.messages + message % self.messages) as usize
    }

    #[inline]
    fn count_acceptance(&mut self, stream: u16) {
        let moment = self.intake.moment();
        let accepted = &mut self.streams[usize::from(stream)].accepted;
        let distance = moment - std::mem::replace(accepted, moment);
        if (1..=ACCEPTED_DISTANCES).contains(&distance) {
            self.bins.hit(ACCEPTED + distance - 1, true);
        }
    }

    /// The operation takes effect.
    #[inline]
    fn execute(&mut self, operation: &Inputs) {
        let moment = self.intake.moment();
        let mut now = match operation.s_axis_op_op {
            op::POST => self.execute_post(operation),
            op::NEXT => self.execute_next(operation.s_axis_op_stream),
            op::READ => self.execute_read(operation),
            op::RELEASE => self.execute_release(operation.s_axis_op_stream),
            op::INIT => self.execute_init(operation),
            other => {
                let unsent = self.streams[usize::from(operation.s_axis_op_stream)].unsent() > 0;
                let codes = [5, 6, 7].map(|code| other == code);
                self.bins
                    .hit_each(OTHER + 8, [codes[0], codes[1], codes[2], unsent, !unsent]);
                Issued::default()
            }
        };
        (now.moment, now.op) = (moment, operation.s_axis_op_op);
        self.count_hazards(usize::from(operation.s_axis_op_stream), now);
    }

    #[inline]
    fn execute_post(&mut self, operation: &Inputs) -> Issued {
        let index = operation.s_axis_op_stream;
        let before = self.streams[usize::from(index)];
        let (message, held) = (before.posted, before.held());
        let done = held < self.messages;
        let (kind, length) = (operation.s_axis_op_kind, operation.s_axis_op_length);
        let is_send = kind & SEND != 0;
        if done {
            let place = self.place(index, message);
            self.requests[place] = Request {
                kind,
                length,
                local: operation.s_axis_op_local,
                remote: operation.s_axis_op_remote,
                later_send: is_send && before.sends,
            };
            let stream = &mut self.streams[usize::from(index)];
            stream.posted = NUMBERS.add(message, 1);
            stream.receives = NUMBERS.add(stream.receives, is_send.into());
            stream.sends |= is_send;
        }
        let (sent, unsent) = (before.sent(), before.unsent());
        self.bins.hit_each(
            POST,
            [
                done,
                done && held == self.messages - 1,
                done && message > 0 && message % self.messages == 0,
                !done && sent == 0,
                !done && unsent == 0,
                !done && sent > 0 && unsent > 0,
                done && kind == 0,
                done && kind == 1,
                done && kind == 2,
                done && kind == 3,
                done && length == 0,
                done && length == 1,
                done && length == self.mtu_bytes - 1,
                done && length == self.mtu_bytes,
                done && length == self.mtu_bytes + 1,
                done && length == u32::MAX,
                done && message == NUMBERS.mask(),
                done && is_send && before.receives == NUMBERS.mask(),
            ],
        );
        Issued {
            done,
            message,
            ..Default::default()
        }
    }

    #[inline]
    fn execute_next(&mut self, index: u16) -> Issued {
        let before = self.streams[usize::from(index)];
        let (message, packet) = (before.current, before.packet);
        let done = before.unsent() > 0;
        let request = self.requests[self.place(index, message)];
        let last_packet = self.last_packet(request.length);
        let last = done && packet == last_packet;
        let stream = &mut self.streams[usize::from(index)];
        if last {
            stream.current = NUMBERS.add(message, 1);
            stream.packet = 0;
        } else if done {
            stream.packet += 1;
        }
        let (held, unsent) = (stream.held(), stream.unsent());
        let several = last_packet > 0;
        let full = request.length > 0 && request.length.is_multiple_of(self.mtu_bytes);
        self.bins.hit_each(
            NEXT,
            [
                done && several && packet == 0,
                done && packet > 0 && !last,
                last && several && full,
                last && several && !full,
                last && !several && full,
                last && !several && !full && request.length > 0,
                last && request.length == 0,
                last && unsent == 0,
                last && unsent > 0,
                last && message == NUMBERS.mask(),
                last && message % self.messages == self.messages - 1,
                !done && held == 0,
                !done && held == self.messages,
                !done && held > 0 && held < self.messages,
            ],
        );
        if done {
            self.count_packet(&request, packet);
        }
        Issued {
            done,
            message,
            packet,
            last,
            ..Default::default()
        }
    }

    #[inline]
    fn execute_release(&mut self, index: u16) -> Issued {
        let before = self.streams[usize::from(index)];
        let message = before.oldest;
        let done = before.sent() > 0;
        let request = self.requests[self.place(index, message)];
        let held = before.held();
        let stream = &mut self.streams[usize::from(index)];
        if done {
            stream.oldest = NUMBERS.add(message, 1);
        }
        self.bins.hit_each(
            NEXT + 14,
            [
                done && held == self.messages,
                done && held == 1,
                done && stream.sent() == 0 && stream.unsent() > 0,
                done && message == NUMBERS.mask(),
                done && request.kind & SEND != 0,
                done && request.kind & SEND == 0,
                !done && held == 0,
                !done && held > 0 && before.packet == 0,
                !done && before.packet > 0,
                !done && held == self.messages,
            ],
        );
        Issued {
            done,
            message,
            ..Default::default()
        }
    }

    #[inline]
    fn execute_read(&mut self, operation: &Inputs) -> Issued {
        let stream = self.streams[usize::from(operation.s_axis_op_stream)];
        let (slot, packet) = (operation.s_axis_op_message, operation.s_axis_op_packet);
        let (held, sent) = (stream.held(), stream.sent());
        let behind = self.slots.distance(stream.oldest, slot);
        let message = NUMBERS.add(stream.oldest, behind);
        let done = behind < held;
        let request = self.requests[self.place(operation.s_axis_op_stream, message)];
        let length = request.length;
        let last_packet = self.last_packet(length);
        let is_last = packet == last_packet;
        let full = length > 0 && length.is_multiple_of(self.mtu_bytes);
        let wrapped = message < stream.oldest;
        let past_slots = message & self.slots.mask() < stream.oldest & self.slots.mask();
        let same_entry = behind % self.messages < held;
        self.bins.hit_each(
            READ,
            [
                done && behind == 0,
                done && behind + 1 == held && held > 1,
                done && behind > 0 && behind + 1 < held,
                done && behind + 1 == held && held == self.messages,
                done && behind == sent && stream.packet > 0,
                done && behind >= sent && stream.packet == 0,
                done && wrapped,
                done && past_slots && !wrapped,
                done && slot != message,
                done && packet == 0 && last_packet > 0,
                done && packet > 0 && packet < last_packet,
                done && is_last && full,
                done && is_last && !full && length > 0,
                done && is_last && length == 0,
                done && full && packet == last_packet + 1,
                done && packet > last_packet && !(full && packet == last_packet + 1),
                done && length == 0 && packet == self.packets_mask,
                !done && behind == self.slots.mask(),
                !done && behind == held && held > 0,
                !done && behind == held && held == self.messages,
                !done && held == 0,
                !done && same_entry,
                !done && behind == self.slots.half(),
            ],
        );
        if done {
            self.count_packet(&request, packet);
        }
        Issued {
            done,
            message,
            packet,
            last: is_last,
            ..Default::default()
        }
    }

    /// Counts a packet that is given.
    #[inline]
    fn count_packet(&mut self, request: &Request, packet: u32) {
        let offset = packet * self.mtu_bytes;
        let sum = |base: u64| base.wrapping_add(offset.into());
        let carries = |base: u64| sum(base) >> 32 != base >> 32;
        self.bins.hit_each(
            PACKET,
            [
                carries(request.local),
                sum(request.local) < request.local,
                carries(request.remote),
                sum(request.remote) < request.remote,
                offset >> 31 != 0,
                request.later_send,
            ],
        );
    }

    #[inline]
    fn execute_init(&mut self, operation: &Inputs) -> Issued {
        let message = operation.s_axis_op_message;
        let stream = &mut self.streams[usize::from(operation.s_axis_op_stream)];
        let before = *stream;
        *stream = Stream {
            posted: message,
            current: message,
            oldest: message,
            receives: operation.s_axis_op_receive,
            packet: 0,
            sends: false,
            ..before
        };
        self.bins.hit_each(
            OTHER,
            [
                before.held() == 0,
                before.held() == self.messages,
                before.packet > 0,
                before.sent() > 0,
                message == before.oldest,
                message == NUMBERS.mask(),
                message == 0,
                operation.s_axis_op_receive == NUMBERS.mask(),
            ],
        );
        Issued {
            done: true,
            message,
            ..Default::default()
        }
    }

    /// Counts what follows on what of one stream.
    #[inline]
    fn count_hazards(&mut self, stream: usize, now: Issued) {
        let is = |issued: &Issued, op: u8, done: bool| issued.op == op && issued.done == done;
        let nothing = |op: u8| is(&now, op, false);
        let (post, next) = (is(&now, op::POST, true), is(&now, op::NEXT, true));
        let (read, release) = (is(&now, op::READ, true), is(&now, op::RELEASE, true));
        for last in self.streams[stream].recent {
            let distance = now.moment - last.moment;
            if !(NEAREST..=FARTHEST).contains(&distance) {
                continue;
            }
            let same = last.message == now.message;
            let follows = NUMBERS.add(last.message, 1) == now.message;
            let frees = NUMBERS.add(last.message, self.messages) == now.message;
            let posted = is(&last, op::POST, true);
            let given = is(&last, op::NEXT, true);
            let released = is(&last, op::RELEASE, true);
            let anew = last.op == op::INIT;
            let hazards = [
                post && posted,
                nothing(op::POST) && posted,
                post && released && frees,
                post && anew,
                next && posted && same,
                next && given && same,
                next && given && last.last && follows,
                nothing(op::NEXT) && given && last.last && follows,
                nothing(op::NEXT) && anew,
                read && posted && same,
                read && given && same && last.packet == now.packet,
                nothing(op::READ) && released && same_slot(self.slots, &last, &now),
                read && is(&last, op::READ, true) && same,
                nothing(op::READ) && anew,
                release && given && last.last && same,
                nothing(op::RELEASE) && given && !last.last && same,
                release && released,
                nothing(op::RELEASE) && released,
                nothing(op::RELEASE) && anew,
                now.op == op::INIT && given,
                now.op == op::INIT && anew,
            ];
            for (hazard, happened) in hazards.into_iter().enumerate() {
                self.bins
                    .hit(HAZARD + hazard * DISTANCES + distance - NEAREST, happened);
            }
        }
        let recent = &mut self.streams[stream].recent;
        recent.rotate_right(1);
        recent[0] = now;
    }
}

/// Both are about messages of one slot.
#[inline]
fn same_slot(slots: Serial, last: &Issued, now: &Issued) -> bool {
    (last.message ^ now.message) & slots.mask() == 0
}
