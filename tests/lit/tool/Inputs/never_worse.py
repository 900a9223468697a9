"""never_worse.py JSON RUNS [better] [worse]: checks that a search's results for each kernel are consistent.

The choice is one of the variants that were tried, or LLVM's own code. It is no worse than LLVM's own code in
spilled bytes, their dynamic cost, warps and instructions. Among the variants with this property, it is the best.
With `better`, a kernel must have become better than LLVM's own code. With `worse`, a variant must have been worse,
so that the search had a choice.
"""

import json
import sys


def spilled(figures):
    return figures["spill_store_bytes"] + figures["spill_load_bytes"]


def spill_cost(figures):
    """A byte in shared memory costs 0.6 of a byte in local memory."""
    return figures["weighted_spill_bytes"] + int(0.6 * figures["weighted_shared_spill_bytes"])


def is_no_worse(figures, stock):
    return (
        spilled(figures) <= spilled(stock)
        and spill_cost(figures) <= spill_cost(stock)
        and figures["warps"] >= stock["warps"]
        and figures["sass_instructions"] <= stock["sass_instructions"]
    )


def rank(figures):
    return (spill_cost(figures), -figures["warps"], figures["sass_local"], figures["sass_instructions"])


with open(sys.argv[1]) as file:
    kernels = json.load(file)["kernels"]
assert kernels, "a search of no kernel"
for kernel in kernels:
    name, stock, tuned = kernel["name"], kernel["stock"], kernel["tuned"]
    tried = {variant["choice"]: variant["figures"] for variant in kernel["tried"]}
    barred = {one["choice"] for one in kernel.get("barred", [])}
    assert len(kernel["tried"]) >= int(sys.argv[2]), (name, len(kernel["tried"]))
    assert len(tried) == len(kernel["tried"]), f"{name}: a variant was tried twice"
    assert kernel["default"] in tried.values(), f"{name}: the default is not among what was tried"
    assert tried.get(kernel["choice"], stock if kernel["choice"] == "stock" else None) == tuned, (name, kernel["choice"])
    assert is_no_worse(tuned, stock), (name, stock, tuned)
    for choice, figures in tried.items():
        # A variant does not win if the search barred it, for example because it is predicted to be slower.
        is_rival = figures is not None and is_no_worse(figures, stock) and choice not in barred
        assert not is_rival or rank(tuned) <= rank(figures), (name, choice, figures, tuned)
    assert tuned["sass_instructions"] > 0 and tuned["warps"] > 0, (name, tuned)

judged = [(kernel, variant["figures"]) for kernel in kernels for variant in kernel["tried"] if variant["figures"]]
if "better" in sys.argv:
    assert any(rank(kernel["tuned"]) < rank(kernel["stock"]) for kernel in kernels), "no kernel is better"
if "worse" in sys.argv:
    assert any(not is_no_worse(figures, kernel["stock"]) for kernel, figures in judged), "no variant is worse"
