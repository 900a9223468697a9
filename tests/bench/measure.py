"""One module under one configuration: compiled, counted, and assembled."""

import hashlib
import os
import shlex
import tempfile
from dataclasses import dataclass

import ptx
import ptxas
from cache import file_hash, key_of
from tools import run

STRICT, VERIFY = "-nvptx-ra-strict", "-nvptx-ra-verify"
COUNTER = file_hash(ptx.__file__)  # counts are cached: a counter that counts otherwise must count anew
READER = file_hash(ptxas.__file__)


@dataclass(frozen=True)
class Configuration:
    """A way to compile: stock LLVM (no arguments), or the plugin with arguments of its own."""

    name: str
    arguments: str | None
    verify: bool = True

    def flags(self, plugin):
        if self.arguments is None:
            return []
        checks = [STRICT, VERIFY] if self.verify else [STRICT]
        return [f"-load-pass-plugin={plugin}", *checks, *shlex.split(self.arguments)]

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
    limits: tuple[int, ...] = ()  # register limits to assemble with, 0 for none; empty: PTX alone
    sass: bool = True


def measure(module, configuration, options, tools, cache):
    """Compiles, counts and assembles. Returns {"error", "seconds", "bytes", "functions", "ptxas": {limit: …}}."""
    compiled, key = compile_module(module, configuration, options, tools, cache)
    result = {**compiled, "ptxas": {}}
    if compiled["error"]:
        return result
    for limit in options.limits:
        if limit and binds_nowhere(limit, result["ptxas"].get("0")):
            result["ptxas"][str(limit)] = result["ptxas"]["0"]
            continue
        assembled = assemble_module((compiled["text_hash"], key), limit, options, tools, cache)
        result["ptxas"][str(limit)] = assembled
        if assembled["error"]:
            result["error"] = assembled["error"] + (f" (at .maxnreg {limit})" if limit else "")
            break
    return result


def binds_nowhere(limit, unlimited):
    """Whether every kernel stays within a limit by itself: no need to assemble again, half the time is saved."""
    return unlimited and all(k["registers"] <= limit and not k["stores"] for k in unlimited["kernels"].values())


def compile_module(module, configuration, options, tools, cache):
    """Compiles and counts. The text's key in the cache comes second."""
    flags = [
        f"-O{options.level}",
        "-mtriple=nvptx64-nvidia-cuda",
        f"-mcpu={options.cpu}",
        f"-mattr={options.attributes}",
    ]
    flags.append("-fp-contract=fast")
    key = key_of("ptx", file_hash(module), file_hash(tools.llc), flags, configuration.identity(tools.plugin), COUNTER)
    result = cache.get(key)
    if result and (not options.limits or cache.has_text(key)):
        return result, key
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "out.ptx")
        outcome = run([tools.llc, *configuration.flags(tools.plugin), *flags, module, "-o", output], options.timeout)
        result = {"error": outcome.error, "seconds": outcome.seconds, "bytes": 0, "functions": {}}
        if not outcome.error:
            with open(output, encoding="utf8") as file:
                text = file.read()
            result |= {"bytes": len(text), "functions": ptx.count(text), "text_hash": text_hash(text)}
            if options.limits:
                cache.put_text(key, text)
    if not result["error"]:  # a time-out on a busy machine, a plugin rebuilt meanwhile: try again next time
        cache.put(key, result)
    return result, key


def text_hash(text):
    """The hash of what ptxas reads: the text without comments."""
    lines = (line.partition("//")[0].rstrip() for line in text.split("\n"))
    return hashlib.sha256("\n".join(line for line in lines if line).encode()).hexdigest()


def assemble_module(text, limit, options, tools, cache):
    """Assembles a text, given as its hash and its key in the cache. Configurations share the results of equal texts."""
    digest, text_key = text
    with_sass = options.sass and limit == 0
    key = key_of("ptxas", digest, file_hash(tools.ptxas), options.cpu, limit, with_sass, READER)
    result = cache.get(key)
    if result is None:
        text = cache.get_text(text_key)
        text = ptxas.with_limit(text, limit) if limit else text
        result = ptxas.assemble(text, options.cpu, tools, options.timeout, with_sass)
        if not result["error"]:
            cache.put(key, result)
    return result
