#!/usr/bin/env python3
"""Runs what prepare.py compiled in several ways: outputs compared with each compiler's own, bit for bit, and times.

Needs Python and NVIDIA's driver. Where there is no GPU it says so and is content.
"""

import json
import statistics
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import command_line
import manifest
import report
from driver import Driver, Failed, Unavailable


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    default = Path(__file__).resolve().parents[3] / "target/gpu"
    add("--input", type=Path, default=default, help="what prepare.py wrote (default: %(default)s)")
    add("--variant", action="append", help="only this variant, besides the first (default: all)")
    add("--kernel", action="append", help="only this kernel (default: all)")
    add("--blocks", type=int, help="at most so many blocks of a launch, for tools that check each access")
    add("--seed", type=int, default=22)
    add("--warm-up", type=int, default=3)
    add("--repeat", type=int, default=15, help="timed launches, of which the median counts (default: %(default)s)")
    add("--json", type=Path)
    return parser.parse_args()


def measure(driver, kernel, expected, arguments):
    """Runs all variants on the same memory: each in `expected`, by name, with that whose outputs it should have.
    Returns the milliseconds and the first differences of each."""
    buffers = kernel.buffers()
    data = [manifest.contents(buffer, arguments.seed + i) for i, buffer in enumerate(buffers)]
    addresses = [driver.allocate(len(content)) for content in data]
    try:
        for address, content in zip(addresses, data, strict=True):
            driver.write(address, content)
        return run_variants(driver, kernel, expected, arguments, list(zip(buffers, addresses, data, strict=True)))
    finally:
        for address in addresses:
            driver.free(address)


def run_variants(driver, kernel, expected, arguments, memory):
    names = list(expected)
    outputs = {}
    following = iter([address for _, address, _ in memory])
    packed = [manifest.pack(argument, following) for argument in kernel.arguments]
    cubin = f"{kernel.example}.cubin"
    loaded = {name: driver.kernel((arguments.input / name / cubin).read_bytes(), kernel.name) for name in names}
    times = {name: [] for name in names}
    # In turns, so that a clock that changes meets all.
    for _ in range(arguments.warm_up + arguments.repeat):
        for name in names:
            for buffer, address, content in memory:
                if buffer.written:
                    driver.write(address, content)
            times[name].append(driver.launch(loaded[name], kernel.grid, kernel.block, packed))
            if name not in outputs:
                compared = [(b, a, c) for b, a, c in memory if b.written and b.compared]
                outputs[name] = [(b.type, driver.read(a, len(c))) for b, a, c in compared]
    return {
        "kernel": kernel.name,
        "example": kernel.example,
        "milliseconds": {name: statistics.median(times[name][arguments.warm_up :]) for name in names},
        "differences": {name: differences(outputs[of], outputs[name]) for name, of in expected.items()},
    }


def differences(expected, found):
    """The first element that differs of each output that does: the output's number, the index and both values."""
    pairs = zip(expected, found, strict=True)
    firsts = [manifest.first_difference(one, other, element) for (element, one), (_, other) in pairs]
    return [{"output": number, "at": at, "values": values}
            for number, (at, *values) in ((n, first) for n, first in enumerate(firsts) if first)]  # fmt: skip


def limit_grid(kernel, blocks):
    """The kernel with a smaller launch, one row of blocks."""
    return replace(kernel, grid=(min(kernel.grid[0], blocks), 1, 1)) if blocks else kernel


def traffic(said, variant, kernel):
    """Bytes that ptxas spills, where it was asked."""
    figures = said.get(f"{variant}/{kernel['example']}", {}).get(kernel["kernel"], {})
    return figures.get("stores", 0) + figures.get("loads", 0)


def rows(results, variant, said):
    """A line for each kernel: both times, how they compare, and what is spilled."""
    base = variant["base"]
    for result in results:
        times = result["milliseconds"]
        differs = "differs" if result["differences"].get(variant["name"]) else "same"
        spilled = [f"{traffic(said, name, result):,}" for name in (base, variant["name"])]
        one, other = times[base], times[variant["name"]]
        yield [result["kernel"], f"{one:.4f}", f"{other:.4f}", report.change(other, one), *spilled, differs]


def main():
    arguments = parse_arguments()
    try:
        driver = Driver()
    except Unavailable as reason:
        print(reason)
        return 0
    kernels = manifest.load((arguments.input / "manifest.json").read_text())
    kernels = [k for k in kernels if not arguments.kernel or k.name in arguments.kernel]
    prepared = json.loads((arguments.input / "variants.json").read_text())
    first, *others = prepared["variants"]
    others = [v for v in others if not arguments.variant or v["name"] in arguments.variant]
    outputs_of = {v["name"]: v["outputs_of"] for v in prepared["variants"]}
    needed = [first["name"], *(name for v in others for name in (v["base"], v["outputs_of"], v["name"]))]
    expected = {name: outputs_of[name] for name in dict.fromkeys(needed)}
    results, failures = [], []
    for kernel in kernels:
        try:
            results.append(measure(driver, limit_grid(kernel, arguments.blocks), expected, arguments))
        except Failed as error:
            # A fault of a kernel ends the context, and with it all that follows.
            failures.append(f"{kernel.name}: {error}")
            break
    print(f"{driver.name}, milliseconds, medians of {arguments.repeat}")
    for variant in others:
        base, name = variant["base"], variant["name"]
        print()
        columns = ["", base, name, "", "spilled by the first", "second", "output"]
        print("\n".join(report.table(list(rows(results, variant, prepared["ptxas"])), columns)))
        ratios = [r["milliseconds"][name] / r["milliseconds"][base] for r in results]
        if ratios:
            print(f"geometric mean of the times: {statistics.geometric_mean(ratios):.4f}")
    found = [(r["kernel"], name, d) for r in results for name, of in r["differences"].items() for d in of]
    for kernel, name, difference in found:
        print(f"{kernel}, {name}: output {difference['output']}[{difference['at']}]: {difference['values']}")
    for failure in failures:
        print(failure)
    if arguments.json:
        arguments.json.write_text(
            json.dumps({"device": driver.name, "kernels": results, "failures": failures}, indent=1)
        )
    return 1 if failures or found else 0


if __name__ == "__main__":
    sys.exit(main())
