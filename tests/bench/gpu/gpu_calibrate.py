#!/usr/bin/env python3
"""Measures the numbers of the time model, and prints them in the format of src/sass/time/sm_90.txt, next to the
numbers of that file.

Without a GPU, it reports whether each micro-benchmark compiles to the intended code. It also prints ptxas's
estimate of the number: the cycles that ptxas leaves between independent or dependent instructions.
"""

import ctypes
import random
import statistics
import struct
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import command_line
import micro
import micro_arithmetic
import micro_check
import micro_code
import micro_memory
from driver import Driver, Failed, Unavailable

MICROS = [*micro_arithmetic.ALL, *micro_memory.ALL, *micro_code.ALL]
EMPTY = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry empty()\n{\n    ret;\n}\n"
MULTIPROCESSORS, L2_BYTES = 16, 38  # CU_DEVICE_ATTRIBUTE_…
LAUNCHES = 1000
FLUSHED = 512 << 20  # bytes that evict all other data from L2


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    add = parser.add_argument
    numbers = HERE.parents[2] / "src/sass/time/sm_90.txt"
    add("--numbers", type=Path, default=numbers, help="numbers to compare with (default: %(default)s)")
    add("--only", action="append", default=[], help="only numbers with this prefix")
    add("--repeat", type=int, default=5, help="number of launches; their median counts (default: %(default)s)")
    add("--seed", type=int, default=22)
    return parser.parse_args()


def known_numbers(text):
    """Returns values and sources by name."""
    rows = [line.split(" ", 2) for line in text.splitlines() if line and not line.startswith("#")]
    return {name: (float(value), source) for name, value, source in rows}


def compiled(micros):
    """Returns the machine code of all micro-benchmarks, and for each number the timed loop and the faults."""
    ptxas, nvdisasm = micro_check.programs()
    if not ptxas or not nvdisasm:
        sys.exit("missing:\n  ptxas and nvdisasm: run make setup, or set CUDA_PATH")
    with tempfile.TemporaryDirectory() as folder:
        cubin, listings = micro_check.assemble(micro.module(micros), folder, ptxas, nvdisasm)
    loops = {one.number: micro_check.timed_loop(listings[one.name()])[0] for one in micros}
    found = {one.number: micro_check.findings(one, listings[one.name()]) for one in micros}
    return cubin, loops, {number: complaints for number, complaints in found.items() if complaints}


def row(name, value, source, known):
    """Returns a line in the format of the numbers' file, followed by the number that the file has."""
    was = "{0[0]:g} {0[1]}".format(known[name]) if name in known else "not in the file"
    return f"{name} {value:.6g} {source}  # {was}"


class Bench:
    """Runs micro-benchmarks on the first GPU."""

    def __init__(self, repeat, seed):
        self.driver = Driver()
        self.repeat = repeat
        self.random = random.Random(seed)
        self.processors = self.attribute(MULTIPROCESSORS)

    def attribute(self, which):
        value = ctypes.c_int()
        self.driver.call("cuDeviceGetAttribute", ctypes.byref(value), which, 0)
        return value.value

    def zero(self, address, size):
        self.driver.call("cuMemsetD8_v2", ctypes.c_uint64(address), ctypes.c_ubyte(0), ctypes.c_size_t(size))

    def ring(self, one):
        """Allocates and fills the memory of a ring or a buffer. Returns its address and the address where a chase
        starts."""
        size = one.buffer or (one.ring.bytes if one.ring else 128)
        address = self.driver.allocate(size)
        if not one.ring:
            self.zero(address, size)
            return address, address
        lines = range(size // one.ring.stride)
        order = self.random.sample(lines, one.ring.steps or len(lines))
        places = [address + line * one.ring.stride for line in order]
        pointers = zip(places, [*places[1:], places[0]], strict=True)
        if one.ring.steps:
            for place, following in pointers:
                self.driver.write(place, struct.pack("<Q", following))
        else:
            memory = bytearray(size)
            for place, following in pointers:
                struct.pack_into("<Q", memory, place - address, following)
            self.driver.write(address, bytes(memory))
        return address, places[0]

    def cycles(self, one, cubin):
        """Returns the cycles of an iteration, as the difference between many and few iterations. The difference
        cancels the misses of the first iteration and the instructions that read the clock."""
        blocks = self.processors if one.whole_gpu else 1
        warps = blocks * one.warps
        mine = warps * micro.LANES * max(8 * len(one.loaded), 8)
        kernel = self.driver.kernel(cubin, one.name())
        times, data = self.driver.allocate(16 * warps), self.driver.allocate(mine)
        memory, start = self.ring(one)
        far = self.driver.allocate(FLUSHED) if one.ring and one.ring.steps else None
        self.zero(data, mine)
        self.zero(times, 16 * warps)  # warps that exit early leave zeros

        def run(turns):
            if far:
                self.zero(far, FLUSHED)
            packed = [struct.pack("<Q", address) for address in (times, data, start)] + [struct.pack("<I", turns)]
            self.driver.launch(kernel, (blocks, 1, 1), (one.warps * micro.LANES, 1, 1), packed)
            read = list(struct.iter_unpack("<QQ", self.driver.read(times, 16 * warps)))
            each = [[pair for pair in read[at : at + one.warps] if any(pair)] for at in range(0, warps, one.warps)]
            return statistics.mean(max(e for _, e in block) - min(s for s, _ in block) for block in each)

        few, many = one.turns
        run(many)
        found = [(run(many) - run(few)) / (many - few) for _ in range(self.repeat)]
        for address in filter(None, (times, data, memory, far)):
            self.driver.free(address)
        return statistics.median(found)

    def clock_mhz(self, one, cubin):
        """Returns the clock rate: the cycles of a long kernel divided by the time between events before and after
        it."""
        times, data = self.driver.allocate(16 * one.warps), self.driver.allocate(micro.LANES * one.warps * 256)
        self.zero(data, micro.LANES * one.warps * 256)
        packed = [struct.pack("<Q", address) for address in (times, data, data)] + [struct.pack("<I", 1 << 20)]
        milliseconds = self.driver.launch(
            self.driver.kernel(cubin, one.name()), (1, 1, 1), (one.warps * micro.LANES, 1, 1), packed
        )
        start, end = struct.unpack("<QQ", self.driver.read(times, 16))
        return (end - start) / milliseconds / 1000

    def launch_us(self):
        """Returns the microseconds of an empty kernel, as the mean of a thousand launches."""
        kernel = self.driver.kernel(EMPTY.encode(), "empty")
        start, end = self.driver.events
        for _ in range(2):
            self.driver.call("cuEventRecord", start, None)
            for _ in range(LAUNCHES):
                self.driver.call("cuLaunchKernel", kernel, self.processors, 1, 1, 128, 1, 1, 0, None, None, None)
            self.driver.call("cuEventRecord", end, None)
            self.driver.call("cuEventSynchronize", end)
        milliseconds = ctypes.c_float()
        self.driver.call("cuEventElapsedTime", ctypes.byref(milliseconds), start, end)
        return milliseconds.value


def measured(bench, micros, cubin, loops):
    """Returns the numbers by name, in order."""
    numbers = {"sms": bench.processors, "l2_bytes": bench.attribute(L2_BYTES)}
    for one in micros:
        numbers[one.number] = one.value(bench.cycles(one, cubin), len(loops[one.number] or ()))
    curve = {size: numbers.get(f"icache.cycles.{size}") for size in micro_code.SIZES}
    if all(curve.values()):
        numbers.update(micro_code.sizes(curve))
    if chain := next((one for one in micros if one.number == "latency.fma"), None):
        numbers["clock_mhz"] = bench.clock_mhz(chain, cubin)
    numbers["launch_us"] = bench.launch_us()
    if "dram.bytes" in numbers and "clock_mhz" in numbers:
        numbers["dram.read_gb_s"] = numbers["dram.bytes"] * bench.processors * numbers["clock_mhz"] / 1000
    return numbers


def main():
    arguments = parse_arguments()
    known = known_numbers(arguments.numbers.read_text(encoding="utf8"))
    micros = [one for one in MICROS if not arguments.only or one.number.startswith(tuple(arguments.only))]
    try:
        cubin, loops, complaints = compiled(micros)
    except ValueError as error:
        sys.exit(str(error))
    for number, found in complaints.items():
        print(f"{number}: {'; '.join(found)}", file=sys.stderr)
    good = len(micros) - len(complaints)
    print(f"# {good} of {len(micros)} micro-benchmarks compile to the intended code.")
    try:
        bench = Bench(arguments.repeat, arguments.seed)
        for name, value in measured(bench, micros, cubin, loops).items():
            print(row(name, value, f"measured: {bench.driver.name}", known))
    except Unavailable as error:
        print(f"# {error}. ptxas's estimates, in cycles:")
        for one in micros:
            expected = micro_check.scheduled(one, loops[one.number]) if loops.get(one.number) else None
            if expected is not None and one.number in known:
                print(row(one.number, expected, "scheduled", known))
    except Failed as error:
        sys.exit(f"the GPU failed: {error}")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
