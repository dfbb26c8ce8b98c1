//! The main job: real RoCEv2 traffic through the four units, model and RTL in lockstep all the while.
//!
//! The data packets of a capture are sent again as MetaRoCE would: sprayed over paths, lost at a given rate, acknowledged with selective vectors,
//! retransmitted, paced. The units do the work; `system` plays what is not built yet: the glue between the units, and
//! the channel, ordered on each path.

mod driver;
mod system;

pub use system::{Outcome, System};

use crate::{exit, run::RunError, wave};
use anyhow::{Context, Result, bail};
use metaroce_model::{
    Params,
    rocev2::{Capture, CaptureSummary, Messages, RingTraffic, generate_ring_capture},
};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Bytes on the wire beside a packet's RoCEv2 transport bytes: Ethernet with preamble, check sequence and gap; IPv4; UDP.
const OVERHEAD_BYTES: usize = 38 + 20 + 8;

/// What to replay and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The capture; `None` takes the public one where it is, else makes one up.
    pub capture: Option<PathBuf>,
    /// Packets lost, of each 10,000, in each direction.
    pub loss_per_10000: u32,
    /// How many times the capture's packets are sent.
    pub rounds: u32,
    /// Seed of losses and back-pressure.
    pub seed: u64,
    /// Folder for the result and the waveform.
    pub out: PathBuf,
    /// Clocks of the waveform.
    pub vcd_clocks: usize,
}

/// A packet to be sent: its connection and its bytes on the wire.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// Connection.
    pub connection: u16,
    /// Bytes on the wire.
    pub bytes: u16,
}

/// What a replay found; also the machine-readable result.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Where the packets came from.
    pub capture: String,
    /// What the capture held.
    pub summary: CaptureSummary,
    /// RDMA messages in it.
    pub messages: usize,
    /// The profile.
    pub profile: String,
    /// The seed.
    pub seed: u64,
    /// Share of packets and acknowledgements lost by the channel.
    pub loss: f64,
    /// How many times the packets were sent.
    pub rounds: u32,
    /// What happened.
    pub outcome: Outcome,
    /// The waveform.
    pub vcd: PathBuf,
    /// The command that does this again.
    pub replay: String,
}

impl Report {
    /// The exit code that tells a CI how it went.
    pub fn code(&self) -> u8 {
        let good = self.outcome.equal
            && self.outcome.spurious == 0
            && self.outcome.delivered == self.outcome.packets;
        if good { exit::EQUAL } else { exit::MISMATCH }
    }
}

/// Replays a capture; `progress` gets packets delivered and packets in all.
pub fn run(params: &Params, options: &Options, progress: &mut dyn FnMut(u64, u64)) -> Result<Report> {
    fs::create_dir_all(&options.out)
        .with_context(|| format!("cannot make the folder {}", options.out.display()))?;
    let (name, capture) = capture(options)?;
    let mut connections = BTreeMap::new();
    let mut jobs = Vec::new();
    for (_, packet) in capture.packets().filter(|(_, packet)| packet.operation.is_data()) {
        let flow = (packet.source, packet.destination, packet.qpn.value());
        let next = connections.len() as u32 % params.connections;
        let connection = *connections.entry(flow).or_insert(next) as u16;
        let bytes = packet.transport_bytes() + OVERHEAD_BYTES;
        let bytes = u16::try_from(bytes)
            .ok()
            .filter(|b| u32::from(*b) <= params.max_packet_bytes);
        let Some(bytes) = bytes else {
            bail!(RunError::Capture {
                message: format!(
                    "{name} has a packet larger than the {} bytes that profile {} allows (max_packet_bytes)",
                    params.max_packet_bytes, params.name
                )
            });
        };
        jobs.push(Job { connection, bytes });
    }
    if jobs.is_empty() {
        bail!(RunError::Capture {
            message: format!(
                "{name} has no RDMA data packet (SEND or RDMA WRITE) with a right ICRC: choose another capture"
            )
        });
    }
    let jobs: Vec<Job> = (0..options.rounds).flat_map(|_| jobs.iter().copied()).collect();

    let mut system = System::new(params, options, jobs)?;
    let outcome = system.run(progress)?;
    let vcd = options.out.join("demo.vcd");
    wave::write(&system.recordings(options.vcd_clocks)?, 0, &vcd)?;
    let loss = f64::from(options.loss_per_10000) / 100.0;
    let report = Report {
        summary: capture.summary,
        messages: Messages::from_packets(capture.packets()).messages.len(),
        profile: params.name.clone(),
        seed: options.seed,
        loss: loss / 100.0,
        rounds: options.rounds,
        outcome,
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
