"""One module under one configuration: compiled, counted, and assembled."""

import os
import shlex
import tempfile
from dataclasses import dataclass

import ptx
from cache import file_hash, key_of
from tools import run

PLUGIN_FLAGS = ["-nvptx-ra-strict", "-nvptx-ra-verify"]
COUNTER = file_hash(ptx.__file__)  # counts are cached: a counter that counts otherwise must count anew


@dataclass(frozen=True)
class Configuration:
    """A way to compile: stock LLVM (no arguments), or the plugin with arguments of its own."""

    name: str
    arguments: str | None

    def flags(self, plugin):
        if self.arguments is None:
            return []
        return [f"-load-pass-plugin={plugin}", *PLUGIN_FLAGS, *shlex.split(self.arguments)]

    def identity(self, plugin):
        """What its results depend on, for the cache."""
        return None if self.arguments is None else [file_hash(plugin), self.flags("")]


@dataclass(frozen=True)
class Options:
    """What is the same for all modules of a run."""

    level: int = 3
    cpu: str = "sm_90"
    attributes: str = "+ptx88"
    timeout: int = 300
    keep_ptx: bool = False


def compile_module(module, configuration, options, tools, cache):
    """Compiles and counts. Returns {"error", "seconds", "bytes", "functions"} and the text's key in the cache."""
    flags = [f"-O{options.level}", "-mtriple=nvptx64-nvidia-cuda", f"-mcpu={options.cpu}", f"-mattr={options.attributes}"]
    flags.append("-fp-contract=fast")
    key = key_of("ptx", file_hash(module), file_hash(tools.llc), flags, configuration.identity(tools.plugin), COUNTER)
    result = cache.get(key)
    if result and not (options.keep_ptx and not result["error"] and cache.get_text(key) is None):
        return result, key
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "out.ptx")
        outcome = run([tools.llc, *configuration.flags(tools.plugin), *flags, module, "-o", output], options.timeout)
        result = {"error": outcome.error, "seconds": outcome.seconds, "bytes": 0, "functions": {}}
        if not outcome.error:
            with open(output, encoding="utf8") as file:
                text = file.read()
            result |= {"bytes": len(text), "functions": ptx.count(text)}
            if options.keep_ptx:
                cache.put_text(key, text)
    cache.put(key, result)
    return result, key
