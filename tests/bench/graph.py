"""A run as a Ninja graph: one edge for each module and compiler, and one for each setting of ptxas.

Any Ninja front end runs the benchmark: ninja itself on one machine, or a front end of a remote-execution farm on
many. The graph declares every file that a job reads or writes, except the programs, which are in the plan. The
cache is not an input; it only saves work on one machine.
"""

import os
import sys
from pathlib import Path

from plan import OWN

SCRIPTS = ("job.py", "plan.py", "measure.py", "ptx.py", "ptxas.py", "cache.py", "corpus.py", "tools.py")
HERE = Path(__file__).resolve().parent


def escape(path):
    return str(path).replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def quote(text):
    """Quotes a word of a Ninja command line."""
    return "'" + str(text).replace("'", "'\\''").replace("$", "$$") + "'"


def edge(outputs, inputs, command, what):
    yield f"build {' '.join(map(escape, outputs))}: job {' '.join(map(escape, inputs))}"
    yield f"  command_line = {command}"
    yield f"  what = {what.replace('$', '$$')}"


def lines(plan):
    """Yields the graph. Large modules come first, so that at the end of a run no core has to wait for a large
    module."""
    program = quote(HERE / "job.py")
    yield "ninja_required_version = 1.8"
    yield f"builddir = {escape(plan.folder)}"
    yield "rule job"
    yield f"  command = {quote(sys.executable)} {program} {quote(plan.path)} $command_line"
    yield "  description = $what"
    common = [plan.path, *(HERE / script for script in SCRIPTS)]
    wanted = []
    for module in sorted(plan.modules, key=lambda name: (-os.path.getsize(plan.modules[name]), name)):
        for compiler in plan.compilers:
            compiled, text = plan.compiled(compiler, module), plan.text(compiler, module)
            source = plan.cicc_text(module) if compiler.is_cicc else Path(plan.modules[module])
            inputs = [*([source] if source.exists() else []), *common]
            if compiler.arguments is not None:
                inputs.append(plan.tools.plugin)
            names = f"{quote(compiler.name)} {quote(module)}"
            yield from edge([compiled, text], inputs, f"compile {names}", f"{module}: {compiler.name}")
            wanted.append(compiled)
            for setting in plan.settings:
                output = plan.assembled(compiler, module, setting)
                needs = [compiled, text, *common]
                if setting.isdigit():
                    needs.append(plan.assembled(compiler, module, OWN))
                label = f"{module}: {compiler.name}, ptxas {setting}"
                yield from edge([output], needs, f"assemble {names} {setting}", label)
                wanted.append(output)
        for setting in plan.forecast_settings:
            output = plan.forecast(module, setting)
            inputs = [plan.modules[module], plan.tools.nvptx_ra, *common]
            label = f"{module}: forecast, {setting}"
            yield from edge([output], inputs, f"forecast {quote(module)} {setting}", label)
            wanted.append(output)
    yield f"build all: phony {' '.join(map(escape, wanted))}"
    yield "default all"


def write(plan):
    """Writes the graph into the run's folder and returns its path."""
    path = Path(plan.folder, "build.ninja")
    path.write_text("\n".join(lines(plan)) + "\n", encoding="utf8")
    return path
