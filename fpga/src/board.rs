//! Boards: what device is on them and where the harness's pins are. One TOML file each, in `fpga/boards`.

use crate::Error;
use serde::Deserialize;
use std::{collections::BTreeMap, path::Path};

/// Names and files of the boards that come with the project.
const BUILT_IN: [(&str, &str); 2] = [
    ("ulx3s-85f", include_str!("../boards/ulx3s-85f.toml")),
    ("ice40-hx8k", include_str!("../boards/ice40-hx8k.toml")),
];

/// A board.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// Lower case, digits and hyphens: it names folders and files.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// Title of the document that the pins were taken from.
    pub source: String,
    /// The FPGA.
    pub device: Device,
    /// The oscillator and the clock made of it.
    pub clock: Clock,
    /// Where each of [`crate::harness::PINS`] is.
    pub pins: BTreeMap<String, Pin>,
}

/// An FPGA.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Which tools make its bitstream.
    pub family: Family,
    /// Manufacturer's part number.
    pub part: String,
    /// nextpnr's option for the device, without the hyphens.
    pub size: String,
    /// nextpnr's name of the package.
    pub package: String,
    /// Speed grades that nextpnr knows for it, the part's own first; empty where the device has but one.
    pub speed_grades: Vec<u8>,
}

/// A family of FPGAs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Lattice ECP5: nextpnr-ecp5, ecppack.
    Ecp5,
    /// Lattice iCE40: nextpnr-ice40, icepack.
    Ice40,
}

/// The board's oscillator and the design's clock.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// The pin it comes in at.
    pub site: String,
    /// The oscillator's frequency in MHz.
    pub mhz: f64,
    /// The design's clock in MHz where a PLL makes it; otherwise what place and route aims at.
    pub design_mhz: f64,
    /// A PLL makes the design's clock; otherwise it is the oscillator's.
    pub pll: bool,
    /// Attributes of the pin.
    #[serde(default)]
    pub attributes: BTreeMap<String, String>,
}

/// A pin.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// Its ball.
    pub site: String,
    /// The signal at the pin is active low.
    #[serde(default)]
    pub inverted: bool,
    /// For ECP5 of `IOBUF`, for iCE40 options of `set_io`.
    #[serde(default)]
    pub attributes: BTreeMap<String, String>,
}

impl Board {
    /// The names of the boards that come with the project.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The board of that name, or the board in the file at that path (which must end in `.toml`).
    ///
    /// # Errors
    /// [`Error::UnknownBoard`], [`Error::BadBoard`].
    pub fn load(name: &str) -> Result<Self, Error> {
        if let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            return Self::from_toml(text, name);
        }
        if Path::new(name).extension().is_none_or(|e| e != "toml") {
            return Err(Error::UnknownBoard {
                name: name.into(),
                known: Self::names().collect::<Vec<_>>().join(", "),
            });
        }
        let text = std::fs::read_to_string(name).map_err(|error| bad(name, error.to_string()))?;
        Self::from_toml(&text, name)
    }

    /// Reads and checks a board; `origin` says in errors where the text came from.
    ///
    /// # Errors
    /// [`Error::BadBoard`].
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, Error> {
        let board: Self = toml::from_str(text).map_err(|error| bad(origin, error.to_string()))?;
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if board.name.is_empty() || !board.name.chars().all(plain) {
            let reason = format!(
                "name is '{}', but it must be of lower-case letters, digits and hyphens",
                board.name
            );
            return Err(bad(origin, reason));
        }
        for (pin, _) in crate::harness::PINS {
            if !board.pins.contains_key(pin) {
                return Err(bad(origin, format!("it does not say where the pin '{pin}' is")));
            }
        }
        if let Some(pin) = board
            .pins
            .keys()
            .find(|pin| !crate::harness::PINS.iter().any(|(known, _)| known == pin))
        {
            return Err(bad(origin, format!("there is no pin '{pin}' in the design")));
        }
        if board.clock.pll && board.device.family == Family::Ice40 {
            return Err(bad(
                origin,
                "the PLL of an iCE40 is not supported; set clock.pll = false".into(),
            ));
        }
        if !(board.clock.mhz > 0.0 && board.clock.design_mhz > 0.0) {
            return Err(bad(origin, "a frequency of its clock is not above 0 MHz".into()));
        }
        Ok(board)
    }
}

fn bad(origin: &str, reason: String) -> Error {
    Error::BadBoard {
        origin: origin.into(),
        reason,
    }
}
