//! The main job: the RDMA messages of real RoCEv2 traffic between two MetaRoCE NICs, both with model and RTL in lockstep all the while.
//!
//! Every message of a capture becomes a work request. Two hosts post them; the NICs spray them in packets over paths and planes, and two links lose packets and
//! acknowledgements at a given rate. A scoreboard holds every completion and every byte against what was posted.

mod device;

pub use device::LockstepNic;

use crate::{exit, lockstep::Mismatch, run::RunError, wave};
use anyhow::{Context, Result, bail};
use metaroce_model::{
    Params,
    pair::{Faults, Frame, IMMEDIATE, Message, Pair, SEND, Seen, Setup},
    port::{configuration::command, counters::index, nic},
    rocev2::{
        Capture, CaptureSummary, MessageKind, Messages, RingTraffic, generate_ring_capture, pcap::write_pcap,
    },
};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Where the bytes of messages are, and where they go, in both hosts.
const SOURCE: u64 = 0x1_0000_0000_0000;
const TARGET: u64 = 0x2_0000_0000;
/// The region that the other NIC may write to, and its key.
const REGION_BYTES: u64 = 1 << 40;
const KEY: u32 = 0x0100_0003;
/// Clocks without any completion after which something must be stuck.
const STUCK_CLOCKS: u64 = 4_000_000;
/// A clock in a capture's timestamps: 100 MHz.
const CLOCK: Duration = Duration::from_nanos(10);

/// What to replay and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The capture; `None` takes the public one where it is, else makes one up.
    pub capture: Option<PathBuf>,
    /// Frames lost, of each 10,000, in each direction.
    pub loss_per_10000: u32,
    /// How many times the capture's messages are sent.
    pub rounds: u32,
    /// Seed of losses and of the RTL's power-up contents.
    pub seed: u64,
    /// Folder for the result, the traffic and the waveform.
    pub out: PathBuf,
    /// Clocks of the waveform.
    pub vcd_clocks: usize,
}

/// What happened.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Outcome {
    /// Messages posted.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Completions, of sent and of received messages, that were as they should be.
    pub completions: u64,
    /// All messages were delivered, each exactly once, in order, whole.
    pub delivered: bool,
    /// What was wrong.
    pub wrongs: Vec<String>,
    /// Packets of data sent, the first time and again.
    pub packets: u64,
    /// Of those, ones sent again.
    pub sent_again: u64,
    /// Of those, ones that had arrived or were still on their way: must be 0.
    pub spurious: u64,
    /// Acknowledgements sent.
    pub acknowledgements: u64,
    /// Probes sent.
    pub probes: u64,
    /// Frames that the links lost.
    pub lost: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Clocks of each NIC.
    pub cycles: u64,
    /// Wall time in seconds.
    pub seconds: f64,
    /// Model and RTL gave the same outputs in every clock.
    pub equal: bool,
    /// The first difference.
    pub mismatch: Option<Mismatch>,
}

/// What a replay found; also the machine-readable result.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Where the messages came from.
    pub capture: String,
    /// What the capture held.
    pub summary: CaptureSummary,
    /// The profile.
    pub profile: String,
    /// The seed.
    pub seed: u64,
    /// Share of frames lost by the links.
    pub loss: f64,
    /// How many times the messages were sent.
    pub rounds: u32,
    /// What happened.
    pub outcome: Outcome,
    /// The traffic of both directions.
    pub pcap: PathBuf,
    /// The waveform.
    pub vcd: PathBuf,
    /// The command that does this again.
    pub replay: String,
}

impl Report {
    /// The exit code that tells a CI how it went.
    pub fn code(&self) -> u8 {
        let good = self.outcome.equal && self.outcome.delivered && self.outcome.spurious == 0;
        if good { exit::EQUAL } else { exit::MISMATCH }
    }
}

/// A message to be posted: by which end, on which stream.
#[derive(Clone, Copy, Debug)]
struct Post {
    from: u8,
    stream: u16,
    message: Message,
}

/// Replays a capture; `progress` gets completions so far and in all.
pub fn run(params: &Params, options: &Options, progress: &mut dyn FnMut(u64, u64)) -> Result<Report> {
    fs::create_dir_all(&options.out)
        .with_context(|| format!("cannot make the folder {}", options.out.display()))?;
    let (name, capture) = capture(options)?;
    let posts = posts(params, options, &name, &capture)?;

    let nic = |seed| LockstepNic::new(params, seed, options.vcd_clocks);
    let faults = Faults::loss(options.loss_per_10000);
    let mut pair = Pair::new(
        params,
        nic(options.seed)?,
        nic(options.seed ^ 1)?,
        faults,
        options.seed,
    );
    pair.left.link.kept = Some(Vec::new());
    pair.right.link.kept = Some(Vec::new());
    let start = Instant::now();
    let mut outcome = Outcome {
        messages: posts.len() as u64,
        bytes: posts.iter().map(|post| u64::from(post.message.length)).sum(),
        equal: true,
        ..Outcome::default()
    };
    let ran = exchange(params, &mut pair, &posts, progress);
    outcome.seconds = start.elapsed().as_secs_f64();
    match ran {
        Ok(finished) => outcome.delivered = finished,
        Err(Stopped::Different(mismatch)) => {
            outcome.equal = false;
            outcome.mismatch = Some(mismatch);
        }
        Err(Stopped::Stuck(error)) => return Err(error),
    }
    let wrongs = pair.wrongs();
    outcome.delivered &= wrongs.is_empty();
    outcome.wrongs = wrongs.iter().map(|wrong| format!("{wrong:?}")).collect();
    outcome.completions = pair.scoreboard.completed;
    outcome.cycles = pair.clock;
    for seen in [pair.left.link.seen, pair.right.link.seen] {
        outcome.add(&seen);
    }
    outcome.timeouts = [&pair.left.nic, &pair.right.nic]
        .map(LockstepNic::counter_value)
        .iter()
        .sum();

    let mut frames = pair.left.link.kept.take().unwrap_or_default();
    frames.extend(pair.right.link.kept.take().unwrap_or_default());
    let pcap = options.out.join("demo.pcap");
    write_frames(frames, &pcap)?;
    let vcd = options.out.join("demo.vcd");
    let recordings = [
        pair.left.nic.recording("left", options.seed)?,
        pair.right.nic.recording("right", options.seed ^ 1)?,
    ];
    wave::write(&recordings, 0, &vcd)?;
    let loss = f64::from(options.loss_per_10000) / 100.0;
    let report = Report {
        summary: capture.summary,
        profile: params.name.clone(),
        seed: options.seed,
        loss: loss / 100.0,
        rounds: options.rounds,
        outcome,
        pcap,
        vcd,
        replay: format!(
            "cargo cosim demo {}--profile {} --loss {loss} --rounds {} --seed {}",
            options
                .capture
                .as_ref()
                .map_or_else(String::new, |path| format!("--capture {} ", path.display())),
            params.name,
            options.rounds,
            options.seed
        ),
        capture: name,
    };
    let result = options.out.join("result.json");
    let mut file = tempfile::NamedTempFile::new_in(&options.out).context("cannot write the result")?;
    serde_json::to_writer_pretty(&mut file, &report).context("cannot write the result")?;
    file.persist(&result)
        .with_context(|| format!("cannot write {}", result.display()))?;
    Ok(report)
}

impl Outcome {
    fn add(&mut self, seen: &Seen) {
        self.packets += seen.data;
        self.sent_again += seen.again;
        self.spurious += seen.spurious;
        self.acknowledgements += seen.acknowledgements;
        self.probes += seen.probes;
        self.lost += seen.lost;
    }
}

/// The capture's messages, `rounds` times: each flow is a stream of its own as far as there are enough.
fn posts(params: &Params, options: &Options, name: &str, capture: &Capture) -> Result<Vec<Post>> {
    let messages = Messages::from_packets(capture.packets()).messages;
    let Some(first) = messages.first() else {
        bail!(RunError::Capture {
            message: format!(
                "{name} has no whole RDMA message (SEND or RDMA WRITE) with right ICRCs: choose another capture"
            )
        });
    };
    let left = first.flow.source;
    let mut flows = BTreeMap::new();
    let mut next = [0u64; 2];
    let mut posts = Vec::new();
    for (message, round) in
        (0..options.rounds).flat_map(|round| messages.iter().map(move |message| (message, round)))
    {
        let number = flows.len() as u32;
        let flow = *flows.entry(message.flow).or_insert(number);
        let connection = flow % params.connections;
        let stream = connection * params.streams + flow / params.connections % params.streams;
        let from = u8::from(message.flow.source != left);
        let is_send = matches!(message.kind, MessageKind::Send);
        let Ok(length) = u32::try_from(message.length) else {
            bail!(RunError::Capture {
                message: format!(
                    "{name} has a message of {} bytes, but 2^32 - 1 is the most",
                    message.length
                )
            });
        };
        let place = &mut next[usize::from(from)];
        posts.push(Post {
            from,
            stream: stream as u16,
            message: Message {
                kind: if is_send { SEND } else { 0 }
                    | if message.immediate.is_some() { IMMEDIATE } else { 0 },
                length,
                local: SOURCE + *place + u64::from(round % 8),
                remote: TARGET + *place,
                key: KEY,
                immediate: message.immediate.unwrap_or_default(),
            },
        });
        // Neighbours touch, at every alignment.
        *place += u64::from(length);
    }
    Ok(posts)
}

/// Why an exchange ended before its end.
enum Stopped {
    Different(Mismatch),
    Stuck(anyhow::Error),
}

impl From<Mismatch> for Stopped {
    fn from(mismatch: Mismatch) -> Self {
        Self::Different(mismatch)
    }
}

/// Configures both ends, posts everything and runs until it is done; then shows the counter of timeouts.
fn exchange(
    params: &Params,
    pair: &mut Pair<LockstepNic, LockstepNic>,
    posts: &[Post],
    progress: &mut dyn FnMut(u64, u64),
) -> Result<bool, Stopped> {
    for end in [&mut pair.left, &mut pair.right] {
        end.host.memory.allow(TARGET..TARGET + REGION_BYTES);
        end.host.command(nic::Inputs {
            s_axis_command_command: command::REGION,
            s_axis_command_key: KEY,
            s_axis_command_address: TARGET,
            s_axis_command_mac: REGION_BYTES,
            s_axis_command_domain: 1,
            s_axis_command_flag: true,
            ..Default::default()
        });
        end.host.constants.counter_index = index::TIMEOUT;
    }
    pair.configure(params, Setup::new)?;
    for post in posts {
        pair.post(post.from, post.stream, post.message);
    }
    let told = posts.iter().filter(|post| post.message.kind != 0).count();
    let all = (posts.len() + told) as u64;
    let (mut last_completed, mut last_progress) = (0, pair.clock);
    while !pair.is_idle() {
        pair.step()?;
        let completed = pair.scoreboard.completed;
        if completed > last_completed {
            (last_completed, last_progress) = (completed, pair.clock);
        }
        if pair.clock - last_progress > STUCK_CLOCKS {
            return Err(Stopped::Stuck(anyhow::anyhow!(
                "nothing was completed for {STUCK_CLOCKS} clocks: {completed} of {all} completions have come; this is an error in the NIC"
            )));
        }
        if pair.clock.is_multiple_of(4096) {
            progress(completed, all);
        }
    }
    pair.finish();
    // The counter's value is shown a clock after its index.
    pair.step()?;
    Ok(true)
}

/// Writes frames of both directions, in the order in which they left.
fn write_frames(mut frames: Vec<Frame>, path: &Path) -> Result<()> {
    frames.sort_by_key(|frame| frame.clock);
    let records = frames
        .iter()
        .map(|frame| (CLOCK * frame.clock as u32, frame.bytes.as_slice()));
    let bytes = write_pcap(records).context("cannot make the capture of the traffic")?;
    fs::write(path, bytes).with_context(|| format!("cannot write {} (is the disk full?)", path.display()))
}

/// The capture asked for, or the public NCCL ring capture where it is, or one made up with real headers.
fn capture(options: &Options) -> Result<(String, Capture)> {
    if let Some(path) = &options.capture {
        return Ok((path.display().to_string(), Capture::read(path)?));
    }
    let data =
        std::env::var_os("METAROCE_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    let public = data.join("rocev2/ring2_node0.pcap");
    if public.is_file() {
        return Ok((public.display().to_string(), Capture::read(&public)?));
    }
    let bytes = generate_ring_capture(options.seed, &RingTraffic::default())?;
    let path = options.out.join("ring.pcap");
    fs::write(&path, &bytes).with_context(|| format!("cannot write {}", path.display()))?;
    Ok((
        format!("{} (generated)", path.display()),
        Capture::read(Path::new(&path))?,
    ))
}
