//! Running the tools: found in one folder, of a version that will do, their output kept in a log.

use crate::Error;
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Lines of a failed tool's log that are shown.
const TAIL: usize = 12;

/// The folder that the tools are in.
#[derive(Clone, Debug)]
pub struct Tools(PathBuf);

impl Tools {
    /// The tools in that folder, or those that scripts/setup.sh installed.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self(folder.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../.tools/bin")))
    }

    fn command(&self, tool: &str) -> Command {
        let mut command = Command::new(self.0.join(tool));
        command.stdin(Stdio::null());
        command
    }

    /// The tool's version, which is at least `minimum` (major, minor).
    ///
    /// # Errors
    /// [`Error::ToolMissing`], [`Error::ToolTooOld`], [`Error::ToolOutput`].
    pub fn version(&self, tool: &'static str, minimum: (u32, u32)) -> Result<String, Error> {
        let said = self
            .command(tool)
            .arg("--version")
            .output()
            .map_err(|error| self.missing(tool, &error))?;
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&said.stdout),
            String::from_utf8_lossy(&said.stderr)
        );
        let version = find_version(&text).ok_or_else(|| Error::ToolOutput {
            tool,
            reason: format!("--version gave no version but '{}'", text.trim()),
        })?;
        let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
        if (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) < minimum {
            return Err(Error::ToolTooOld {
                tool,
                found: version,
                minimum: format!("{}.{}", minimum.0, minimum.1),
            });
        }
        Ok(version)
    }

    /// Refuses a tool that is not there.
    ///
    /// # Errors
    /// [`Error::ToolMissing`].
    pub fn need(&self, tool: &str) -> Result<(), Error> {
        match std::fs::metadata(self.0.join(tool)) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.missing(tool, &error)),
        }
    }

    /// Runs the tool in `folder`. All that it says ends up in the file `log` there, which the tool may write by itself.
    ///
    /// # Errors
    /// [`Error::ToolMissing`], [`Error::ToolFailed`], [`Error::Output`].
    pub fn run(&self, tool: &str, arguments: &[String], folder: &Path, log: &str) -> Result<(), Error> {
        let log = folder.join(log);
        let captured = log.with_extension("captured");
        let output = |source| Error::Output {
            path: log.clone(),
            source,
        };
        let file = File::create(&captured).map_err(output)?;
        let status = self
            .command(tool)
            .args(arguments)
            .current_dir(folder)
            .stdout(file.try_clone().map_err(output)?)
            .stderr(file)
            .status()
            .map_err(|error| self.missing(tool, &error))?;
        let said = fs::read(&captured).map_err(output)?;
        let own = fs::read(&log).unwrap_or_default();
        fs::write(&log, [own.as_slice(), &said].concat()).map_err(output)?;
        fs::remove_file(&captured).map_err(output)?;
        if status.success() {
            return Ok(());
        }
        Err(Error::ToolFailed {
            tool: tool.into(),
            status: status.to_string(),
            log,
            tail: tail(&String::from_utf8_lossy(&own), &String::from_utf8_lossy(&said)),
        })
    }

    fn missing(&self, tool: &str, error: &std::io::Error) -> Error {
        Error::ToolMissing {
            tool: self.0.join(tool).display().to_string(),
            reason: error.to_string(),
        }
    }
}

/// The last lines of the tool's own log, and those of what it said besides.
fn tail(own: &str, said: &str) -> String {
    let last = |text: &str| -> Vec<String> {
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let start = lines.len().saturating_sub(TAIL);
        lines[start..].iter().map(|line| format!("  {line}")).collect()
    };
    let mut lines = last(own);
    for line in last(said) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    if lines.is_empty() {
        lines.push("  (it said nothing)".into());
    }
    lines.join("\n")
}

/// The first word like 0.70 or nextpnr-0.11.1 in the text, as numbers and dots.
fn find_version(text: &str) -> Option<String> {
    text.split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .find(|word| {
            let mut parts = word.split('.');
            parts.clone().count() >= 2 && parts.all(|part| !part.is_empty())
        })
        .map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_real_tools() {
        for (said, version) in [
            ("Yosys 0.70 (git sha1 28ba3cb92, Release, Clang 22.1.0)", "0.70"),
            (
                "\"nextpnr-ecp5\" -- Next Generation Place and Route (Version nextpnr-0.11.1)",
                "0.11.1",
            ),
            ("nextpnr-ice40 -- (Version 0.6-3-gabc)", "0.6"),
        ] {
            assert_eq!(find_version(said).as_deref(), Some(version));
        }
        assert_eq!(find_version("usage: tool. See ..."), None);
    }
}
