"""Writes the ratios of the last benchmark run into docs/performance.md, between its two markers.

Usage: bench_table.py CRITERION_FOLDER PERFORMANCE_MD
"""

import json
import pathlib
import platform
import sys

# Units, and the row that sums them up, if any.
GROUPS = [
    (["rate_limiter", "path_table", "sack_tx", "sack_rx"], "the four above"),
    (
        ["parser", "frame_buffer", "align", "deparser", "connection_table", "key_table", "receive_table", "message_table",
         "packet_table", "request_table", "ack_table"],
        "the eleven above",
    ),
    (
        ["scheduler", "retry_table", "receiver", "placement", "acknowledger", "completion", "retirement", "teller", "timer",
         "transmitter", "configuration", "counters"],
        "the twelve above",
    ),
    (["nic"], None),
]
BEGIN, END = "<!-- benchmark: begin -->", "<!-- benchmark: end -->"
CLOCKS = 50_000  # of the recorded stimulus, as in verif/benches/units.rs


def nanoseconds(folder, unit, what):
    """Median time of a clock in nanoseconds."""
    path = folder / unit / what / "new" / "estimates.json"
    try:
        return json.loads(path.read_text())["median"]["point_estimate"] / CLOCKS
    except (OSError, KeyError, ValueError) as error:
        sys.exit(f"error: no benchmark result at {path} ({error}): run scripts/bench.sh")


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def table(folder):
    lines = [
        f"Profile ecp5, one run, one core of: {processor()}.",
        "",
        "| unit | model, ns a clock | Verilated RTL, ns a clock | RTL / model | lockstep / (model + RTL) |",
        "|---|---|---|---|---|",
    ]
    for units, together in GROUPS:
        times = [[nanoseconds(folder, unit, what) for what in ("model", "rtl", "lockstep")] for unit in units]
        lines += [row(unit, *unit_times) for unit, unit_times in zip(units, times)]
        if together:
            lines.append(row(together, *map(sum, zip(*times))))
    return "\n".join(lines)


def row(name, model, rtl, lockstep):
    return f"| {name} | {model:.1f} | {rtl:.1f} | {rtl / model:.1f} | {lockstep / (model + rtl):.2f} |"


def main():
    folder, page = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    text = page.read_text()
    head, rest = text.split(BEGIN, 1)
    _, tail = rest.split(END, 1)
    body = table(folder)
    temporary = page.with_suffix(".tmp")
    temporary.write_text(f"{head}{BEGIN}\n{body}\n{END}{tail}")
    temporary.replace(page)
    print(body)


if __name__ == "__main__":
    main()
