"""The joined results of a run: one row for each kernel, compiler and setting."""

import json
import re
from dataclasses import dataclass, field

import ptx
from corpus import source_of
from occupancy import resident_warps
from plan import OWN, STOCK

TOO_FEW_REGISTERS = ("(C7600)", "(C7602)")  # codes of ptxas's errors if an instruction needs more than the limit


@dataclass
class Results:
    """All results of a run. Keys are (module, kernel). Kernels to which nvcc and clang give different names share a
    key."""

    plan: object
    modules: dict = field(default_factory=dict)  # compiler: {module: {"seconds", "bytes", "pass_ns", …, counts}}
    ptx: dict = field(default_factory=dict)  # compiler: {key: counts}
    kernels: dict = field(default_factory=dict)  # setting: {compiler: {key: counts}}
    ptxas: dict = field(default_factory=dict)  # setting: {compiler: {module: {"seconds", …}}}
    forecasts: dict = field(default_factory=dict)  # setting: {key: the forecast}
    failures: list = field(default_factory=list)  # (module, compiler, setting, reason)
    # For each setting, the modules with an instruction that needs more registers than the limit, in stock's PTX too.
    too_tight: dict = field(default_factory=dict)

    @property
    def names(self):
        return [c.name for c in self.plan.compilers]

    def common(self, setting, names=None):
        """Returns the kernels that all of the compilers have, in order."""
        by_name = self.kernels[setting]
        keys = [set(by_name[name]) for name in names or self.names]
        return sorted(set.intersection(*keys))

    def sources(self):
        return sorted({source_of(module) for module in self.plan.modules})


def kernel_key(module, name):
    """Returns a kernel's key. In a mangled name, nvcc leaves out the L that marks a static function, and adds a hash
    of the file."""
    return module, re.sub(r"^_ZL?(?=\d)", "_Z", name)


def read(path):
    try:
        return json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return None


def gather(plan):
    """Reads the output of the jobs. Missing or failed results are listed as failures."""
    results = Results(plan)
    for compiler in plan.compilers:
        name = compiler.name
        results.modules[name], results.ptx[name] = {}, {}
        for module in plan.modules:
            compiled = read(plan.compiled(compiler, module))
            if add_compiled(results, name, module, compiled):
                for setting in plan.settings:
                    assembled = read(plan.assembled(compiler, module, setting))
                    add_assembled(results, name, module, setting, assembled)
        for setting in plan.settings:
            results.kernels.setdefault(setting, {}).setdefault(name, {})
            results.ptxas.setdefault(setting, {}).setdefault(name, {})
    for setting in plan.forecast_settings:
        results.forecasts[setting] = {}
        for module in plan.modules:
            add_forecast(results, module, setting, read(plan.forecast(module, setting)))
    set_apart_too_tight(results)
    results.failures.sort()
    return results


def set_apart_too_tight(results):
    """Moves some failures to `too_tight`. A tensor instruction may need more registers than a limit allows. This
    counts as a failure only if stock's PTX meets the limit."""
    tight = {(module, setting) for module, name, setting, why in results.failures if name == STOCK and is_tight(why)}
    results.failures = [f for f in results.failures if not ((f[0], f[2]) in tight and is_tight(f[3]))]
    for module, setting in sorted(tight):
        results.too_tight.setdefault(setting, []).append(module)


def is_tight(reason):
    return any(code in reason for code in TOO_FEW_REGISTERS)


def add_compiled(results, name, module, compiled):
    if compiled is None or compiled["error"]:
        reason = compiled["error"] if compiled else "no result"
        if reason != "cicc: no PTX of this module":
            results.failures.append((module, name, "", reason))
        return False
    functions = compiled.pop("functions")
    totals = {count: sum(f.get(count, 0) for f in functions.values()) for count in ptx.COUNTS}
    results.modules[name][module] = compiled | totals
    results.ptx[name].update({kernel_key(module, f): c for f, c in functions.items() if c["entry"]})
    return True


def add_assembled(results, name, module, setting, assembled):
    if assembled is None or assembled["error"]:
        results.failures.append((module, name, setting, assembled["error"] if assembled else "no result"))
        return
    cpu = results.plan.cpu_of(module)
    kernels = results.kernels.setdefault(setting, {}).setdefault(name, {})
    for kernel, counts in assembled.pop("kernels").items():
        spills = counts["stores"] + counts["loads"]
        warps = resident_warps(counts["registers"], cpu)
        if setting != OWN:  # machine code is counted for OWN alone; a result shared with OWN contains its counts
            counts = {key: value for key, value in counts.items() if not key.startswith("sass")}
        kernels[kernel_key(module, kernel)] = counts | {"spills": spills, "spilling": int(spills > 0), "warps": warps}
    results.ptxas.setdefault(setting, {}).setdefault(name, {})[module] = assembled


def add_forecast(results, module, setting, said):
    if said is None or said["error"]:
        results.failures.append((module, "forecast", setting, said["error"] if said else "no result"))
        return
    kernels = {kernel_key(module, name): kernel for name, kernel in said["kernels"].items()}
    results.forecasts[setting].update(kernels)


def to_json(results):
    """Returns all results, for a comparison of two runs. Keys are `module/kernel`."""
    flat = {
        setting: {
            name: {"/".join(key): counts for key, counts in sorted(kernels.items())} for name, kernels in by.items()
        }
        for setting, by in results.kernels.items()
    }
    ptx_counts = {name: {"/".join(key): c for key, c in sorted(by.items())} for name, by in results.ptx.items()}
    return {
        "cpu": results.plan.cpu,
        "compilers": results.names,
        "settings": list(results.plan.settings),
        "modules": results.modules,
        "ptx": ptx_counts,
        "kernels": flat,
        "forecasts": {
            setting: {"/".join(key): said for key, said in sorted(kernels.items())}
            for setting, kernels in results.forecasts.items()
        },
        "failures": results.failures,
    }
