//! What can go wrong, and the exit code that tells it.

use metaroce_model::params::ParamsError;
use std::path::PathBuf;
use thiserror::Error;

/// Exit code: done, and the timing goal, if there was one, is met.
pub const DONE: u8 = 0;
/// Exit code: built, but slower than `--require-mhz`.
pub const TOO_SLOW: u8 = 1;
/// Exit code: a board, profile, unit, option or folder that cannot be used.
pub const BAD_INPUT: u8 = 2;
/// Exit code: a tool is missing, too old or failed.
pub const TOOL: u8 = 3;

/// Why there is no bitstream.
#[derive(Debug, Error)]
pub enum Error {
    /// No built-in board has that name.
    #[error("there is no board '{name}': the built-in ones are {known}, and a path must end in .toml")]
    UnknownBoard {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A board's file cannot be used.
    #[error("the board {origin} cannot be used: {reason}")]
    BadBoard {
        /// Where the text came from.
        origin: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The profile cannot be used.
    #[error(transparent)]
    Profile(#[from] ParamsError),
    /// No unit has that name.
    #[error("there is no unit '{name}': the units are {known}")]
    UnknownUnit {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// nextpnr does not know that speed grade.
    #[error("the {part} has no speed grade {grade}: {known}")]
    SpeedGrade {
        /// The device.
        part: String,
        /// What was asked for.
        grade: u8,
        /// What there is.
        known: String,
    },
    /// The PLL cannot make the frequency.
    #[error("no PLL setting makes {wanted} MHz of {input} MHz; --freq takes {low} to {high} MHz")]
    Frequency {
        /// Frequency asked for, in MHz.
        wanted: f64,
        /// Oscillator, in MHz.
        input: f64,
        /// Lowest frequency in MHz.
        low: f64,
        /// Highest frequency in MHz.
        high: f64,
    },
    /// The results cannot be written.
    #[error("cannot write to {}: {source}; choose another folder with --out", path.display())]
    Output {
        /// File or folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A report cannot be read.
    #[error("cannot read the report {}: {reason}", path.display())]
    Report {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A tool is not there or cannot be started.
    #[error(
        "the tool {tool} cannot be started ({reason}); scripts/setup.sh installs it, or --tools names the folder it is in"
    )]
    ToolMissing {
        /// Its path.
        tool: String,
        /// What the operating system said.
        reason: String,
    },
    /// A tool is older than the flow needs.
    #[error("{tool} is version {found}, but {minimum} or newer is needed; scripts/setup.sh installs one")]
    ToolTooOld {
        /// Its name.
        tool: &'static str,
        /// Its version.
        found: String,
        /// The oldest that will do.
        minimum: String,
    },
    /// A tool ended with an error.
    #[error("{tool} failed ({status}). Its last lines, of the log {}:\n{tail}", log.display())]
    ToolFailed {
        /// Its name.
        tool: String,
        /// How it ended.
        status: String,
        /// Where all it said is kept.
        log: PathBuf,
        /// The end of that.
        tail: String,
    },
    /// What a tool wrote is not what was expected.
    #[error("what {tool} wrote cannot be used: {reason}")]
    ToolOutput {
        /// The tool.
        tool: &'static str,
        /// What was wrong with it.
        reason: String,
    },
}

impl Error {
    /// The exit code that tells it.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::ToolMissing { .. }
            | Self::ToolTooOld { .. }
            | Self::ToolFailed { .. }
            | Self::ToolOutput { .. } => TOOL,
            _ => BAD_INPUT,
        }
    }
}
