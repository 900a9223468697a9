#!/usr/bin/env python3
"""Measures how well a simple rule predicts the number of live registers in ptxas's instruction order.

    schedule.py [options] [MODULE-GLOB …]

Each block of the machine code is scheduled again with its own dependences, except dependences through register
numbers. While at most --limit registers are live, the ready instruction with the longest path to the block's end
comes first. Above this limit, only instructions that need no more registers than they free are candidates, or else
the instructions that need fewest. The comparison covers kernels below 64 registers. It has three figures: the most
live registers in ptxas's order (`live`), the most live registers by the rule (`rule`), and the registers that ptxas
reports. One figure plus a constant estimates another figure; the mean error of the estimate is printed, also in per
cent of the registers.

The rule knows the final instructions. Its accuracy therefore bounds that of a forecast that knows no more about
them.
"""

import os
import statistics
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import command_line
import corpus
import judge
import machine_code
import ptxas
import report
import tools

MOST_INSTRUCTIONS = 1500  # of a kernel, because the rule is quadratic in the ready instructions
LOAD, SLOW, FAST = 500, 30, 5  # cycles
LOADS = ("LDG", "LD", "LDL", "ATOMG", "ATOM")
SHARED_LOADS = ("LDS", "LDSM")
STORES = ("STG", "ST", "STL", "RED")
SHARED_STORES = ("STS", "ATOMS")
ANSWER_LATE = (*SHARED_LOADS, "LDC", "ULDC", "S2R", "S2UR", "MUFU", "SHFL", "I2F", "F2I", "REDUX")
EXCHANGES = ("SHFL", "VOTE", "REDUX", "MATCH")
STAYS_ORDERED = ("BAR", "MEMBAR", "WARPSYNC", "BSSY", "BSYNC", "BRA", "EXIT", "RET")


class Dag:
    """The instructions of a block by position, their dependences, and the values of the general registers."""

    def __init__(self, block):
        self.code = block.instructions
        self.predecessors = [set() for _ in self.code]
        self.reads = [[] for _ in self.code]
        self.writes = [[] for _ in self.code]
        self.readers = []  # number of readers of each value
        self.stays = []  # whether each value is live after the block
        self.incoming = 0
        self.order_registers()
        self.order_memory()
        self.order_exchanges()
        self.keep_end()
        self.successors = [[] for _ in self.code]
        for place, waits_for in enumerate(self.predecessors):
            for before in waits_for:
                self.successors[before].append(place)
        self.ways = self.longest_ways()

    def order_registers(self):
        """Orders readers after the writer of the value that they read. Each write makes a new value, so only readers
        have to wait."""
        value, writer = {}, {}
        first, last = self.code[0], self.code[-1]
        for register in sorted((first.live - first.writes) | first.reads):
            if register[0] == "GPR":
                value[register] = self.new_value()
                self.incoming += 1
        for place, instruction in enumerate(self.code):
            before = self.code[place - 1].live if place else set()
            kept = instruction.writes & before if instruction.is_guarded else set()  # kept if the guard is false
            for register in sorted(instruction.reads | kept):
                if register in writer:
                    self.predecessors[place].add(writer[register])
                if register in value:
                    self.reads[place].append(value[register])
                    self.readers[value[register]] += 1
            for register in sorted(instruction.writes):
                writer[register] = place
                if register[0] == "GPR":
                    value[register] = self.new_value()
                    self.writes[place].append(value[register])
        for register in last.live - last.reads:
            if register in value:
                self.stays[value[register]] = True

    def new_value(self):
        self.readers.append(0)
        self.stays.append(False)
        return len(self.readers) - 1

    def order_memory(self):
        """Keeps stores in order with all accesses of the same memory, and barriers with all accesses of both
        memories."""
        for stores, loads in ((STORES, LOADS), (SHARED_STORES, SHARED_LOADS)):
            last, since = None, []
            for place, instruction in enumerate(self.code):
                hides_store = instruction.leaves_under_guard and stores is STORES
                if instruction.is_any(*stores) or hides_store or is_barrier(instruction):
                    self.predecessors[place].update(since if last is None else [*since, last])
                    last, since = place, []
                elif instruction.is_any(*loads):
                    self.predecessors[place].update([] if last is None else [last])
                    since.append(place)

    def order_exchanges(self):
        """Keeps exchanges between threads after barriers."""
        barrier = None
        for place, instruction in enumerate(self.code):
            if is_barrier(instruction):
                barrier = place
            elif barrier is not None and instruction.is_any(*EXCHANGES):
                self.predecessors[place].add(barrier)

    def keep_end(self):
        """Keeps an instruction that leaves the block at the block's end."""
        final = len(self.code) - 1
        if self.code[final].is_any("BRA", "EXIT", "RET"):
            self.predecessors[final].update(range(final))

    def longest_ways(self):
        """Returns the cycles from each instruction to the block's end."""
        ways = [0] * len(self.code)
        for place in reversed(range(len(self.code))):
            behind = max((ways[after] for after in self.successors[place]), default=0)
            ways[place] = latency(self.code[place]) + behind
        return ways


def is_barrier(instruction):
    return instruction.is_any(*STAYS_ORDERED) and not instruction.leaves_under_guard


def latency(instruction):
    if instruction.is_any(*LOADS):
        return LOAD
    return SLOW if instruction.is_any(*ANSWER_LATE) else FAST


class Registers:
    """The number of live values during scheduling."""

    def __init__(self, dag):
        self.dag, self.unread = dag, list(dag.readers)
        self.live = self.most = dag.incoming

    def taken_by(self, place):
        """Returns the change of the number of live values if an instruction is scheduled."""
        dies = sum(self.unread[value] == 1 and not self.dag.stays[value] for value in self.dag.reads[place])
        return len(self.dag.writes[place]) - dies

    def take(self, place):
        self.live += self.taken_by(place)
        self.most = max(self.most, self.live)
        for value in self.dag.reads[place]:
            self.unread[value] -= 1
        # Values without readers die at once.
        self.live -= sum(not self.unread[value] and not self.dag.stays[value] for value in self.dag.writes[place])


def live_in_order(dag):
    """Returns the most live values in the order of the machine code."""
    registers = Registers(dag)
    for place in range(len(dag.code)):
        registers.take(place)
    return registers.most


def live_by_rule(dag, limit):
    """Returns the most live values by the rule. Of instructions with equal path lengths, the one that needs the fewest
    registers comes first, then the last one in the machine code, so that the original order gives no hint."""
    registers = Registers(dag)
    waits_for = [len(before) for before in dag.predecessors]
    ready = [place for place, count in enumerate(waits_for) if not count]
    while ready:
        takes = {place: registers.taken_by(place) for place in ready}
        fitting = [place for place in ready if takes[place] <= max(limit - registers.live, 0)]
        if not fitting:
            fewest = min(takes.values())
            fitting = [place for place in ready if takes[place] == fewest]
        place = max(fitting, key=lambda place: (dag.ways[place], -takes[place], place))
        ready.remove(place)
        registers.take(place)
        for after in dag.successors[place]:
            waits_for[after] -= 1
            if not waits_for[after]:
                ready.append(after)
    return registers.most


def kernels_of(module, found, nvdisasm, limit):
    """Returns (has loops, registers, live, by the rule) for each compared kernel of a module, and an error message."""
    cpu = corpus.cpu_of(module)
    with tempfile.TemporaryDirectory() as folder:
        text, cubin = os.path.join(folder, "out.ptx"), os.path.join(folder, "out.cubin")
        compiled = tools.run([found.llc, *tools.target_flags(cpu), module, "-o", text], 300)
        if compiled.error:
            return [], compiled.error
        assembled = tools.run([found.ptxas, "-v", f"-arch={cpu}", text, "-o", cubin], 300)
        if assembled.error:
            return [], assembled.error
        functions, error = machine_code.disassembled(cubin, nvdisasm, 300)
    compared = []
    for name, real in ptxas.parse_log(assembled.output).items():
        blocks = functions.get(name, [])
        instructions = [instruction for block in blocks for instruction in block.instructions]
        calls = any(instruction.is_any("CALL") for instruction in instructions)
        if real["registers"] >= judge.LARGE or calls or not 0 < len(instructions) <= MOST_INSTRUCTIONS:
            continue
        dags = [Dag(block) for block in blocks]
        live, rule = max(map(live_in_order, dags)), max(live_by_rule(dag, limit) for dag in dags)
        compared.append((machine_code.has_loop(blocks), real["registers"], live, rule))
    return compared, error


def distance(rows, one, other):
    """Estimates figure `other` as figure `one` plus the best constant. Returns the mean error in registers, the mean
    error as a share of the row's registers, and the constant."""
    constant = statistics.median(other(row) - one(row) for row in rows)
    far = [abs(one(row) + constant - other(row)) for row in rows]
    return statistics.mean(far), statistics.mean(d / row[1] for d, row in zip(far, rows, strict=True)), constant


def shown(kernels):
    figures = {"registers": lambda row: row[1], "live": lambda row: row[2], "rule": lambda row: row[3]}
    groups = {
        "without loops": [row for row in kernels if not row[0]],
        "with loops": [row for row in kernels if row[0]],
        "all": kernels,
    }
    rows = []
    for group, members in groups.items():
        for one, other in (("live", "registers"), ("rule", "live"), ("rule", "registers")) if members else ():
            mean, relative, constant = distance(members, figures[one], figures[other])
            cells = [len(members), f"{constant:+g}", f"{mean:.2f}", f"{100 * relative:.1f} %"]
            rows.append([f"{group}: {other} by {one}", *cells])
    return report.table(rows, ["", "kernels", "constant", "off by", "of registers"])


def parse_arguments():
    parser = command_line.parser_of(__doc__)
    command_line.add_modules(parser)
    command_line.add_subset(parser)
    parser.add_argument("--draw", type=int, default=200, help="number of drawn modules (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=28, help="registers (default: %(default)s)")
    command_line.add_jobs(parser)
    command_line.add_plugin(parser)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    found = tools.find(arguments.plugin, with_sass=False)
    nvdisasm = tools.find_cuda("nvdisasm") or sys.exit("missing:\n  nvdisasm: run make setup, or set CUDA_PATH")
    modules = corpus.modules(arguments.corpus, arguments.modules, arguments.subset)
    modules = corpus.drawn(modules, arguments.draw, arguments.seed)
    one = partial(kernels_of, found=found, nvdisasm=nvdisasm, limit=arguments.limit)
    kernels = []
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for module, (compared, error) in zip(modules, pool.map(one, modules), strict=True):
            kernels += compared
            if error:
                print(f"{Path(module).stem}: {error}", file=sys.stderr)
    if not kernels:
        sys.exit(f"none of {len(modules)} modules has a kernel to compare")
    print(f"{len(kernels)} kernels below {judge.LARGE} registers, of {len(modules)} modules\n")
    print("\n".join(shown(kernels)))


if __name__ == "__main__":
    main()
