"""Checks that a printed forecast has the same kernels and figures as the output of `nvptx-ra report --json`.

same.py REPORT.json PRINTED.txt
"""

import json
import sys

# Figures that are only bounds if callees are missing.
BOUNDS = {
    "Spill Stores [bytes/thread]": "Spill Stores, at least [bytes/thread]",
    "Spill Loads [bytes/thread]": "Spill Loads, at least [bytes/thread]",
    "Stack [bytes/thread]": "Stack, at least [bytes/thread]",
    "Occupancy [warps/SM]": "Occupancy, at most [warps/SM]",
}
FIGURES = {
    "Predicates": "predicates",
    "Spill Stores [bytes/thread]": "spill_store_bytes",
    "Spill Loads [bytes/thread]": "spill_load_bytes",
    "Stack [bytes/thread]": "stack_bytes",
    "Shared Memory [bytes/block]": "shared_bytes",
    "Occupancy [warps/SM]": "occupancy_warps",
    "Limited by": "limited_by",
    "Next Step [registers]": "next_step_registers",
}


def reported(path):
    with open(path) as file:
        for kernel in json.load(file)["kernels"]:
            at_least = ", at least" if kernel["at_least"] else ""
            figures = {"Function Name": kernel["name"], "Registers" + at_least: kernel["registers"]}
            least, most = kernel["likely_registers"]
            figures["Likely [registers]"] = f"{least} to {most}"
            bounds = BOUNDS if kernel["at_least"] else {}
            figures |= {bounds.get(label, label): kernel[key] for label, key in FIGURES.items()}
            figures |= {"Peak [words]": kernel["peak"]["words"], "Peak [line]": kernel["peak"]["line"]}
            if kernel["peak"]["function"] != kernel["name"]:
                figures["Peak [function]"] = kernel["peak"]["function"]
            if kernel["at_least"]:
                figures["At Least Because It"] = "; ".join(kernel["at_least_because"])
            yield {label: "none" if value is None else str(value) for label, value in figures.items()}


def printed(path):
    kernels = []
    with open(path) as file:
        for line in file:
            label, _, value = line.strip().partition(": ")
            if label == "Function Name":
                kernels.append({})
            kernels[-1][label] = value
    return kernels


report, forecast = list(reported(sys.argv[1])), printed(sys.argv[2])
if report != forecast:
    sys.exit(f"reported: {report}\nprinted: {forecast}")
print(f"{len(report)} kernels")
