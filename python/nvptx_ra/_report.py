"""The forecast of `nvptx-ra report --json` as objects. docs/forecast.md explains the figures."""

import dataclasses
import json
from dataclasses import dataclass


@dataclass(frozen=True)
class LiveValue:
    """A value that is live at the point of highest pressure."""

    register: str
    name: str | None
    line: int | None
    words: int
    uniform: bool


@dataclass(frozen=True)
class Peak:
    """The point of highest pressure."""

    function: str
    line: int | None
    words: int
    instruction: int
    live: list[LiveValue]


@dataclass(frozen=True)
class CompiledApart:
    """A callee that ptxas compiles separately, because it needs more registers than its caller may have."""

    function: str
    words: int
    registers: int
    limit: int


@dataclass(frozen=True)
class InMemory:
    """The variable for which a kernel has a stack."""

    variable: str | None
    declared: int | None
    line: int | None
    text: str


@dataclass(frozen=True)
class Slots:
    """Values that the kernel spills to shared memory."""

    values: int
    bytes: int
    cache_given_up: int


@dataclass(frozen=True)
class Ptxas:
    """ptxas's own figures for the kernel."""

    registers: int
    spill_store_bytes: int
    spill_load_bytes: int
    stack_bytes: int


@dataclass(frozen=True)
class Kernel:
    """The forecast of a kernel. A pair `likely_…` is an 80 % interval: it holds for four kernels out of five."""

    name: str
    registers: int
    likely_registers: list[int]
    at_least: bool
    at_least_because: list[str]
    compiled_apart: CompiledApart | None
    predicates: int
    uniform_registers: int
    spill_store_bytes: int
    spill_load_bytes: int
    likely_spill_bytes: list[int]
    stack_bytes: int
    stack_store_bytes: int
    stack_load_bytes: int
    stack_because: InMemory | None
    callee_stack_bytes: int
    shared_bytes: int
    dynamic_shared_bytes: int | None
    estimated_cycles: float | None
    threads: int | None
    min_blocks: int | None
    budget: int
    occupancy_warps: int
    limited_by: str
    next_step_registers: int | None
    peak: Peak
    slots: Slots | None
    ptxas: Ptxas | None = None

    @property
    def spill_bytes(self):
        """Bytes stored and loaded for spilled values."""
        return self.spill_store_bytes + self.spill_load_bytes


@dataclass(frozen=True)
class Report:
    """The forecasts of a file, in the order of its kernels."""

    version: str
    processor: str
    kernels: list[Kernel]

    def __getitem__(self, name):
        """Returns the forecast of the kernel with this name."""
        for kernel in self.kernels:
            if kernel.name == name:
                return kernel
        raise KeyError(name)


# The fields that contain objects, with their classes.
PARTS = {
    Report: {"kernels": Kernel},
    Kernel: {"compiled_apart": CompiledApart, "stack_because": InMemory, "peak": Peak, "slots": Slots, "ptxas": Ptxas},
    Peak: {"live": LiveValue},
}


def read(text):
    """Returns the report of a JSON text."""
    return _build(Report, json.loads(text))


def _build(kind, value):
    if value is None:
        return None
    if isinstance(value, list):
        return [_build(kind, one) for one in value]
    parts = PARTS.get(kind, {})
    # A newer program may have additional fields.
    known = [field.name for field in dataclasses.fields(kind) if field.name in value]
    return kind(**{name: _build(parts[name], value[name]) if name in parts else value[name] for name in known})
