"""A search by `nvptx-ra tune` of one kernel that is alone in its module. The replay of the search's profile must give
the same PTX. Searches are cached."""

import json
import os
import tempfile
import threading
from dataclasses import dataclass, replace
from pathlib import Path

import cache
import corpus
import launches
import measure
import tools
from plan import Compiler


@dataclass(frozen=True)
class Kernel:
    """A kernel in a module of its own, and its launch."""

    module: str
    name: str
    path: str
    launch: launches.Launch
    is_triton: bool
    unoptimised: str = ""  # the path of its module from before LLVM's optimisations, if there is one

    @property
    def key(self):
        """The name of the kernel's module in the plan. The part before `__` is the source."""
        return f"{self.module}::{self.name}"


def alone(module, path, name, names, plan, ahead):
    """Returns (a kernel of a module in its own module, error message). With `ahead`, the kernel also has a module from
    before LLVM's optimisations."""
    own, error = reduced(path, name, names, plan)
    unoptimised = ""
    if ahead and (all_of_it := corpus.unoptimised(path)):
        unoptimised, error_ahead = reduced(all_of_it, name, names, plan)
        error = error or error_ahead
    is_triton = Path(path).suffix == ".ll"
    return Kernel(module, name, own, launches.launch_of(path, name), is_triton, unoptimised), error


def reduced(path, name, names, plan):
    """Returns the path of a module with this kernel alone, and an error message."""
    if len(names) == 1:
        return path, ""
    key = cache.key_of("reduced", cache.file_hash(path), name)
    output = Path(plan.folder, f"{key}.bc")
    if output.exists():
        return str(output), ""
    output.parent.mkdir(parents=True, exist_ok=True)
    # The name is unique, because parallel searches of the same kernel may write the file at the same time.
    part = output.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    opt = os.path.join(os.path.dirname(plan.tools.llc), "opt")
    command = [opt, "-passes=internalize,globaldce", f"-internalize-public-api-list={name}", path, "-o", str(part)]
    outcome = tools.run(command, plan.timeout)
    if not outcome.error:
        part.rename(output)
    return str(output), outcome.error


def target_flags(module, plan):
    """Returns the tool's flags for the target. They match llc's flags from measure.llc_flags()."""
    return [f"-O{plan.level}", f"--mattr={plan.attributes}", "--fp-contract=fast", f"--cpu={plan.cpu_of(module)}"]


def launch_flags(launch):
    """Returns the tool's flags for a launch."""
    words = [] if launch.dynamic is None else [f"--dynamic-shared={launch.dynamic}"]
    return words + ([] if launch.threads is None else [f"--threads={launch.threads}"])


def searched(kernel, path, runs, plan, tool, also=""):
    """Searches the kernel in its module at `path`, and in another compiler's PTX at `also`. Returns (error, the
    kernel's result of `tune --json`, PTX)."""
    words = [*target_flags(kernel.module, plan), f"--runs={runs}", "--jobs=1", f"--kernel={kernel.name}"]
    words += launch_flags(kernel.launch)
    programs = [cache.file_hash(program) for program in (tool, plan.tools.plugin, plan.tools.ptxas)]
    inputs = [cache.file_hash(path)] + ([cache.file_hash(also)] if also else [])
    key = cache.key_of("searched", path == kernel.unoptimised, *inputs, words, programs)
    words += [f"--also={also}"] if also else []
    store = cache.Cache(plan.cache)
    if (text := store.get_text(key)) is None:
        with tempfile.TemporaryDirectory() as folder:
            ptx, profile = Path(folder, "tuned.ptx"), Path(folder, "profile.toml")
            outputs = ["--json", f"--output={ptx}", f"--profile={profile}", f"--cache={plan.folder}/judged"]
            outcome = tools.run([tool, "tune", path, *words, *outputs], timeout=None)  # the tool limits each variant
            if outcome.error:
                return outcome.error, None, ""
            (said,) = (of for of in tools.object_in(outcome.output)["kernels"] if of["name"] == kernel.name)
            code = ptx.read_text(encoding="utf8")
            if error := replayed_otherwise(kernel, path, code, profile, plan, tool, also):
                return error, None, ""
            text = json.dumps([said, code])
        store.put_text(key, text)
    return "", *json.loads(text)


def replayed_otherwise(kernel, path, text, profile, plan, tool, also):
    """Returns an error message if the replay of a profile fails or gives different PTX; empty otherwise. llc replays
    modules that LLVM has optimised, with all checks on. The tool replays other modules and PTX of another compiler.
    There is no time limit, because the checks alone take as long as all other work."""
    if path == kernel.unoptimised:
        output = profile.with_name("replayed.ptx")
        command = [tool, "compile", path, *target_flags(kernel.module, plan), "--optimise=yes"]
        error = tools.run([*command, f"--set=profile={profile}", "-o", str(output)], timeout=None).error
        replayed = "" if error else output.read_text(encoding="utf8")
    else:
        replay = Compiler("replay", (f"-nvptx-ra-profile={profile}",))
        flags = measure.llc_flags(kernel.module, plan)
        error, _, _, replayed = measure.run_llc(path, replay, flags, replace(plan, timeout=None))
    if also and not error:
        own, output = profile.with_name("own.ptx"), profile.with_name("linked.ptx")
        own.write_text(replayed, encoding="utf8")
        flags = [f"--profile={profile}", f"--also={also}", f"--cpu={plan.cpu_of(kernel.module)}"]
        error = tools.run([tool, "ptx", str(own), *flags, "-o", str(output)], timeout=None).error
        replayed = "" if error else output.read_text(encoding="utf8")
    return error or ("" if replayed == text else "it is replayed otherwise")
