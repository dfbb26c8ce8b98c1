//! `nic`: the units and what joins them. Contract: [`metaroce_model::port::nic`], in whose order everything here stands.
//!
//! All instances come first, their inputs wires that are driven below. Every output of every unit is a register or a few gates behind registers, so what is added here is no
//! more than a choice.

use super::funnel::{Input, Value, funnel};
use crate::hdl::{
    Builder, Module, Signal,
    builder::Outputs as Pins,
    mutate::{Fault, Mutation},
};
use metaroce_model::{
    Params,
    port::{
        self, Direction, Port, ack_table, connection_table, key_table, message_table,
        nic::{Inputs, Outputs},
        packet_table, path_table, rate_limiter, receive_table, request_table, retry_table, sack_rx, sack_tx,
        scheduler, unit_ports,
    },
};
use std::{cell::RefCell, collections::BTreeSet, rc::Rc};

/// Tags of `connection_table`: who asked.
const RECEIVER: u64 = 1;
const ACKNOWLEDGER: u64 = 2;
const TRANSMITTER: u64 = 3;
/// Tags of `request_table` and `packet_table`.
const FOR_TRANSMITTER: u64 = 0;
const FOR_RETIREMENT: u64 = 1;

/// An instance of a unit, whose inputs are driven after it was made.
struct Instance {
    b: Builder,
    name: &'static str,
    ports: Vec<Port>,
    pins: Pins,
    /// Outputs that something was made of.
    used: RefCell<BTreeSet<String>>,
}

impl Instance {
    fn new(b: &Builder, name: &'static str, module: &Rc<Module>, ports: Vec<Port>) -> Self {
        let inputs: Vec<(&str, Signal)> = ports
            .iter()
            .filter(|port| port.direction == Direction::Input)
            .map(|port| (port.name, b.forward(&format!("{name}_{}", port.name), port.width)))
            .collect();
        let connections: Vec<(&str, &Signal)> = inputs.iter().map(|(name, wire)| (*name, wire)).collect();
        let pins = b.instance(name, module, &connections);
        let instance = Self {
            b: b.clone(),
            name,
            ports,
            pins,
            used: RefCell::default(),
        };
        instance.drive("rst", &b.get("rst"));
        instance
    }

    /// The output of that name.
    fn get(&self, port: &str) -> Signal {
        self.used.borrow_mut().insert(port.into());
        self.pins.get(port)
    }

    /// Says of the outputs that nothing was made of that this is meant.
    fn finish(&self) {
        let used = self.used.borrow();
        let unused: Vec<Signal> = self
            .ports
            .iter()
            .filter(|port| port.direction == Direction::Output && !used.contains(port.name))
            .map(|port| self.pins.get(port.name))
            .collect();
        if !unused.is_empty() {
            let unused: Vec<&Signal> = unused.iter().collect();
            self.b.unused(&format!("{}_unused", self.name), &unused);
        }
    }

    /// Drives the input of that name.
    fn drive(&self, port: &str, value: &Signal) {
        self.b.drive(&format!("{}_{port}", self.name), value);
    }

    /// The fields of a stream or strobe.
    fn fields(&self, name: &str) -> Vec<(&'static str, u32)> {
        port::fields(&self.ports, name)
    }

    /// Feeds the input stream `to` from the output stream `from` of another unit; fields that it has and the other lacks are zero.
    fn stream(&self, to: &str, source: &Self, from: &str) {
        self.strobe_fields(to, source, from);
        self.drive(&format!("{to}_tvalid"), &source.get(&format!("{from}_tvalid")));
        source.drive(&format!("{from}_tready"), &self.get(&format!("{to}_tready")));
    }

    /// Feeds the strobe `to` from the result `from` of a table in clocks in which `when` holds.
    fn strobe(&self, to: &str, source: &Self, from: &str, when: &Signal) {
        self.strobe_fields(to, source, from);
        self.drive(&format!("{to}_valid"), when);
    }

    fn strobe_fields(&self, to: &str, source: &Self, from: &str) {
        let offered = source.fields(from);
        for (field, width) in self.fields(to) {
            let value = if offered.iter().any(|(name, _)| *name == field) {
                source.get(&format!("{from}_{field}"))
            } else {
                self.b.lit(0, width)
            };
            self.drive(&format!("{to}_{field}"), &value);
        }
    }

    /// What the output stream `from` gives to a funnel: its fields, and constants.
    fn offers(&self, from: &str, constants: &[(&'static str, u64)]) -> Input {
        let signals = self.fields(from).into_iter().map(|(field, _)| {
            let value = self.get(&format!("{from}_{field}"));
            (field, Value::Signal(value))
        });
        input(self.get(&format!("{from}_tvalid")), signals.collect(), constants)
    }
}

/// An input of a funnel.
fn input(valid: Signal, mut fields: Vec<(&'static str, Value)>, constants: &[(&'static str, u64)]) -> Input {
    fields.extend(
        constants
            .iter()
            .map(|(name, value)| (*name, Value::Constant(*value))),
    );
    Input { valid, fields }
}

/// The unit for a profile.
pub fn unit(params: &Params) -> Rc<Module> {
    let doc = format!(
        "The MetaRoCE NIC: work requests to frames, frames to memory and completions.
        Profile {}: {} connections of {} paths and {} streams, {} planes, a bus of {} bits.
        An independent implementation; the wire's layout is a placeholder until the specification can be read.",
        params.name, params.connections, params.paths, params.streams, params.planes, params.data_bits,
    );
    let b = Builder::unit("nic", &doc, &unit_ports::<Inputs, Outputs>(params));
    let now = b.get("now");
    macro_rules! instances {
        ($all:ident = $($name:ident : $unit:ident),+ $(,)?) => {$(
            let $name = Instance::new(
                &b,
                stringify!($name),
                &super::$unit::unit(params),
                unit_ports::<port::$unit::Inputs, port::$unit::Outputs>(params),
            );
        )+
            let $all = [$(&$name),+];
        };
    }
    instances!(
        all =
        configuration: configuration,
        parser: parser,
        frame_buffer: frame_buffer,
        receiver: receiver,
        connection_table: connection_table,
        key_table: key_table,
        receive_table: receive_table,
        sack_rx: sack_rx,
        placement: placement,
        placing: align,
        received_teller: teller,
        received_messages: message_table,
        ack_table: ack_table,
        acknowledger: acknowledger,
        scheduler: scheduler,
        retry_table: retry_table,
        transmitter: transmitter,
        path_table: path_table,
        sack_tx: sack_tx,
        rate_limiter: rate_limiter,
        request_table: request_table,
        packet_table: packet_table,
        fetching: align,
        deparser: deparser,
        retirement: retirement,
        sent_teller: teller,
        sent_messages: message_table,
        completion: completion,
        timer: timer,
        counters: counters,
    );

    // Results: when they are taken, and what they are.
    let result = |table: &Instance, field: &str| table.get(&format!("m_axis_result_{field}"));
    let valid = |table: &Instance| result(table, "tvalid");
    let is = |table: &Instance, code: u8| result(table, "op").is(code.into());
    let request_taken = b.forward("request_taken", 1);
    let path_taken = b.forward("path_taken", 1);
    let rate_taken = b.forward("rate_taken", 1);
    let sack_taken = b.forward("sack_taken", 1);
    let next = (&request_taken & is(&request_table, request_table::op::NEXT)).named("next_result");
    let posted = (is(&request_table, request_table::op::POST) | is(&request_table, request_table::op::INIT))
        .named("posted_result");
    let pending_op = is(&sack_tx, sack_tx::op::ACKNOWLEDGE)
        | is(&sack_tx, sack_tx::op::TIMEOUT)
        | is(&sack_tx, sack_tx::op::RETRANSMIT);
    let pending = (&sack_taken & &pending_op & result(&sack_tx, "pending")).named("pending_result");
    let opened_op = is(&path_table, path_table::op::ACKNOWLEDGE)
        | is(&path_table, path_table::op::TIMEOUT)
        | is(&path_table, path_table::op::CONFIGURE);
    let opened = (&path_taken & &opened_op).named("opened_result");

    // Funnels, in the order of the contract's table.
    let join = |table: &Instance, stream: &str, inputs: &[Input]| {
        let fields = table.fields(stream);
        let name = format!("{}_funnel", table.name);
        let funnel = funnel(
            &b,
            &name,
            &fields,
            inputs,
            &table.get(&format!("{stream}_tready")),
        );
        table.drive(&format!("{stream}_tvalid"), &funnel.valid);
        for (field, value) in &funnel.fields {
            table.drive(&format!("{stream}_{field}"), value);
        }
        funnel.ready
    };
    let ready_to = |unit: &Instance, stream: &str, ready: &Signal| {
        unit.drive(&format!("m_axis_{stream}_tready"), ready);
    };
    let own = unit_ports::<Inputs, Outputs>(params);
    let posts = |stream: &str, code: u8| {
        let signals = port::fields(&own, stream).into_iter().map(|(field, _)| {
            let value = b.get(&format!("{stream}_{field}"));
            (field, Value::Signal(value))
        });
        input(
            b.get(&format!("{stream}_tvalid")),
            signals.collect(),
            &[("op", code.into())],
        )
    };
    let op = |code: u8| ("op", u64::from(code));
    let lookup = |unit: &Instance, tag: u64| {
        unit.offers("m_axis_lookup", &[op(connection_table::op::LOOKUP), ("tag", tag)])
    };

    let ready = join(
        &connection_table,
        "s_axis_op",
        &[
            configuration.offers("m_axis_connection", &[]),
            lookup(&receiver, RECEIVER),
            lookup(&acknowledger, ACKNOWLEDGER),
            lookup(&transmitter, TRANSMITTER),
        ],
    );
    ready_to(&configuration, "connection", &ready[0]);
    ready_to(&receiver, "lookup", &ready[1]);
    ready_to(&acknowledger, "lookup", &ready[2]);
    ready_to(&transmitter, "lookup", &ready[3]);

    let ready = join(
        &key_table,
        "s_axis_op",
        &[
            configuration.offers("m_axis_key", &[op(key_table::op::CONFIGURE)]),
            receiver.offers("m_axis_check", &[op(key_table::op::CHECK)]),
        ],
    );
    ready_to(&configuration, "key", &ready[0]);
    ready_to(&receiver, "check", &ready[1]);

    let ready = join(
        &receive_table,
        "s_axis_op",
        &[
            configuration.offers("m_axis_receive", &[op(receive_table::op::INIT)]),
            posts("s_axis_rq", receive_table::op::POST),
            receiver.offers("m_axis_match", &[op(receive_table::op::MATCH)]),
            completion.offers("m_axis_complete", &[op(receive_table::op::COMPLETE)]),
        ],
    );
    ready_to(&configuration, "receive", &ready[0]);
    b.drive("s_axis_rq_tready", &ready[1]);
    ready_to(&receiver, "match", &ready[2]);
    ready_to(&completion, "complete", &ready[3]);

    let ready = join(
        &sack_rx,
        "s_axis_rx",
        &[
            configuration.offers("m_axis_sack_rx", &[op(sack_rx::op::INIT)]),
            receiver.offers("m_axis_sack", &[]),
            acknowledger.offers("m_axis_sack", &[op(sack_rx::op::ACKNOWLEDGE)]),
        ],
    );
    ready_to(&configuration, "sack_rx", &ready[0]);
    ready_to(&receiver, "sack", &ready[1]);
    ready_to(&acknowledger, "sack", &ready[2]);

    let ready = join(
        &ack_table,
        "s_axis_op",
        &[
            configuration.offers("m_axis_ack", &[op(ack_table::op::INIT)]),
            receiver.offers("m_axis_owe", &[op(ack_table::op::RECEIVE)]),
            acknowledger.offers("m_axis_take", &[op(ack_table::op::TAKE)]),
            timer.offers("m_axis_ack", &[op(ack_table::op::SCAN)]),
        ],
    );
    ready_to(&configuration, "ack", &ready[0]);
    ready_to(&receiver, "owe", &ready[1]);
    ready_to(&acknowledger, "take", &ready[2]);
    ready_to(&timer, "ack", &ready[3]);

    for (messages, teller, stream) in [
        (&received_messages, &received_teller, "received"),
        (&sent_messages, &sent_teller, "sent"),
    ] {
        let ready = join(
            messages,
            "s_axis_op",
            &[
                configuration.offers(&format!("m_axis_{stream}"), &[op(message_table::op::INIT)]),
                teller.offers("m_axis_op", &[]),
            ],
        );
        ready_to(&configuration, stream, &ready[0]);
        ready_to(teller, "op", &ready[1]);
    }

    let read = |unit: &Instance, tag: u64| {
        let signals = unit.fields("m_axis_read").into_iter().map(|(field, width)| {
            // The table completes the number of a message from its lowest bits.
            let value = unit.get(&format!("m_axis_read_{field}"));
            let number = field == "message";
            let value = if number {
                value.extend(24.max(width))
            } else {
                value
            };
            (field, Value::Signal(value))
        });
        let constants = [op(request_table::op::READ), ("tag", tag)];
        input(unit.get("m_axis_read_tvalid"), signals.collect(), &constants)
    };
    let ready = join(
        &request_table,
        "s_axis_op",
        &[
            configuration.offers("m_axis_request", &[op(request_table::op::INIT)]),
            posts("s_axis_wqe", request_table::op::POST),
            transmitter.offers("m_axis_next", &[op(request_table::op::NEXT)]),
            read(&transmitter, FOR_TRANSMITTER),
            read(&retirement, FOR_RETIREMENT),
            completion.offers("m_axis_release", &[op(request_table::op::RELEASE)]),
        ],
    );
    ready_to(&configuration, "request", &ready[0]);
    b.drive("s_axis_wqe_tready", &ready[1]);
    ready_to(&transmitter, "next", &ready[2]);
    ready_to(&transmitter, "read", &ready[3]);
    ready_to(&retirement, "read", &ready[4]);
    ready_to(&completion, "release", &ready[5]);

    let ready = join(
        &packet_table,
        "s_axis_op",
        &[
            transmitter.offers("m_axis_packet", &[("tag", FOR_TRANSMITTER)]),
            retirement.offers(
                "m_axis_packet",
                &[op(packet_table::op::READ), ("tag", FOR_RETIREMENT)],
            ),
        ],
    );
    ready_to(&transmitter, "packet", &ready[0]);
    ready_to(&retirement, "packet", &ready[1]);

    let at_now = |mut input: Input| {
        input.fields.push(("now", Value::Signal(now.clone())));
        input
    };
    let ready = join(
        &path_table,
        "s_axis_op",
        &[
            at_now(configuration.offers("m_axis_path", &[op(path_table::op::CONFIGURE)])),
            transmitter.offers("m_axis_path", &[]),
            retirement.offers("m_axis_path", &[op(path_table::op::ACKNOWLEDGE)]),
            timer.offers("m_axis_path", &[]),
        ],
    );
    ready_to(&configuration, "path", &ready[0]);
    ready_to(&transmitter, "path", &ready[1]);
    ready_to(&retirement, "path", &ready[2]);
    ready_to(&timer, "path", &ready[3]);

    let ready = join(
        &sack_tx,
        "s_axis_op",
        &[
            at_now(configuration.offers("m_axis_sack_tx", &[op(sack_tx::op::INIT)])),
            transmitter.offers("m_axis_sack", &[]),
            retirement.offers("m_axis_sack", &[op(sack_tx::op::ACKNOWLEDGE)]),
            timer.offers("m_axis_sack", &[op(sack_tx::op::TIMEOUT)]),
        ],
    );
    ready_to(&configuration, "sack_tx", &ready[0]);
    ready_to(&transmitter, "sack", &ready[1]);
    ready_to(&retirement, "sack", &ready[2]);
    ready_to(&timer, "sack", &ready[3]);

    let ready = join(
        &rate_limiter,
        "s_axis_op",
        &[
            configuration.offers("m_axis_rate", &[op(rate_limiter::op::CONFIGURE)]),
            transmitter.offers("m_axis_charge", &[op(rate_limiter::op::CHARGE)]),
        ],
    );
    ready_to(&configuration, "rate", &ready[0]);
    ready_to(&transmitter, "charge", &ready[1]);

    let event = |valid: Signal, fields: Vec<(&'static str, Signal)>, constants: &[(&'static str, u64)]| {
        let fields = fields
            .into_iter()
            .map(|(name, value)| (name, Value::Signal(value)));
        input(valid, fields.collect(), constants)
    };
    let connection_bits = params.connection_bits();
    let request_stream = result(&request_table, "stream");
    let request_op = b.mux(
        "request_event_op",
        &is(&request_table, request_table::op::NEXT),
        &b.lit(scheduler::op::SENT.into(), 3),
        &b.lit(scheduler::op::UNSENT.into(), 3),
    );
    let ready = join(
        &scheduler,
        "s_axis_op",
        &[
            configuration.offers("m_axis_schedule", &[op(scheduler::op::START)]),
            event(
                &next | &(&request_taken & &posted),
                vec![
                    ("op", request_op),
                    (
                        "connection",
                        request_stream.slice(params.stream_bits(), connection_bits),
                    ),
                    ("stream", request_stream.truncate(params.stream_bits())),
                    ("flag", result(&request_table, "unsent")),
                ],
                &[],
            ),
            event(
                opened,
                vec![(
                    "connection",
                    result(&path_table, "path").slice(params.path_bits(), connection_bits),
                )],
                &[op(scheduler::op::OPEN)],
            ),
            event(
                rate_taken.clone(),
                vec![
                    ("connection", rate_limiter.get("m_axis_event_connection")),
                    ("flag", rate_limiter.get("m_axis_event_eligible")),
                ],
                &[op(scheduler::op::RATE)],
            ),
            transmitter.offers("m_axis_schedule", &[]),
            completion.offers("m_axis_stop", &[op(scheduler::op::STOP)]),
        ],
    );
    ready_to(&configuration, "schedule", &ready[0]);
    ready_to(&transmitter, "schedule", &ready[4]);
    ready_to(&completion, "stop", &ready[5]);
    request_table.drive("m_axis_result_tready", &ready[1]);
    path_table.drive("m_axis_result_tready", &ready[2]);
    rate_limiter.drive("m_axis_event_tready", &ready[3]);
    // A result that is not taken in a clock is held; it must not be told twice.
    let taken = |name: &str, valid: Signal, ready: &Signal| {
        let held = (!ready).named(&format!("{name}_held"));
        b.drive(&format!("{name}_taken"), &(valid & !held));
    };
    taken("request", valid(&request_table), &ready[1]);
    taken("path", valid(&path_table), &ready[2]);
    taken("rate", rate_limiter.get("m_axis_event_tvalid"), &ready[3]);

    let ready = join(
        &retry_table,
        "s_axis_op",
        &[
            transmitter.offers("m_axis_take", &[op(retry_table::op::TAKE)]),
            event(
                pending,
                vec![("path", result(&sack_tx, "path"))],
                &[op(retry_table::op::MARK)],
            ),
        ],
    );
    ready_to(&transmitter, "take", &ready[0]);
    sack_tx.drive("m_axis_result_tready", &ready[1]);
    taken("sack", valid(&sack_tx), &ready[1]);

    // Results, in the order of the contract's table.
    let always = b.lit(1, 1);
    for table in [
        &connection_table,
        &key_table,
        &receive_table,
        &ack_table,
        &received_messages,
        &sent_messages,
        &packet_table,
        &scheduler,
        &retry_table,
    ] {
        table.drive("m_axis_result_tready", &always);
    }
    sack_rx.drive("m_axis_rx_tready", &always);

    let from = "m_axis_result";
    let looked =
        (valid(&connection_table) & is(&connection_table, connection_table::op::LOOKUP)).named("looked");
    for (unit, tag) in [
        (&receiver, RECEIVER),
        (&acknowledger, ACKNOWLEDGER),
        (&transmitter, TRANSMITTER),
    ] {
        let its = &looked & result(&connection_table, "tag").is(tag);
        unit.strobe("looked", &connection_table, from, &its);
    }
    let checked = valid(&key_table) & is(&key_table, key_table::op::CHECK);
    receiver.strobe("checked", &key_table, from, &checked);
    let matched = valid(&receive_table) & is(&receive_table, receive_table::op::MATCH);
    receiver.strobe("matched", &receive_table, from, &matched);
    let completed = valid(&receive_table) & is(&receive_table, receive_table::op::COMPLETE);
    completion.strobe("completed", &receive_table, from, &completed);
    let sack_op = |code: u8| sack_rx.get("m_axis_rx_op").is(code.into());
    let sacked =
        sack_rx.get("m_axis_rx_tvalid") & (sack_op(sack_rx::op::PACKET) | sack_op(sack_rx::op::QUERY));
    receiver.strobe("sacked", &sack_rx, "m_axis_rx", &sacked);
    let sacked = sack_rx.get("m_axis_rx_tvalid") & sack_op(sack_rx::op::ACKNOWLEDGE);
    acknowledger.strobe("sacked", &sack_rx, "m_axis_rx", &sacked);
    let due = valid(&ack_table) & result(&ack_table, "due");
    acknowledger.strobe("due", &ack_table, from, &due);
    let taken = valid(&ack_table) & is(&ack_table, ack_table::op::TAKE);
    acknowledger.strobe("taken", &ack_table, from, &taken);
    received_teller.strobe("result", &received_messages, from, &valid(&received_messages));
    sent_teller.strobe("result", &sent_messages, from, &valid(&sent_messages));
    transmitter.strobe("next", &request_table, from, &next);
    let reads = (&request_taken & is(&request_table, request_table::op::READ)).named("read_result");
    let tagged = |table: &Instance, tag: u64| result(table, "tag").is(tag);
    transmitter.strobe(
        "read",
        &request_table,
        from,
        &(&reads & tagged(&request_table, FOR_TRANSMITTER)),
    );
    retirement.strobe(
        "read",
        &request_table,
        from,
        &(&reads & tagged(&request_table, FOR_RETIREMENT)),
    );
    completion.drive(
        "released_valid",
        &(&request_taken & is(&request_table, request_table::op::RELEASE)),
    );
    for (field, its) in [
        ("message", "message"),
        ("kind", "kind"),
        ("length", "message_length"),
        ("identifier", "identifier"),
    ] {
        completion.drive(&format!("released_{field}"), &result(&request_table, its));
    }
    for (unit, tag) in [(&transmitter, FOR_TRANSMITTER), (&retirement, FOR_RETIREMENT)] {
        let its = valid(&packet_table) & tagged(&packet_table, tag);
        unit.strobe("packet", &packet_table, from, &its);
    }
    let routed = is(&path_table, path_table::op::SELECT) | is(&path_table, path_table::op::ROUTE);
    transmitter.strobe("routed", &path_table, from, &(&path_taken & &routed));
    timer.strobe(
        "read",
        &path_table,
        from,
        &(&path_taken & is(&path_table, path_table::op::READ)),
    );
    let sent = is(&sack_tx, sack_tx::op::SEND)
        | is(&sack_tx, sack_tx::op::RETRANSMIT)
        | is(&sack_tx, sack_tx::op::PROBE);
    transmitter.strobe("sacked", &sack_tx, from, &(&sack_taken & &sent));
    retirement.strobe(
        "sacked",
        &sack_tx,
        from,
        &(&sack_taken & is(&sack_tx, sack_tx::op::ACKNOWLEDGE)),
    );
    let queued = valid(&scheduler) & result(&scheduler, "ready");
    transmitter.strobe("ready", &scheduler, from, &queued);
    let scheduled = valid(&scheduler) & is(&scheduler, scheduler::op::TAKE);
    transmitter.strobe("scheduled", &scheduler, from, &scheduled);
    completion.drive(
        "stopped_valid",
        &(valid(&scheduler) & is(&scheduler, scheduler::op::STOP)),
    );
    completion.drive("stopped_newly", &result(&scheduler, "stopped"));
    let retry = valid(&retry_table) & result(&retry_table, "ready");
    transmitter.strobe("retry", &retry_table, from, &retry);

    // Wires.
    let from_outside = |unit: &Instance, to: &str, stream: &str| {
        for (field, _) in unit.fields(to) {
            unit.drive(&format!("{to}_{field}"), &b.get(&format!("{stream}_{field}")));
        }
        unit.drive(&format!("{to}_tvalid"), &b.get(&format!("{stream}_tvalid")));
        b.drive(&format!("{stream}_tready"), &unit.get(&format!("{to}_tready")));
    };
    let to_outside = |unit: &Instance, stream: &str| {
        for (field, _) in port::fields(&own, stream) {
            b.drive(
                &format!("{stream}_{field}"),
                &unit.get(&format!("{stream}_{field}")),
            );
        }
        b.drive(
            &format!("{stream}_tvalid"),
            &unit.get(&format!("{stream}_tvalid")),
        );
        unit.drive(&format!("{stream}_tready"), &b.get(&format!("{stream}_tready")));
    };
    for unit in [
        &parser,
        &acknowledger,
        &transmitter,
        &retirement,
        &timer,
        &rate_limiter,
    ] {
        unit.drive("now", &now);
    }
    for (unit, input) in [
        (&acknowledger, "config_hint"),
        (&ack_table, "config_delay"),
        (&timer, "config_probe"),
        (&timer, "config_first_probe"),
    ] {
        unit.drive(input, &b.get(input));
    }
    from_outside(&configuration, "s_axis_command", "s_axis_command");
    from_outside(&parser, "s_axis_rx", "s_axis_rx");
    for (input, output) in [
        ("config_write", "local_write"),
        ("config_plane", "local_plane"),
        ("config_address", "local_address"),
    ] {
        parser.drive(input, &configuration.get(output));
    }
    let bare = |to: &Instance, source: &Instance, from: &str, fields: &[(&str, &str)]| {
        for (input, output) in fields {
            to.drive(input, &source.get(&format!("{from}_{output}")));
        }
        to.drive("s_axis_tvalid", &source.get(&format!("{from}_tvalid")));
        source.drive(&format!("{from}_tready"), &to.get("s_axis_tready"));
    };
    bare(
        &frame_buffer,
        &parser,
        "m_axis_payload",
        &[
            ("s_axis_tdata", "tdata"),
            ("s_axis_tlast", "tlast"),
            ("s_axis_keep", "keep"),
        ],
    );
    receiver.stream("s_axis_data", &parser, "m_axis_data");
    retirement.stream("s_axis_ack", &parser, "m_axis_ack");
    placement.stream("s_axis_payload", &frame_buffer, "m_axis");
    placing.stream("s_axis_command", &placement, "m_axis_command");
    let beat = [("s_axis_tdata", "tdata"), ("s_axis_tlast", "tlast")];
    bare(&placing, &placement, "m_axis_beat", &beat);
    placement.stream("s_axis_aligned", &placing, "m_axis");
    placement.stream("s_axis_place", &receiver, "m_axis_place");
    received_teller.stream("s_axis_count", &placement, "m_axis_count");
    completion.stream("s_axis_received", &received_teller, "m_axis_told");
    acknowledger.stream("s_axis_nak", &receiver, "m_axis_nak");
    sent_teller.stream("s_axis_count", &retirement, "m_axis_count");
    completion.stream("s_axis_sent", &sent_teller, "m_axis_told");
    completion.stream("s_axis_error", &retirement, "m_axis_error");
    retirement.stream("s_axis_init", &configuration, "m_axis_retirement");
    transmitter.stream("s_axis_probe", &timer, "m_axis_probe");
    deparser.stream("s_axis_data", &transmitter, "m_axis_data");
    deparser.stream("s_axis_ack", &acknowledger, "m_axis_ack");
    to_outside(&transmitter, "m_axis_fetch");
    fetching.stream("s_axis_command", &transmitter, "m_axis_align");
    for field in ["tvalid", "tdata", "tlast"] {
        fetching.drive(
            &format!("s_axis_{field}"),
            &b.get(&format!("s_axis_read_{field}")),
        );
    }
    b.drive("s_axis_read_tready", &fetching.get("s_axis_tready"));
    deparser.stream("s_axis_payload", &fetching, "m_axis");
    to_outside(&deparser, "m_axis_tx");
    to_outside(&placement, "m_axis_write");
    to_outside(&completion, "m_axis_cqe");
    for (input, output) in [("parser_valid", "dropped"), ("parser_reason", "drop_reason")] {
        counters.drive(input, &parser.get(output));
    }
    for unit in [&receiver, &retirement] {
        counters.drive(&format!("{}_valid", unit.name), &unit.get("event_valid"));
        counters.drive(&format!("{}_event", unit.name), &unit.get("event_code"));
    }
    counters.drive("received_refused", &received_teller.get("refused"));
    counters.drive("sent_refused", &sent_teller.get("refused"));
    let refused = &request_taken
        & is(&request_table, request_table::op::POST)
        & result(&request_table, "status").is(request_table::status::REFUSED.into());
    counters.drive("request_refused", &refused);
    let refused = valid(&receive_table)
        & is(&receive_table, receive_table::op::POST)
        & result(&receive_table, "status").is(receive_table::status::REFUSED.into());
    counters.drive("receive_refused", &refused);
    counters.drive("timed_out", &(&sack_taken & is(&sack_tx, sack_tx::op::TIMEOUT)));
    let again = &sack_taken
        & is(&sack_tx, sack_tx::op::RETRANSMIT)
        & result(&sack_tx, "status").is(sack_tx::status::DONE.into());
    counters.drive("sent_again", &again);
    counters.drive("probed", &(&sack_taken & is(&sack_tx, sack_tx::op::PROBE)));
    counters.drive("read_index", &b.get("counter_index"));
    b.drive("counter_value", &counters.get("value"));
    all.into_iter().for_each(Instance::finish);
    b.finish()
}

/// Lines to break one at a time; the lockstep must find each.
#[rustfmt::skip]
pub const MUTATIONS: [Mutation; 31] = [
    // Choices of the funnels.
    Mutation { signal: "connection_table_funnel_chosen_1", fault: Fault::Operator },
    Mutation { signal: "request_table_funnel_chosen_3", fault: Fault::Zero },
    Mutation { signal: "request_table_funnel_last_5", fault: Fault::Enable },
    Mutation { signal: "path_table_funnel_chosen_2", fault: Fault::Operator },
    Mutation { signal: "sack_tx_funnel_any", fault: Fault::Operator },
    Mutation { signal: "scheduler_funnel_chosen_2", fault: Fault::Operator },
    Mutation { signal: "sack_rx_funnel_psn", fault: Fault::Increment },
    Mutation { signal: "packet_table_funnel_packet", fault: Fault::Increment },
    Mutation { signal: "ack_table_funnel_chosen_3", fault: Fault::Operator },
    Mutation { signal: "receive_table_funnel_last_2", fault: Fault::Enable },
    // What results are and where they go.
    Mutation { signal: "next_result", fault: Fault::Operator },
    Mutation { signal: "posted_result", fault: Fault::Operator },
    Mutation { signal: "pending_result", fault: Fault::Operator },
    Mutation { signal: "opened_result", fault: Fault::Zero },
    Mutation { signal: "request_event_op", fault: Fault::Invert },
    Mutation { signal: "looked", fault: Fault::Zero },
    Mutation { signal: "read_result", fault: Fault::Operator },
    Mutation { signal: "request_taken", fault: Fault::Operator },
    Mutation { signal: "path_taken", fault: Fault::Operator },
    Mutation { signal: "sack_taken", fault: Fault::Zero },
    Mutation { signal: "path_held", fault: Fault::Zero },
    Mutation { signal: "receiver_matched_valid", fault: Fault::Operator },
    Mutation { signal: "acknowledger_due_valid", fault: Fault::Operator },
    Mutation { signal: "acknowledger_sacked_valid", fault: Fault::Operator },
    Mutation { signal: "transmitter_routed_valid", fault: Fault::Operator },
    Mutation { signal: "retirement_sacked_valid", fault: Fault::Operator },
    Mutation { signal: "retirement_packet_valid", fault: Fault::Operator },
    Mutation { signal: "completion_stopped_valid", fault: Fault::Operator },
    Mutation { signal: "timer_read_valid", fault: Fault::Zero },
    Mutation { signal: "transmitter_retry_valid", fault: Fault::Operator },
    Mutation { signal: "counters_sent_again", fault: Fault::Zero },
];
