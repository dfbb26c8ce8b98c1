//! A host: what it configures and posts, its memory, and what it is told.

use super::{
    link::{beat_of, bytes_of},
    memory::Memory,
};
use crate::{
    Params,
    port::{configuration::command, nic, path_table},
};
use rand::{Rng, RngExt};
use std::collections::VecDeque;

/// Bit of a kind that tells a message with immediate.
pub const IMMEDIATE: u8 = 1;
/// Bit of a kind that tells a Send from a Write.
pub const SEND: u8 = 2;

/// A work request: the fields of `s_axis_wqe` but the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// See [`IMMEDIATE`], [`SEND`].
    pub kind: u8,
    /// Bytes.
    pub length: u32,
    /// Where they are.
    pub local: u64,
    /// Where a Write takes them.
    pub remote: u64,
    /// The key of the region there.
    pub key: u32,
    /// The immediate.
    pub immediate: u32,
    /// What the completion bears.
    pub identifier: u32,
}

/// A receive: the fields of `s_axis_rq` but the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Receive {
    /// The buffer.
    pub address: u64,
    /// Its bytes.
    pub length: u32,
    /// What the completion bears.
    pub identifier: u32,
}

/// A completion: the fields of `m_axis_cqe`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Of a received message.
    pub received: bool,
    /// 0, or why the other NIC refused it.
    pub error: u8,
    /// Stream among all.
    pub stream: u16,
    /// The message.
    pub message: u32,
    /// Its bytes.
    pub length: u32,
    /// Its immediate.
    pub immediate: u32,
    /// Its kind.
    pub kind: u8,
    /// Of the request or receive.
    pub identifier: u32,
}

/// How willing a host is to take and to give, in parts of 16.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// To take frames, write beats, fetch requests and completions that the NIC offers.
    pub take: u32,
    /// To answer with a beat of memory when it has one.
    pub read: u32,
    /// To post work requests.
    pub post: u32,
    /// To post receives.
    pub receive: u32,
    /// Clocks that memory takes to answer.
    pub latency: u64,
}

impl Pace {
    /// Never a moment's hesitation.
    pub const FAST: Self = Self {
        take: 16,
        read: 16,
        post: 16,
        receive: 16,
        latency: 40,
    };
}

/// A stream's posts that wait, and how many the NIC has and has not completed.
#[derive(Clone, Debug)]
struct Stream<T> {
    waiting: VecDeque<T>,
    open: u32,
}

/// The posts of all streams, offered in turn.
#[derive(Clone, Debug)]
struct Posts<T> {
    streams: Vec<Stream<T>>,
    /// Streams with posts that wait, each once.
    turn: VecDeque<u16>,
    /// The stream whose post is offered, until it is accepted.
    offered: Option<u16>,
    /// How many of a stream's the NIC takes.
    most: u32,
}

impl<T: Copy> Posts<T> {
    fn new(streams: u32, most: u32) -> Self {
        let stream = Stream {
            waiting: VecDeque::new(),
            open: 0,
        };
        Self {
            streams: vec![stream; streams as usize],
            turn: VecDeque::new(),
            offered: None,
            most,
        }
    }

    fn add(&mut self, stream: u16, post: T) {
        let waiting = &mut self.streams[usize::from(stream)].waiting;
        if waiting.is_empty() {
            self.turn.push_back(stream);
        }
        waiting.push_back(post);
    }

    /// Offers the next one, if the host is `willing`; it stays offered until it is accepted. `overruns`: whatever the NIC has.
    fn offer(&mut self, overruns: bool, willing: impl FnOnce() -> bool) -> Option<(u16, T)> {
        if self.offered.is_none() && !self.turn.is_empty() && willing() {
            let mut turn = self.turn.iter().copied();
            self.offered =
                turn.find(|&stream| overruns || self.streams[usize::from(stream)].open < self.most);
        }
        let stream = self.offered?;
        let post = self.streams[usize::from(stream)].waiting.front()?;
        Some((stream, *post))
    }

    /// What was offered was accepted.
    fn accepted(&mut self) {
        let Some(number) = self.offered.take() else { return };
        let stream = &mut self.streams[usize::from(number)];
        stream.waiting.pop_front();
        stream.open += 1;
        let again = !stream.waiting.is_empty();
        self.turn.retain(|&other| other != number);
        self.turn.extend(again.then_some(number));
    }

    fn completed(&mut self, stream: u16) {
        let open = &mut self.streams[usize::from(stream)].open;
        *open = open.saturating_sub(1);
    }

    fn is_idle(&self) -> bool {
        self.turn.is_empty() && self.streams.iter().all(|stream| stream.open == 0)
    }

    fn clear(&mut self) {
        *self = Self::new(self.streams.len() as u32, self.most);
    }
}

/// A host and what it has on its way to and from its NIC.
#[derive(Clone, Debug)]
pub struct Host {
    lanes: u64,
    commands: VecDeque<nic::Inputs>,
    requests: Posts<Request>,
    receives: Posts<Receive>,
    /// Transfers asked for: clock of the answer, address of the next beat, end.
    fetches: VecDeque<(u64, u64, u64)>,
    reading: bool,
    /// Its memory.
    pub memory: Memory,
    /// Completions, in the order in which they came.
    pub completions: VecDeque<Completion>,
    /// Its pace.
    pub pace: Pace,
    /// It posts without counting what the NIC has: more than the NIC takes.
    pub overruns: bool,
    /// Constant inputs of the NIC: configuration of delays, counter index.
    pub constants: nic::Inputs,
}

impl Host {
    /// A host with nothing configured or posted.
    pub fn new(params: &Params, seed: u64) -> Self {
        let streams = params.total_streams();
        Self {
            lanes: params.lanes().into(),
            commands: VecDeque::new(),
            requests: Posts::new(streams, params.messages),
            receives: Posts::new(streams, params.receives),
            fetches: VecDeque::new(),
            reading: false,
            memory: Memory::new(seed),
            completions: VecDeque::new(),
            pace: Pace::FAST,
            overruns: false,
            constants: nic::Inputs {
                config_delay: 100,
                config_probe: 400,
                config_first_probe: 4000,
                ..Default::default()
            },
        }
    }

    /// A command for the NIC's write port; the fields that are not its own are not looked at.
    pub fn command(&mut self, command: nic::Inputs) {
        self.commands.push_back(nic::Inputs {
            s_axis_command_tvalid: true,
            ..command
        });
    }

    /// All commands were taken.
    pub fn is_configured(&self) -> bool {
        self.commands.is_empty()
    }

    /// A work request for a stream, to be posted when the NIC has room.
    pub fn request(&mut self, stream: u16, request: Request) {
        self.requests.add(stream, request);
    }

    /// A receive for a stream, to be posted when the NIC has room.
    pub fn receive(&mut self, stream: u16, receive: Receive) {
        self.receives.add(stream, receive);
    }

    /// Everything posted is complete, and memory owes nothing.
    pub fn is_idle(&self) -> bool {
        self.commands.is_empty() && self.fetches.is_empty() && self.requests.is_idle()
    }

    /// The NIC was reset: it has forgotten all that was posted, and asks memory for nothing.
    pub fn reset(&mut self) {
        self.commands.clear();
        self.fetches.clear();
        self.reading = false;
        self.requests.clear();
        self.receives.clear();
    }

    /// What the host gives its NIC in a clock; [`Host::clock`] ends it.
    pub fn inputs(&mut self, clock: u64, random: &mut impl Rng) -> nic::Inputs {
        let pace = self.pace;
        let mut willing = |of_16: u32| of_16 >= 16 || random.random_range(0..16) < of_16;
        let mut inputs = self.commands.front().copied().unwrap_or_default();
        inputs.config_hint = self.constants.config_hint;
        inputs.config_delay = self.constants.config_delay;
        inputs.config_probe = self.constants.config_probe;
        inputs.config_first_probe = self.constants.config_first_probe;
        inputs.counter_index = self.constants.counter_index;
        if let Some((stream, request)) = self.requests.offer(self.overruns, || willing(pace.post)) {
            inputs.s_axis_wqe_tvalid = true;
            inputs.s_axis_wqe_stream = stream;
            inputs.s_axis_wqe_kind = request.kind;
            inputs.s_axis_wqe_length = request.length;
            inputs.s_axis_wqe_local = request.local;
            inputs.s_axis_wqe_remote = request.remote;
            inputs.s_axis_wqe_key = request.key;
            inputs.s_axis_wqe_immediate = request.immediate;
            inputs.s_axis_wqe_identifier = request.identifier;
        }
        if let Some((stream, receive)) = self.receives.offer(self.overruns, || willing(pace.receive)) {
            inputs.s_axis_rq_tvalid = true;
            inputs.s_axis_rq_stream = stream;
            inputs.s_axis_rq_address = receive.address;
            inputs.s_axis_rq_length = receive.length;
            inputs.s_axis_rq_identifier = receive.identifier;
        }
        if let Some(&(answer, address, end)) = self.fetches.front()
            && answer <= clock
        {
            self.reading = self.reading || willing(pace.read);
            if self.reading {
                let first = address / self.lanes * self.lanes;
                let bytes: Vec<u8> = (0..self.lanes)
                    .map(|lane| self.memory.read(first.wrapping_add(lane)))
                    .collect();
                inputs.s_axis_read_tvalid = true;
                inputs.s_axis_read_tdata = beat_of(&bytes);
                inputs.s_axis_read_tlast = end.wrapping_sub(first) <= self.lanes;
            }
        }
        inputs.m_axis_tx_tready = willing(pace.take);
        inputs.m_axis_cqe_tready = willing(pace.take);
        inputs.m_axis_fetch_tready = willing(pace.take);
        inputs.m_axis_write_tready = willing(pace.take);
        inputs
    }

    /// The end of a clock: what the NIC took and gave.
    pub fn clock(&mut self, clock: u64, inputs: &nic::Inputs, outputs: &nic::Outputs) {
        if inputs.s_axis_command_tvalid && outputs.s_axis_command_tready {
            self.commands.pop_front();
        }
        if inputs.s_axis_wqe_tvalid && outputs.s_axis_wqe_tready {
            self.requests.accepted();
        }
        if inputs.s_axis_rq_tvalid && outputs.s_axis_rq_tready {
            self.receives.accepted();
        }
        if inputs.s_axis_read_tvalid
            && outputs.s_axis_read_tready
            && let Some((_, address, _)) = self.fetches.front_mut()
        {
            *address = (*address / self.lanes * self.lanes).wrapping_add(self.lanes);
            self.reading = false;
            if inputs.s_axis_read_tlast {
                self.fetches.pop_front();
            }
        }
        if outputs.m_axis_fetch_tvalid && inputs.m_axis_fetch_tready {
            let address = outputs.m_axis_fetch_address;
            let end = address.wrapping_add(outputs.m_axis_fetch_bytes.into());
            self.fetches.push_back((clock + self.pace.latency, address, end));
        }
        if outputs.m_axis_write_tvalid && inputs.m_axis_write_tready {
            let bytes = bytes_of(&outputs.m_axis_write_tdata);
            for lane in (0..self.lanes).filter(|lane| outputs.m_axis_write_tkeep >> lane & 1 != 0) {
                let address = outputs.m_axis_write_address.wrapping_add(lane);
                self.memory.write(address, bytes[lane as usize]);
            }
        }
        if outputs.m_axis_cqe_tvalid && inputs.m_axis_cqe_tready {
            self.complete(outputs);
        }
    }

    fn complete(&mut self, outputs: &nic::Outputs) {
        let completion = Completion {
            received: outputs.m_axis_cqe_received,
            error: outputs.m_axis_cqe_error,
            stream: outputs.m_axis_cqe_stream,
            message: outputs.m_axis_cqe_message,
            length: outputs.m_axis_cqe_length,
            immediate: outputs.m_axis_cqe_immediate,
            kind: outputs.m_axis_cqe_kind,
            identifier: outputs.m_axis_cqe_identifier,
        };
        if completion.error == 0 {
            if !completion.received {
                self.requests.completed(completion.stream);
            } else if completion.kind & SEND != 0 {
                self.receives.completed(completion.stream);
            }
        }
        self.completions.push_back(completion);
    }
}

/// Numbers with which the connections of both ends begin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start {
    /// First PSN of every path.
    pub psn: u32,
    /// First message of every stream.
    pub message: u32,
    /// First receive of every stream.
    pub receive: u32,
}

/// What configures a host's NIC: all connections to the same connections of the other NIC, with all paths up and all streams.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// 0 or 1: which of both ends.
    pub end: u8,
    /// Connections that are set up, at most.
    pub connections: u32,
    /// Window of a path in packets.
    pub window: u16,
    /// Rate of a connection, a 12-bit float in bytes a tick x 2^16.
    pub rate: u16,
    /// Burst in bytes.
    pub burst: u32,
    /// First numbers.
    pub start: Start,
}

impl Setup {
    /// The default: rates that do not hold anything back.
    pub fn new(end: u8) -> Self {
        Self {
            end,
            connections: u32::MAX,
            window: 24,
            rate: 15 << 8 | 255,
            burst: 16_000,
            start: Start::default(),
        }
    }

    /// IPv4 address of an end on a plane.
    pub fn address(end: u8, plane: u32) -> u32 {
        0x0a00_0001 + (plane << 8) + u32::from(end)
    }

    /// MAC address of an end on a plane.
    pub fn mac(end: u8, plane: u32) -> u64 {
        0x0200_0000_0100 + (u64::from(plane) << 4) + u64::from(end)
    }

    /// Gives the commands to the host.
    pub fn configure(&self, params: &Params, host: &mut Host) {
        let other = 1 - self.end;
        let command = |code: u8| nic::Inputs {
            s_axis_command_command: code,
            ..Default::default()
        };
        for plane in 0..params.planes {
            host.command(nic::Inputs {
                s_axis_command_plane: plane as u8,
                s_axis_command_mac: Self::mac(self.end, plane),
                s_axis_command_address: Self::address(self.end, plane).into(),
                ..command(command::LOCAL)
            });
        }
        for connection in 0..params.connections.min(self.connections) {
            host.command(nic::Inputs {
                s_axis_command_index: connection as u16,
                s_axis_command_flag: true,
                s_axis_command_first: connection,
                s_axis_command_domain: 1,
                s_axis_command_dscp: 26,
                ..command(command::CONNECT)
            });
            for plane in 0..params.planes {
                host.command(nic::Inputs {
                    s_axis_command_index: connection as u16,
                    s_axis_command_plane: plane as u8,
                    s_axis_command_mac: Self::mac(other, plane),
                    s_axis_command_address: Self::address(other, plane).into(),
                    ..command(command::REMOTE)
                });
            }
            for stream in 0..params.streams {
                host.command(nic::Inputs {
                    s_axis_command_index: (connection * params.streams + stream) as u16,
                    s_axis_command_first: self.start.message,
                    s_axis_command_second: self.start.message,
                    s_axis_command_third: self.start.receive,
                    s_axis_command_fourth: self.start.receive,
                    ..command(command::STREAM)
                });
            }
            for path in 0..params.paths {
                let index = connection * params.paths + path;
                host.command(nic::Inputs {
                    s_axis_command_index: index as u16,
                    s_axis_command_plane: (index % params.planes) as u8,
                    s_axis_command_source_port: 49152 + index as u16,
                    s_axis_command_state: path_table::state::UP,
                    s_axis_command_window: self.window << path_table::WINDOW_FRACTION_BITS,
                    s_axis_command_first: self.start.psn,
                    s_axis_command_second: self.start.psn,
                    ..command(command::PATH)
                });
            }
            host.command(nic::Inputs {
                s_axis_command_index: connection as u16,
                s_axis_command_rate: self.rate,
                s_axis_command_burst: self.burst,
                ..command(command::RATE)
            });
            host.command(nic::Inputs {
                s_axis_command_index: connection as u16,
                s_axis_command_flag: true,
                ..command(command::START)
            });
        }
    }
}
