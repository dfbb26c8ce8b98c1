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

/// A stream's posts that wait, and those that the NIC has and has not completed.
#[derive(Clone, Debug)]
struct Posts<T> {
    waiting: VecDeque<T>,
    open: u32,
    most: u32,
}

impl<T: Copy> Posts<T> {
    fn new(most: u32) -> Self {
        Self {
            waiting: VecDeque::new(),
            open: 0,
            most,
        }
    }

    fn next(&self, overruns: bool) -> Option<T> {
        (overruns || self.open < self.most)
            .then(|| self.waiting.front().copied())
            .flatten()
    }

    fn posted(&mut self) {
        self.waiting.pop_front();
        self.open += 1;
    }
}

/// A host and what it has on its way to and from its NIC.
#[derive(Clone, Debug)]
pub struct Host {
    lanes: u64,
    streams: u16,
    commands: VecDeque<nic::Inputs>,
    requests: Vec<Posts<Request>>,
    receives: Vec<Posts<Receive>>,
    /// The stream whose post is offered, and the one that was last.
    requesting: Option<u16>,
    receiving: Option<u16>,
    last_request: u16,
    last_receive: u16,
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
        let streams = params.total_streams() as u16;
        Self {
            lanes: params.lanes().into(),
            streams,
            commands: VecDeque::new(),
            requests: vec![Posts::new(params.messages); streams.into()],
            receives: vec![Posts::new(params.receives); streams.into()],
            requesting: None,
            receiving: None,
            last_request: 0,
            last_receive: 0,
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
        self.requests[usize::from(stream)].waiting.push_back(request);
    }

    /// A receive for a stream, to be posted when the NIC has room.
    pub fn receive(&mut self, stream: u16, receive: Receive) {
        self.receives[usize::from(stream)].waiting.push_back(receive);
    }

    /// Everything posted is complete, and memory owes nothing.
    pub fn is_idle(&self) -> bool {
        self.commands.is_empty()
            && self.fetches.is_empty()
            && self
                .requests
                .iter()
                .all(|posts| posts.open == 0 && posts.waiting.is_empty())
    }

    /// The NIC was reset: it has forgotten all that was posted, and asks memory for nothing.
    pub fn reset(&mut self) {
        self.commands.clear();
        self.fetches.clear();
        (self.requesting, self.receiving, self.reading) = (None, None, false);
        for posts in &mut self.requests {
            posts.open = 0;
            posts.waiting.clear();
        }
        for posts in &mut self.receives {
            posts.open = 0;
            posts.waiting.clear();
        }
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
        let (streams, overruns) = (self.streams, self.overruns);
        let after = |last: u16| (1..=streams).map(move |step| (last + step) % streams);
        if self.requesting.is_none() && willing(pace.post) {
            self.requesting = after(self.last_request)
                .find(|&stream| self.requests[usize::from(stream)].next(overruns).is_some());
        }
        if let Some(stream) = self.requesting
            && let Some(request) = self.requests[usize::from(stream)].next(overruns)
        {
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
        if self.receiving.is_none() && willing(pace.receive) {
            self.receiving = after(self.last_receive)
                .find(|&stream| self.receives[usize::from(stream)].next(overruns).is_some());
        }
        if let Some(stream) = self.receiving
            && let Some(receive) = self.receives[usize::from(stream)].next(overruns)
        {
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
            self.requests[usize::from(inputs.s_axis_wqe_stream)].posted();
            self.last_request = inputs.s_axis_wqe_stream;
            self.requesting = None;
        }
        if inputs.s_axis_rq_tvalid && outputs.s_axis_rq_tready {
            self.receives[usize::from(inputs.s_axis_rq_stream)].posted();
            self.last_receive = inputs.s_axis_rq_stream;
            self.receiving = None;
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
        let stream = usize::from(completion.stream);
        if completion.error == 0 {
            if !completion.received {
                self.requests[stream].open = self.requests[stream].open.saturating_sub(1);
            } else if completion.kind & SEND != 0 {
                self.receives[stream].open = self.receives[stream].open.saturating_sub(1);
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
        for connection in 0..params.connections {
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
