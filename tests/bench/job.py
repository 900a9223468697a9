#!/usr/bin/env python3
"""One job of a run, as Ninja starts it:

    job.py PLAN compile COMPILER MODULE
    job.py PLAN assemble COMPILER MODULE SETTING
    job.py PLAN forecast MODULE SETTING

Writes the job's output files, as listed in the plan. If a kernel fails, the error is stored in the result and the
job succeeds. The rest of the graph continues, and the summary lists the failures.
"""

import gzip
import json
import os
import sys
import tempfile

import measure
import plan


def write(path, data):
    """Writes a file, which appears completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    os.replace(file.name, path)


def run(arguments):
    run_plan = plan.read(arguments[0])
    if arguments[1] == "forecast":
        module, setting = arguments[2:]
        result = measure.forecast_module(module, setting, run_plan)
        write(run_plan.forecast(module, setting), json.dumps(result).encode())
        return
    step, name, module = arguments[1:4]
    compiler = run_plan.compiler(name)
    if step == "compile":
        result, text = measure.compile_module(module, compiler, run_plan)
        write(run_plan.text(compiler, module), gzip.compress(text.encode(), 1, mtime=0))
        write(run_plan.compiled(compiler, module), json.dumps(result).encode())
        return
    setting = arguments[4]
    result = json.loads(run_plan.compiled(compiler, module).read_bytes())
    if not result["error"]:
        text = gzip.decompress(run_plan.text(compiler, module).read_bytes()).decode()
        unlimited = (
            json.loads(run_plan.assembled(compiler, module, plan.OWN).read_bytes()) if setting.isdigit() else None
        )
        result = measure.assemble_text(text, module, setting, unlimited, run_plan)
    else:
        result = {"error": "", "skipped": "not compiled", "kernels": {}}
    write(run_plan.assembled(compiler, module, setting), json.dumps(result).encode())


def main():
    try:
        run(sys.argv[1:])
    except OSError as error:  # for example a full disk: this job has no result, and the summary reports this
        sys.exit(f"{' '.join(sys.argv[2:])}: {error}")


if __name__ == "__main__":
    main()
