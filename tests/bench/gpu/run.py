#!/usr/bin/env python3
"""Runs the variants that prepare.py or bundle.py compiled. Compares outputs bit for bit, and measures times.

Needs Python and NVIDIA's driver. Without a GPU, it compares the PTX of a bundle by emulation; a bundle contains the
tool for this. Each kernel runs in its own process, because a fault in a kernel ends all GPU work of its process.
"""

import json
import multiprocessing
import os
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import command_line
import emulated
import inputs
import intervals
import manifest
import report
from driver import Driver, Failed, Unavailable

IS_BUNDLE = (HERE / "manifest.json").exists()


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    folder = HERE if IS_BUNDLE else HERE.parents[2] / "target/gpu"
    add("--input", type=Path, default=folder, help="output folder of prepare.py or bundle.py (default: %(default)s)")
    tool = HERE / "nvptx-ra" if IS_BUNDLE else None
    add("--tool", type=Path, default=tool, help="nvptx-ra, to draw inputs and to emulate")
    add("--emulate", action="store_true", help="compare by emulation, even if there is a GPU")
    add("--variant", action="append", help="only this variant and the first (default: all)")
    add("--kernel", action="append", help="only this kernel (default: all)")
    add("--blocks", type=int, help="most blocks of a launch, for tools that check each access")
    add("--seed", type=int, default=22)
    add("--warm-up", type=int, default=3)
    add("--repeat", type=int, default=15, help="timed launches; their median counts (default: %(default)s)")
    add("--timeout", type=int, default=300, help="seconds for a kernel (default: %(default)s)")
    add("--jobs", type=int, default=os.cpu_count(), help="emulated comparisons at a time")
    add("--json", type=Path)
    return parser.parse_args()


def measure_apart(kernel, expected, arguments):
    """Runs measure() in a process of its own. Raises Failed, or TimeoutError if the kernel does not end."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply_async(measure_alone, (kernel, expected, arguments)).get(arguments.timeout)


def measure_alone(kernel, expected, arguments):
    return measure(Driver(), kernel, expected, arguments)


def inputs_of(kernel, first, arguments):
    """Returns a kernel's inputs. If the manifest has no inputs, the tool draws them: it runs the code of variant
    `first`."""
    if kernel.seed is None:
        return inputs.of_manifest(kernel, arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        error = emulated.record(arguments.tool, emulated.ptx_of(arguments.input, first, kernel), kernel, folder)
        if error:
            raise Failed(error)
        return inputs.of_record(folder, kernel.shared)


def measure(driver, kernel, expected, arguments):
    """Runs all variants on the same memory. `expected` maps each variant to the variant whose outputs it must
    reproduce."""
    given = inputs_of(kernel, next(iter(expected)), arguments)
    addresses = [driver.allocate(len(region.content)) for region in given.regions]
    try:
        for address, region in zip(addresses, given.regions, strict=True):
            driver.write(address, region.content)
        return run_variants(driver, kernel, given, expected, arguments, addresses)
    finally:
        for address in addresses:
            driver.free(address)


def code_of(folder, kernel):
    """Returns the machine code, or PTX if there is none."""
    paths = [folder / f"{kernel.example}{suffix}" for suffix in (".cubin", ".ptx")]
    return next(path for path in paths if path.exists()).read_bytes()


def run_variants(driver, kernel, given, expected, arguments, addresses):
    names = list(expected)
    outputs = {}
    packed = given.pack(addresses)
    codes = {name: code_of(arguments.input / name, kernel) for name in names}
    loaded = {name: driver.kernel(code, kernel.name, given.shared) for name, code in codes.items()}
    times = {name: [] for name in names}
    memory = list(zip(given.regions, addresses, strict=True))
    # The variants alternate, so that changes of the clock rate affect all of them. Each round begins with another
    # variant.
    for turn in range(arguments.warm_up + arguments.repeat):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            for region, address in memory:
                if region.written:
                    driver.write(address, region.content)
            times[name].append(driver.launch(loaded[name], given.grid, given.block, packed, given.shared))
            if name not in outputs:
                compared = [(r, a) for r, a in memory if r.written and r.compared]
                outputs[name] = [(r.type, driver.read(a, len(r.content))) for r, a in compared]
    different = {name: differences(outputs[of], outputs[name]) for name, of in expected.items()}
    result = {
        "kernel": kernel.name,
        "example": kernel.example,
        "source": kernel.source,
        "times": {name: times[name][arguments.warm_up :] for name in names},
        "milliseconds": {name: statistics.median(times[name][arguments.warm_up :]) for name in names},
        "verdicts": {name: "differs" if found else "same" for name, found in different.items()},
        "differences": different,
    }
    if given.expected is not None:
        result["emulator"] = inputs.apart(given.expected, [data for _, data in outputs[names[0]]])
    return result


def differences(expected, found):
    """Returns the first different element of each output that differs: output number, index and both values."""
    pairs = zip(expected, found, strict=True)
    firsts = [manifest.first_difference(one, other, element) for (element, one), (_, other) in pairs]
    return [{"output": number, "at": at, "values": values}
            for number, (at, *values) in ((n, first) for n, first in enumerate(firsts) if first)]  # fmt: skip


def limit_grid(kernel, blocks):
    """Returns the kernel with a smaller launch: at most `blocks` blocks in one row."""
    return replace(kernel, grid=(min(kernel.grid[0], blocks), 1, 1)) if blocks else kernel


def traffic(said, variant, kernel):
    """Returns the bytes that ptxas spills, 0 if unknown."""
    figures = said.get(f"{variant}/{kernel['example']}", {}).get(kernel["kernel"], {})
    return figures.get("stores", 0) + figures.get("loads", 0)


def ratio_of(result, variant):
    """Returns the ratio of a variant's time to its base's: the median over all rounds, with its interval."""
    times = result["times"]
    pairs = zip(times[variant["base"]], times[variant["name"]], strict=True)
    return intervals.of_median([other / one for one, other in pairs])


def rows(results, variant, said):
    """Yields a line for each kernel: both times, their ratio, and the spilled bytes."""
    base = variant["base"]
    for result in results:
        times = result["milliseconds"]
        spilled = [f"{traffic(said, name, result):,}" for name in (base, variant["name"])]
        one, other = times[base], times[variant["name"]]
        _, low, high = ratio_of(result, variant)
        between = f"{low:.3f} … {high:.3f}"
        verdict = result["verdicts"][variant["name"]]
        yield [result["kernel"], f"{one:.4f}", f"{other:.4f}", report.change(other, one), between, *spilled, verdict]


VERDICTS = ("same", "differs", "not comparable")
SUMMARY = ["", "beside", "kernels", *VERDICTS]
TIMES = ["time", "interval", "faster", "slower"]


def summary(results, variants):
    """Yields a line for each variant: the verdicts on its outputs. With times, the line also has the geometric mean of
    the ratios, and the numbers of kernels that are significantly faster and slower."""
    for variant in variants:
        verdicts = [result["verdicts"][variant["name"]] for result in results]
        line = [variant["name"], variant["base"], str(len(verdicts)), *(str(verdicts.count(each)) for each in VERDICTS)]
        timed = [ratio_of(result, variant) for result in results if "times" in result]
        if timed:
            mean, low, high = intervals.of_geometric_mean([ratio for ratio, _, _ in timed])
            line += [f"{mean:.4f}", f"{low:.4f} … {high:.4f}"]
            line += [str(sum(high < 1 for _, _, high in timed)), str(sum(low > 1 for _, low, _ in timed))]
        yield line


def show(results, variants):
    """Prints the table of all variants, then the number of kernels of each source."""
    header = SUMMARY + (TIMES if any("times" in result for result in results) else [])
    print("\n".join(report.table(list(summary(results, variants)), header)))
    sources = [result["source"] for result in results]
    counts = ", ".join(f"{sources.count(source)} of {source}" for source in dict.fromkeys(sources))
    print(f"{len(results)} kernels: {counts}")


def show_times(results, others, said):
    """Prints a table for each variant."""
    for variant in others:
        base, name = variant["base"], variant["name"]
        columns = ["", base, name, "", "interval", "spilled by the first", "second", "output"]
        print("\n".join(report.table(list(rows(results, variant, said)), columns)) + "\n")


def on_gpu(kernels, expected, arguments):
    """Returns (results, failures) of all kernels, run one after another."""
    results, failures = [], []
    for kernel in kernels:
        try:
            results.append(measure_apart(limit_grid(kernel, arguments.blocks), expected, arguments))
        except Failed as error:
            failures.append(f"{kernel.name}: {error}")
        except multiprocessing.TimeoutError:
            failures.append(f"{kernel.name}: more than {arguments.timeout} s")
    return results, failures


def by_emulation(kernels, expected, arguments):
    """Returns (results, failures) of all kernels by emulation, with several kernels at a time."""
    with ThreadPoolExecutor(arguments.jobs) as pool:
        check = lambda kernel: emulated.check(arguments.tool, arguments.input, kernel, expected)  # noqa: E731
        return list(pool.map(check, kernels)), []


def device_of(arguments):
    """Returns the name of the GPU, `None` if the kernels are emulated."""
    if arguments.emulate:
        return None
    try:
        return Driver().name
    except Unavailable as reason:
        print(reason)
        return None


def main():
    arguments = parse_arguments()
    device = device_of(arguments)
    if device is None and arguments.tool is None:
        return 0
    kernels = manifest.load((arguments.input / "manifest.json").read_text())
    kernels = [k for k in kernels if not arguments.kernel or k.name in arguments.kernel]
    prepared = json.loads((arguments.input / "variants.json").read_text())
    first, *others = prepared["variants"]
    others = [v for v in others if not arguments.variant or v["name"] in arguments.variant]
    outputs_of = {v["name"]: v["outputs_of"] for v in prepared["variants"]}
    needed = [first["name"], *(name for v in others for name in (v["base"], v["outputs_of"], v["name"]))]
    expected = {name: outputs_of[name] for name in dict.fromkeys(needed)}
    results, failures = (by_emulation if device is None else on_gpu)(kernels, expected, arguments)
    if device is None:
        print("by emulation, bit for bit\n")
    else:
        print(f"{device}, milliseconds, medians of {arguments.repeat}\n")
        show_times(results, others, prepared["ptxas"])
    show(results, others)
    for result in results:
        values, apart = result.get("emulator", (0, 0))
        if apart:
            print(f"{result['kernel']}: {apart:,} of {values:,} values differ from the emulator's")
    odd = [(r, name) for r in results for name, verdict in r["verdicts"].items() if verdict != "same"]
    for result, name in odd:
        print(f"{result['kernel']}, {name}: {result['verdicts'][name]}: {result['differences'][name]}")
    for failure in failures:
        print(failure)
    if arguments.json:
        said = {"device": device, "kernels": results, "failures": failures}
        arguments.json.write_text(json.dumps(said, indent=1))
    differs = any(result["verdicts"][name] == "differs" for result, name in odd)
    return 1 if failures or differs else 0


if __name__ == "__main__":
    sys.exit(main())
