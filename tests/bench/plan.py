"""The content of a benchmark run: modules × compilers × settings of ptxas, as JSON that every job reads."""

import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

from corpus import source_of
from tools import Tools

# Settings other than register limits: the kernel's own bounds, no bounds, and a minimum of one block per SM.
OWN, NONE, ONE = "own", "none", "one"
STRICT, VERIFY = "-nvptx-ra-strict", "-nvptx-ra-verify"
STOCK, CICC = "stock", "cicc"


@dataclass(frozen=True)
class Compiler:
    """A way to compile to PTX: stock llc, llc with the plugin and its arguments, or NVIDIA's compiler."""

    name: str
    arguments: tuple[str, ...] | None = None  # options of the plugin; `None`: no plugin
    verify: bool = True

    @property
    def is_cicc(self):
        return self.name == CICC

    @property
    def folder(self):
        """Returns a name for files."""
        return re.sub(r"[^\w.=-]+", "_", self.name).strip("_-") or "plugin"

    def flags(self, plugin):
        if self.arguments is None:
            return []
        return [f"-load-pass-plugin={plugin}", STRICT, *([VERIFY] if self.verify else []), *self.arguments]


@dataclass(frozen=True)
class Plan:
    """A run. Its folder has the results, by compiler and module."""

    folder: str
    cache: str
    cpu: str
    modules: dict[str, str]  # name: path
    compilers: tuple[Compiler, ...]
    settings: tuple[str, ...]
    tools: Tools
    level: int = 3
    attributes: str = "+ptx88"
    timeout: int = 300  # seconds for one command
    sass: bool = True
    sources: dict[str, dict] = field(default_factory=dict)  # the sources of corpus.toml, by name

    @property
    def path(self):
        return Path(self.folder, "plan.json")

    def compiler(self, name):
        return next(c for c in self.compilers if c.name == name)

    def cpu_of(self, module):
        """Returns the processor of a module: Triton's kernels use instructions that only the `a` variant of a
        processor has."""
        source = self.sources.get(source_of(module), {})
        return self.cpu + ("a" if source.get("accelerated") and self.cpu in ("sm_90", "sm_100", "sm_120") else "")

    def cicc_text(self, module):
        """Returns the path of NVIDIA's PTX of a module."""
        path = Path(self.modules[module])
        return path.parent / CICC / f"{module}.ptx"

    def compiled(self, compiler, module):
        return Path(self.folder, compiler.folder, f"{module}.json")

    def text(self, compiler, module):
        return Path(self.folder, compiler.folder, f"{module}.ptx.gz")

    def assembled(self, compiler, module, setting):
        return Path(self.folder, compiler.folder, f"{module}.{setting}.json")

    @property
    def forecast_settings(self):
        """Returns the settings for which the forecast runs. The forecast can neither remove bounds of a kernel nor add
        any."""
        return tuple(s for s in self.settings if s not in (NONE, ONE)) if self.tools.nvptx_ra else ()

    def forecast(self, module, setting):
        return Path(self.folder, "forecast", f"{module}.{setting}.json")

    def write(self):
        """Writes the plan, unless the file already has this content, so that jobs of an unchanged plan do not run
        again."""
        text = json.dumps(asdict(self), indent=1)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self.path.exists() or self.path.read_text(encoding="utf8") != text:
            self.path.write_text(text, encoding="utf8")


def read(path):
    """Reads a plan written by write()."""
    raw = json.loads(Path(path).read_text(encoding="utf8"))
    raw["compilers"] = tuple(
        Compiler(c["name"], None if c["arguments"] is None else tuple(c["arguments"]), c["verify"])
        for c in raw["compilers"]
    )
    raw["settings"] = tuple(raw["settings"])
    raw["tools"] = Tools(**raw["tools"])
    return Plan(**raw)
