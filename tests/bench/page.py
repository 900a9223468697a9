"""A run as an HTML page: plots of stock against each other compiler, kernel by kernel, and the text of the run."""

import html
import io
from math import ceil

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import tables
from corpus import source_of
from plan import STOCK

MEASURES = {"registers": "registers per thread", "spills": "bytes spilled", "sass": "machine instructions"}
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>nvptx-ra: {title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; color: #222; }}
pre {{ font-size: 12px; overflow-x: auto; background: #f6f6f6; padding: 1rem; }}
svg {{ max-width: 100%; height: auto; }}
</style></head><body>
<h1>{title}</h1>
{sections}
<h2>Tables</h2>
<pre>{text}</pre>
</body></html>
"""


def write(results, text, path):
    """Writes the page."""
    title = f"{len(results.plan.modules)} modules for {results.plan.cpu}"
    sections = []
    for setting in results.plan.settings:
        for name in results.names:
            if name != STOCK:
                sections.append(section(results, setting, name))
    path.write_text(PAGE.format(title=title, sections="\n".join(sections), text=html.escape(text)), encoding="utf8")


def section(results, setting, name):
    keys = results.common(setting, [STOCK, name])
    heading = html.escape(f"{STOCK} and {name}, {tables.title(setting)}: {len(keys)} kernels")
    if not keys:
        return f"<h2>{heading}</h2>"
    before, after = results.kernels[setting][STOCK], results.kernels[setting][name]
    measures = [m for m in MEASURES if any(m in before[key] for key in keys)]
    figure, axes = plt.subplots(2, len(measures), figsize=(4.2 * len(measures), 7.2), squeeze=False)
    for column, measure in enumerate(measures):
        points = [(before[k][measure], after[k][measure], source_of(k[0])) for k in keys]
        scatter(axes[0][column], points, name, MEASURES[measure])
        distribution(axes[1][column], points, name)
    figure.tight_layout()
    return f"<h2>{heading}</h2>\n{svg(figure)}"


def scatter(axes, points, name, label):
    """Plots stock on the x axis and the other compiler on the y axis. Points below the line are better than stock."""
    for source in sorted({source for *_, source in points}):
        chosen = [(x, y) for x, y, of in points if of == source]
        axes.scatter(*zip(*chosen, strict=True), s=7, alpha=0.5, label=source, linewidths=0)
    top = max(max(x, y) for x, y, _ in points) or 1
    axes.plot([0, top], [0, top], color="#888", linewidth=0.7)
    axes.set_xscale("symlog")
    axes.set_yscale("symlog")
    axes.set(title=label, xlabel=STOCK, ylabel=name)
    axes.legend(fontsize=6, frameon=False)


def distribution(axes, points, name):
    """Plots a histogram of the changes of kernels, without unchanged kernels."""
    changes = [y - x for x, y, _ in points if x != y]
    axes.set(xlabel=f"{name} - {STOCK}", ylabel="kernels", title=f"{len(changes)} of {len(points)} kernels differ")
    if changes:
        axes.hist(changes, bins=min(60, max(8, ceil(len(changes) ** 0.5))))
        axes.set_yscale("symlog")


def svg(figure):
    """Returns a figure as an element of the page. The same figure gives the same text."""
    matplotlib.rcParams["svg.hashsalt"] = "nvptx-ra"
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    plt.close(figure)
    text = buffer.getvalue()
    return text[text.index("<svg") :]
