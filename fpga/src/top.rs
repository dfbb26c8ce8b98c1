//! The top of the design on a board: the harness at the board's pins, and the PLL where the board has one.

use crate::{
    Error,
    board::Board,
    harness::{self, PINS, harness},
    pll::Pll,
    scan::Layout,
};
use metaroce_model::Params;
use metaroce_rtl::hdl::{Builder, Module, Signal};
use std::rc::Rc;

/// The name of the top's module.
pub const NAME: &str = "metaroce_top";

/// The design for a board.
pub struct Top {
    /// The module; its ports are `clk`, the oscillator, and [`PINS`].
    pub module: Rc<Module>,
    /// The scan chain's bits.
    pub layout: Layout,
    /// The design's clock in MHz; without a PLL what place and route aims at.
    pub mhz: f64,
}

/// The design with the named units for a board. `mhz` is the design's clock, the board's own choice by default.
///
/// # Errors
/// [`Error::UnknownUnit`], [`Error::Frequency`].
pub fn top(board: &Board, units: &[&str], params: &Params, mhz: Option<f64>) -> Result<Top, Error> {
    let harness = harness(units, params)?;
    let wanted = mhz.unwrap_or(board.clock.design_mhz);
    let pll = board
        .clock
        .pll
        .then(|| Pll::new(board.clock.mhz, wanted))
        .transpose()?;
    let b = Builder::new(NAME, &format!("{} on the {}.", units.join(", "), board.title));
    let at_pin = |pin: &str, value: Signal| if board.pins[pin].inverted { !value } else { value };

    let clock_ready = match &pll {
        Some(pll) => b.instance("pll", &pll.module(), &[]).get("ready"),
        None => b.lit(1, 1),
    };
    let mut inputs = vec![("clock_ready", clock_ready)];
    for (pin, _) in PINS.iter().filter(|(_, input)| *input) {
        inputs.push((pin, at_pin(pin, b.add_input(pin, 1, ""))));
    }
    let connections: Vec<_> = inputs.iter().map(|(name, value)| (*name, value)).collect();
    let outputs = b.instance(harness::NAME, &harness.module, &connections);
    for (pin, _) in PINS.iter().filter(|(_, input)| !*input) {
        b.add_output(pin, "", &at_pin(pin, outputs.get(pin)));
    }

    let mut module = (*b.finish()).clone();
    if pll.is_some() {
        // The builder gives every instance the clock of its parent; here it is the PLL's.
        let instance = module.instances.iter_mut().find(|i| i.name == harness::NAME);
        let connections = instance.into_iter().flat_map(|i| i.connections.iter_mut());
        for (_, outer) in connections.filter(|(port, _)| port == "clk") {
            *outer = "pll_design_clock".into();
        }
    }
    Ok(Top {
        module: Rc::new(module),
        layout: harness.layout,
        mhz: pll.map_or(wanted, |pll| pll.output_mhz),
    })
}
