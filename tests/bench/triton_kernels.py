#!/usr/bin/env python3
"""Compiles the Triton kernels of installed packages ahead of time, without a GPU and without PyTorch.

    triton_kernels.py [--arch sm_90] --prefix NAME FOLDER PACKAGE…

Saves the LLVM IR that Triton passes to LLVM, one .ll file per kernel, and Triton's metadata of the launch in a
.json file next to it. A kernel's arguments are guessed from its source (triton_arguments.py). The code therefore
has plausible types: it is suitable for tests of correctness and of compile time, not for judging the kernel. If a
kernel compiles under no guess, a line `not compiled: …` reports it.
"""

import argparse
import fnmatch
import hashlib
import importlib
import json
import os
import pkgutil
import types
from functools import cache, partial
from pathlib import Path

import apart
import standins

os.environ.setdefault("TRITON_DISABLE_LINE_INFO", "1")
os.environ.setdefault("TRITON_CACHE_DIR", str(Path("target/corpus/triton-cache").resolve()))
standins.install()

import triton  # noqa: E402  (imported after PyTorch has its stand-in)
import triton_arguments  # noqa: E402
import triton_uses  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402
from triton.runtime.jit import JITFunction  # noqa: E402

TIME_LIMIT = 40  # seconds for one kernel
# Most characters of LLVM IR. If the IR is longer, the guessed tile has far more elements than a real block.
MOST_TEXT = 1_000_000
MOST_DECORATORS = 8  # around a function: some objects have any attribute, including `fn`, without end


def unwrapped(value):
    """Returns the function inside decorators, and the middle configuration of an autotuner's list."""
    configuration = None
    for _ in range(MOST_DECORATORS):
        if isinstance(value, JITFunction):
            return value, configuration
        if value is None or standins.is_standin(value):
            break
        configurations = attribute_of(value, "configs")
        if isinstance(configurations, list) and configurations:
            configuration = configuration or configurations[len(configurations) // 2]
        value = attribute_of(value, "fn")
    return None, None


def attribute_of(value, name):
    """Returns an attribute, or `None` on an error. Some objects load a library when an attribute is read."""
    try:
        return getattr(value, name, None)
    except Exception:  # a package's code may raise any exception without a GPU
        return None


def is_kernel(function):
    """Whether a function is a kernel: it reads its position in the grid and writes memory. Functions that are only
    called do not do both."""
    return "program_id" in function.src and ("store" in function.src or "atomic" in function.src)


def kernels_of(package):
    """Yields (module's name, kernel's name, function, configuration), each function once, sorted by name."""
    names, root = [package], imported(package)
    if hasattr(root, "__path__"):
        found = pkgutil.walk_packages(root.__path__, package + ".", onerror=lambda name: None)
        names += sorted(module.name for module in found)
    for name in names:
        for attribute, value in sorted(vars(imported(name)).items()):
            function, configuration = unwrapped(value)
            if function is not None and function.fn.__module__ == name and is_kernel(function):
                yield name, attribute, function, configuration


def imported(name):
    """Returns a module, or an empty one if its import fails."""
    try:
        return importlib.import_module(name)
    except Exception as error:  # a package's code may raise any exception on a stand-in
        print(f"not compiled: {name}: {type(error).__name__}: {first_line(error)}", flush=True)
        return types.ModuleType(name)


def first_line(error):
    while error.__cause__ is not None:
        error = error.__cause__
    lines = str(error).strip().splitlines()
    return lines[-1].strip()[:160] if lines else ""


def compile_kernel(function, configuration, guess, target):
    """Returns the LLVM IR of a kernel under one guess of its arguments, and Triton's metadata of its launch."""
    signature, constants, aligned = guess
    options = {"num_warps": 4, "num_stages": 2}
    if configuration is not None:
        constants |= {name: value for name, value in configuration.kwargs.items() if name in constants}
        options = {"num_warps": configuration.num_warps, "num_stages": min(configuration.num_stages, 3)}
    place = {parameter.name: i for i, parameter in enumerate(function.params)}
    source = ASTSource(
        function,
        signature=signature,
        constexprs={(place[name],): value for name, value in constants.items()},
        attrs={(place[name],): [["tt.divisibility", 16]] for name in aligned},
    )
    compiled = triton.compile(source, target=target, options=options)
    known = compiled.metadata
    return compiled.asm["llir"], {"name": known.name, "num_warps": known.num_warps, "shared": known.shared}


def compile_first(function, configuration, target, output, log, is_by_use):
    """Compiles a kernel under the first guess that Triton accepts. Returns an exit status. If Triton accepts no guess,
    the reason is written to `log`."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the compiler prints long reproducers
    first = ""
    for number in range(triton_arguments.GUESSES):
        try:
            guess = triton_arguments.guess(function, number, is_by_use)
            if guess is None:
                break
            text, launch = compile_kernel(function, configuration, guess, target)
        except BaseException as error:
            first = first or f"{type(error).__name__}: {first_line(error)}"
            continue
        if is_by_use and len(text) > MOST_TEXT:
            first = first or f"{len(text)} characters of LLVM IR"
            continue
        output.with_suffix(".json").write_text(json.dumps(launch), encoding="utf8")
        part = output.with_suffix(".part")
        part.write_text(text, encoding="utf8")
        part.rename(output)
        return 0
    log.write_text(first, encoding="utf8")
    return 1


def compile_apart(function, configuration, target, output, is_by_use=False):
    """Compiles a kernel in a separate process. Returns an error message."""
    log = output.with_suffix(".log")
    reason = apart.run(partial(compile_first, function, configuration, target, output, log, is_by_use), TIME_LIMIT)
    if log.exists():
        reason = log.read_text(encoding="utf8")
        log.unlink()
    return reason


@cache
def version():
    """Returns the hash of this project's and Triton's code that guesses and compiles."""
    modules = (standins, triton_arguments, triton_uses)
    scripts = b"".join(Path(file).read_bytes() for file in (__file__, *(module.__file__ for module in modules)))
    return hashlib.sha256(scripts + triton.__version__.encode()).hexdigest()


def remembered(output, attempt):
    """Returns the error message for a kernel. An earlier error is reused if the code that compiles kernels has not
    changed. The packages have fixed versions."""
    failed = output.with_suffix(".failed")
    if failed.exists():
        known, _, reason = failed.read_text(encoding="utf8").partition("\n")
        if known == version():
            return reason
    if reason := attempt():
        failed.write_text(f"{version()}\n{reason}", encoding="utf8")
    return reason


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--prefix", required=True)
    parser.add_argument("folder", type=Path)
    parser.add_argument("packages", nargs="+", metavar="PACKAGE")
    parser.add_argument("--lenient", action="store_true", help="use stand-ins if imports in the packages fail")
    parser.add_argument("--without", nargs="*", default=[], metavar="MODULE", help="modules to leave out, as patterns")
    options = parser.parse_args()
    if options.lenient:
        standins.forgive({package.partition(".")[0] for package in options.packages})
    target = GPUTarget("cuda", int(options.arch.removeprefix("sm_")), 32)
    triton.runtime.driver.set_active(standins.Driver(target))
    for package in options.packages:
        for module, name, function, configuration in kernels_of(package):
            if any(fnmatch.fnmatch(module, pattern) for pattern in options.without):
                continue
            stem = f"{options.prefix}__{module.partition('.')[2].replace('.', '_')}_{name}"
            output = options.folder / f"{stem}.ll"
            if not output.exists():
                attempt = partial(compile_apart, function, configuration, target, output, options.lenient)
                reason = remembered(output, attempt)
                if reason:
                    print(f"not compiled: {stem}: {reason}", flush=True)


if __name__ == "__main__":
    main()
