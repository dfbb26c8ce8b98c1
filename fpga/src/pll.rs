//! The ECP5's PLL, which makes the design's clock of the board's oscillator.

use crate::Error;
use metaroce_rtl::hdl::{Builder, Module};
use std::rc::Rc;

// Limits in MHz, after the table "sysCLOCK PLL Timing" of the ECP5 and ECP5-5G Family Data Sheet (FPGA-DS-02012).
const PHASE_DETECTOR: (f64, f64) = (10.0, 400.0);
const OSCILLATOR: (f64, f64) = (400.0, 800.0);
const OUTPUT: (f64, f64) = (3.125, 400.0);
const MOST_DIVIDE: u32 = 128;
const MOST_MULTIPLY: u32 = 80;
/// Share of the wanted frequency that the made one may be off.
const TOLERANCE: f64 = 0.01;

/// Dividers of a PLL that feeds its output back: output = input / `input_divide` * `multiply`, and the inner oscillator runs at
/// output * `output_divide`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pll {
    /// Oscillator's frequency in MHz.
    pub input_mhz: f64,
    /// Made frequency in MHz.
    pub output_mhz: f64,
    /// `CLKI_DIV`.
    pub input_divide: u32,
    /// `CLKFB_DIV`.
    pub multiply: u32,
    /// `CLKOP_DIV`.
    pub output_divide: u32,
}

impl Pll {
    /// The setting nearest to `wanted` MHz; of equally near ones the one with the fastest phase detector, which jitters least.
    ///
    /// # Errors
    /// [`Error::Frequency`] when it would be off by more than one per cent.
    pub fn new(input_mhz: f64, wanted: f64) -> Result<Self, Error> {
        let mut best: Option<Self> = None;
        for input_divide in 1..=MOST_DIVIDE {
            let phase_detector = input_mhz / f64::from(input_divide);
            if !within(phase_detector, PHASE_DETECTOR) {
                continue;
            }
            for multiply in 1..=MOST_MULTIPLY {
                let output_mhz = phase_detector * f64::from(multiply);
                if !within(output_mhz, OUTPUT) {
                    continue;
                }
                let middle = (OSCILLATOR.0 + OSCILLATOR.1) / 2.0;
                let output_divide = ((middle / output_mhz).round() as u32).clamp(1, MOST_DIVIDE);
                let candidate = Self {
                    input_mhz,
                    output_mhz,
                    input_divide,
                    multiply,
                    output_divide,
                };
                let nearer =
                    best.is_none_or(|b| (output_mhz - wanted).abs() < (b.output_mhz - wanted).abs() - 1e-9);
                if within(output_mhz * f64::from(output_divide), OSCILLATOR) && nearer {
                    best = Some(candidate);
                }
            }
        }
        best.filter(|b| (b.output_mhz - wanted).abs() <= wanted * TOLERANCE)
            .ok_or(Error::Frequency {
                wanted,
                input: input_mhz,
                low: OUTPUT.0.max(PHASE_DETECTOR.0),
                high: OUTPUT.1,
            })
    }

    /// A module with the outputs `design_clock` and `ready` around the device's primitive.
    pub fn module(&self) -> Rc<Module> {
        let Self {
            input_mhz,
            output_mhz,
            input_divide,
            multiply,
            output_divide,
        } = self;
        let b = Builder::new(
            "pll",
            &format!("ECP5 PLL: makes {output_mhz} MHz of {input_mhz} MHz."),
        );
        b.declare_output("design_clock", 1, "The clock made.");
        b.declare_output("ready", 1, "The clock made is stable.");
        // Phase in oscillator periods that lines the output up with the input.
        let phase = (output_divide / 2).saturating_sub(1);
        b.custom(format!(
            "    wire made;
    wire locked;

    (* FREQUENCY_PIN_CLKI = \"{input_mhz}\", FREQUENCY_PIN_CLKOP = \"{output_mhz}\" *)
    (* ICP_CURRENT = \"12\", LPF_RESISTOR = \"8\", MFG_ENABLE_FILTEROPAMP = \"1\", MFG_GMCREF_SEL = \"2\" *)
    EHXPLLL #(
        .CLKI_DIV({input_divide}),
        .CLKFB_DIV({multiply}),
        .FEEDBK_PATH(\"CLKOP\"),
        .CLKOP_ENABLE(\"ENABLED\"),
        .CLKOP_DIV({output_divide}),
        .CLKOP_CPHASE({phase}),
        .CLKOP_FPHASE(0),
        .OUTDIVIDER_MUXA(\"DIVA\"),
        .OUTDIVIDER_MUXB(\"DIVB\"),
        .OUTDIVIDER_MUXC(\"DIVC\"),
        .OUTDIVIDER_MUXD(\"DIVD\"),
        .PLLRST_ENA(\"DISABLED\"),
        .STDBY_ENABLE(\"DISABLED\"),
        .INTFB_WAKE(\"DISABLED\"),
        .DPHASE_SOURCE(\"DISABLED\")
    ) primitive (
        .CLKI(clk),
        .CLKOP(made),
        .CLKFB(made),
        .LOCK(locked),
        .RST(1'b0),
        .STDBY(1'b0),
        .ENCLKOP(1'b0),
        .PHASESEL0(1'b0),
        .PHASESEL1(1'b0),
        .PHASEDIR(1'b1),
        .PHASESTEP(1'b1),
        .PHASELOADREG(1'b1),
        .PLLWAKESYNC(1'b0)
    );

    always @(*) begin
        design_clock = made;
        ready = locked;
    end
"
        ));
        b.finish()
    }
}

fn within(value: f64, (low, high): (f64, f64)) -> bool {
    (low..=high).contains(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The setting that ecppll, too, makes of 25 MHz for 100 MHz: 1, 4, 6.
    #[test]
    fn known_setting() {
        let pll = Pll::new(25.0, 100.0).unwrap();
        assert_eq!((pll.input_divide, pll.multiply, pll.output_divide), (1, 4, 6));
        assert!(pll.module().custom.as_ref().unwrap().contains(".CLKOP_CPHASE(2)"));
    }

    #[test]
    fn settings_keep_the_limits() {
        for wanted in [12.5, 50.0, 62.5, 75.0, 112.5, 125.0, 150.0, 200.0, 400.0] {
            let pll = Pll::new(25.0, wanted).unwrap();
            assert!((pll.output_mhz - wanted).abs() <= wanted * TOLERANCE, "{pll:?}");
            assert!(
                within(pll.output_mhz * f64::from(pll.output_divide), OSCILLATOR),
                "{pll:?}"
            );
            assert!(
                within(25.0 / f64::from(pll.input_divide), PHASE_DETECTOR),
                "{pll:?}"
            );
        }
    }

    #[test]
    fn impossible_frequencies_are_refused() {
        for wanted in [0.0, 1.0, 410.0, f64::NAN] {
            assert!(
                Pll::new(25.0, wanted)
                    .unwrap_err()
                    .to_string()
                    .contains("no PLL setting")
            );
        }
    }
}
