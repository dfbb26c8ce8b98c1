//! Two NICs back to back, configured alike.

use metaroce_model::{
    Params,
    pair::{Pair, Setup},
    port::{configuration::command, nic},
    unit::nic::Nic,
};

/// Where the bytes of messages are, and where they go.
pub const SOURCE: u64 = 0x1_0000_0000_0000;
pub const TARGET: u64 = 0x2_0000_0000;
/// The region that may be written to, in both hosts.
pub const REGION_BYTES: u64 = 1 << 33;
pub const KEY: u32 = 0x0100_0003;

/// The command that makes the region, of the connections' domain, or unmakes it.
pub fn region(valid: bool) -> nic::Inputs {
    nic::Inputs {
        s_axis_command_command: command::REGION,
        s_axis_command_key: KEY,
        s_axis_command_address: TARGET,
        s_axis_command_mac: REGION_BYTES,
        s_axis_command_domain: 1,
        s_axis_command_flag: valid,
        ..Default::default()
    }
}

/// Tells both ends of the region and of each other.
pub fn configure(params: &Params, pair: &mut Pair<Nic, Nic>, setup: impl Fn(u8) -> Setup) {
    for end in [&mut pair.left, &mut pair.right] {
        end.host.memory.allow(TARGET..TARGET + REGION_BYTES);
        end.host.command(region(true));
    }
    pair.configure(params, setup).unwrap();
}
