#!/usr/bin/env python3
"""Runs what prepare.py compiled, with and without the plugin: outputs compared bit for bit, times by events.

Needs Python and NVIDIA's driver. Where there is no GPU it says so and is content.
"""

import json
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import command_line
import manifest
import report
from driver import Driver, Failed, Unavailable

VARIANTS = ("stock", "plugin")


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    default = Path(__file__).resolve().parents[3] / "target/gpu"
    add("--input", type=Path, default=default, help="what prepare.py wrote (default: %(default)s)")
    add("--seed", type=int, default=22)
    add("--warm-up", type=int, default=3)
    add("--repeat", type=int, default=15, help="timed launches, of which the median counts (default: %(default)s)")
    add("--json", type=Path)
    return parser.parse_args()


def measure(driver, kernel, arguments):
    """Runs both variants on the same memory. Returns times and differences."""
    buffers = kernel.buffers()
    data = [manifest.contents(buffer, arguments.seed + i) for i, buffer in enumerate(buffers)]
    addresses = [driver.allocate(len(content)) for content in data]
    try:
        for address, content in zip(addresses, data, strict=True):
            driver.write(address, content)
        return run_variants(driver, kernel, arguments, list(zip(buffers, addresses, data, strict=True)))
    finally:
        for address in addresses:
            driver.free(address)


def run_variants(driver, kernel, arguments, memory):
    result, outputs = {"kernel": kernel.name, "differences": []}, {}
    following = iter([address for _, address, _ in memory])
    packed = [manifest.pack(argument, following) for argument in kernel.arguments]
    loaded = {v: driver.kernel(read_ptx(arguments.input, v, kernel), kernel.name) for v in VARIANTS}
    times = {variant: [] for variant in VARIANTS}
    # In turns, so that a clock that changes meets both.
    for _ in range(arguments.warm_up + arguments.repeat):
        for variant in VARIANTS:
            for buffer, address, content in memory:
                if buffer.written:
                    driver.write(address, content)
            times[variant].append(driver.launch(loaded[variant], kernel.grid, kernel.block, packed))
            if variant not in outputs:
                compared = [(b, a, c) for b, a, c in memory if b.written and b.compared]
                outputs[variant] = [(b.type, driver.read(a, len(c))) for b, a, c in compared]
    for number, ((element, one), (_, other)) in enumerate(zip(*(outputs[v] for v in VARIANTS), strict=True)):
        difference = manifest.first_difference(one, other, element)
        if difference:
            result["differences"].append({"output": number, "at": difference[0], "values": difference[1:]})
    return result | {v: statistics.median(times[v][arguments.warm_up :]) for v in VARIANTS}


def read_ptx(folder, variant, kernel):
    return (folder / variant / f"{kernel.example}.ptx").read_bytes() + b"\0"


def main():
    arguments = parse_arguments()
    try:
        driver = Driver()
    except Unavailable as reason:
        print(reason)
        return 0
    kernels = manifest.load((arguments.input / "manifest.json").read_text())
    results, failures = [], []
    for kernel in kernels:
        try:
            results.append(measure(driver, kernel, arguments))
        except Failed as error:
            # A fault of a kernel ends the context, and with it all that follows.
            failures.append(f"{kernel.name}: {error}")
            break
    rows = [
        [r["kernel"], f"{r['stock']:.4f}", f"{r['plugin']:.4f}", report.change(r["plugin"], r["stock"]),
         "differs" if r["differences"] else "same"]
        for r in results
    ]  # fmt: skip
    print(f"{driver.name}, milliseconds, medians of {arguments.repeat}\n")
    print("\n".join(report.table(rows, ["", *VARIANTS, "", "output"])))
    for result in results:
        for difference in result["differences"]:
            print(f"{result['kernel']}: output {difference['output']}[{difference['at']}]: {difference['values']}")
    for failure in failures:
        print(failure)
    if arguments.json:
        arguments.json.write_text(
            json.dumps({"device": driver.name, "kernels": results, "failures": failures}, indent=1)
        )
    return 1 if failures or any(r["differences"] for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
