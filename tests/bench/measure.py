"""The work of the jobs: compile a module and count the contents of its PTX; assemble the PTX and count ptxas's
results."""

import hashlib
import json
import os
import resource
import tempfile
from pathlib import Path

import ptx
import ptxas
from cache import Cache, file_hash, key_of
from tools import run, target_flags

STATS = "-nvptx-ra-stats"
COUNTER = file_hash(ptx.__file__)  # part of the cache's keys, so that a changed counter counts again
READER = file_hash(ptxas.__file__)


def compile_module(module, compiler, plan):
    """Returns {"error", "seconds", "bytes", "functions", "text_hash", "pass_ns"} and the PTX."""
    if compiler.is_cicc:
        return counted(read_cicc(module, plan))
    path = plan.modules[module]
    flags = llc_flags(module, plan)
    identity = None if compiler.arguments is None else [file_hash(plan.tools.plugin), compiler.flags("")]
    key = key_of("ptx", file_hash(path), file_hash(plan.tools.llc), flags, identity, COUNTER)
    cache = Cache(plan.cache)
    result, text = cache.get(key), cache.get_text(key)
    if result and text is not None:
        return result, text
    result, text = counted(run_llc(path, compiler, flags, plan))
    result |= spent()
    if not result["error"]:  # errors may be transient (a time-out, a rebuilt plugin) and are not cached
        cache.put(key, result)
        cache.put_text(key, text)
    return result, text


def llc_flags(module, plan):
    """Returns llc's flags for a module, for any compiler."""
    return target_flags(plan.cpu_of(module), plan.level, plan.attributes)


def forecast_module(module, setting, plan):
    """Returns {"error", "seconds", "kernels"}. Kernels are by name, as returned by kernels_of_report."""
    path, tool = plan.modules[module], plan.tools.nvptx_ra
    words = ["report", "--json", "--features", "--cpu", plan.cpu_of(module), "--mattr", plan.attributes]
    words += [f"-O{plan.level}", *(["--max-regs", setting] if setting.isdigit() else [])]
    cache = Cache(plan.cache)
    key = key_of("forecast", file_hash(path), file_hash(tool), words, file_hash(__file__))
    result = cache.get(key)
    if result is None:
        outcome = run([tool, *words, path], plan.timeout)
        kernels = {} if outcome.error else kernels_of_report(outcome.output)
        result = {"error": outcome.error, "seconds": outcome.seconds, "kernels": kernels}
        if not outcome.error:
            cache.put(key, result)
    return result


def kernels_of_report(text):
    """Returns the figures of each kernel that are compared with ptxas."""
    said = {}
    for kernel in json.loads(text)["kernels"]:
        said[kernel["name"]] = {
            "registers": kernel["registers"],
            "stores": kernel["spill_store_bytes"],
            "loads": kernel["spill_load_bytes"],
            "budget": kernel["budget"],
            "declared_words": kernel["features"]["declared_words"],
        }
    return said


def run_llc(path, compiler, flags, plan):
    """Returns (error, seconds, nanoseconds of the plugin's phases, PTX)."""
    with tempfile.TemporaryDirectory() as folder:
        output, stats = os.path.join(folder, "out.ptx"), os.path.join(folder, "stats")
        ours = [] if compiler.arguments is None else [*compiler.flags(plan.tools.plugin), f"{STATS}={stats}"]
        outcome = run([plan.tools.llc, *ours, *flags, path, "-o", output], plan.timeout)
        if outcome.error:
            return outcome.error, outcome.seconds, 0, ""
        return "", outcome.seconds, pass_time(stats), Path(output).read_text(encoding="utf8")


def pass_time(stats):
    """Returns the nanoseconds in the plugin's statistics, without checks."""
    if not os.path.exists(stats):
        return 0
    total = 0
    with open(stats, encoding="utf8") as file:
        for line in file:
            times = json.loads(line).get("time_ns", {})
            total += sum(time for phase, time in times.items() if phase != "check")
    return total


def spent():
    """Returns the CPU seconds and the peak memory in bytes of this job's commands."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"cpu_seconds": usage.ru_utime + usage.ru_stime, "memory": usage.ru_maxrss * 1024}


def read_cicc(module, plan):
    path = plan.cicc_text(module)
    if not path.exists():
        return "cicc: no PTX of this module", 0, 0, ""
    return "", 0, 0, path.read_text(encoding="utf8", errors="replace")


def counted(compiled):
    error, seconds, pass_ns, text = compiled
    result = {"error": error, "seconds": seconds, "pass_ns": pass_ns, "bytes": len(text), "functions": {}}
    if not error:
        result |= {"functions": ptx.count(text), "text_hash": text_hash(text)}
    return result, text


def text_hash(text):
    """Returns the hash of PTX without comments, which do not affect ptxas."""
    lines = (line.partition("//")[0].rstrip() for line in text.split("\n"))
    return hashlib.sha256("\n".join(line for line in lines if line).encode()).hexdigest()


def assemble_text(text, module, setting, unlimited, plan):
    """Returns {"error", "seconds", "kernels"}. For a register limit, `unlimited` is the result without a limit."""
    if unlimited and (unlimited["error"] or binds_nowhere(int(setting), unlimited)):
        return unlimited
    cpu, with_sass = plan.cpu_of(module), plan.sass and setting == "own"
    text = ptxas.with_setting(text, setting)
    cache = Cache(plan.cache)
    key = key_of("ptxas", text_hash(text), file_hash(plan.tools.ptxas), cpu, with_sass, READER)
    result = cache.get(key)
    if result is None:
        result = ptxas.assemble(text, cpu, plan.tools, plan.timeout, with_sass) | spent()
        if not result["error"]:
            cache.put(key, result)
    return result


def binds_nowhere(limit, unlimited):
    """Whether every kernel stays within a limit on its own. The module is then not assembled again, which saves half
    of the time."""
    return all(k["registers"] <= limit and not k["stores"] for k in unlimited["kernels"].values())
