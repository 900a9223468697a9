"""Kernels with `triton.autotune`: only the tuner's choice is searched, and a slower result is discarded.

Triton's tuner compiles each configuration of a kernel and times it. A search for each configuration would take many
times as long, and the tuner discards all configurations but one. Each configuration is therefore compiled as a
candidate, by ptxas alone. The only exception: registers that ptxas gives up without benefit are recovered, so that
they do not affect the tuner's choice. Only the chosen configuration is searched. The tuner then times the searched
kernel beside the candidate, on the same arguments, and keeps the faster one. Because the kernel is timed, the
search may accept a few more instructions for fewer spills.
"""

import contextlib
import contextvars
import functools
import logging
import statistics

# Measurements of each kernel, which alternate so that a changing clock affects both.
TURNS = 3

_LOG = logging.getLogger("nvptx_ra")
_IS_CANDIDATE = contextvars.ContextVar("nvptx_ra_candidate", default=False)
_IS_TIMED = contextvars.ContextVar("nvptx_ra_timed", default=False)
# The tuner that is launched, and its arguments.
_LAUNCH = contextvars.ContextVar("nvptx_ra_launch", default=(None, (), {}))


@contextlib.contextmanager
def _with(variable, value):
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


def timed():
    """Returns a context for compilations that the caller times beside the candidate to keep the faster kernel."""
    return _with(_IS_TIMED, True)


def notes():
    """Returns the arguments of `_launch_notes.noted` for the current compilation."""
    is_candidate = _IS_CANDIDATE.get()
    return {"is_candidate": is_candidate, "is_timed": _IS_TIMED.get() and not is_candidate}


def install():
    """Makes Triton's tuner work as this module describes. If the tuner of this Triton has another interface, nothing
    changes: each configuration is then searched."""
    from triton.backends.nvidia import compiler
    from triton.runtime import autotuner

    tuner, backend = autotuner.Autotuner, compiler.CUDABackend
    needed = [(tuner, "run"), (tuner, "_bench"), (tuner, "check_disk_cache"), (backend, "hash")]
    if not all(hasattr(of, name) for of, name in needed) or hasattr(tuner.run, "__wrapped__"):
        return
    backend.hash = _telling_apart(backend.hash)
    benchmark = tuner._bench
    tuner._bench = _compiled_as_candidate(benchmark)
    tuner.check_disk_cache = _with_a_search(tuner.check_disk_cache, benchmark)
    tuner.run = _through_the_cache(tuner.run)


def _telling_apart(of_backend):
    """Extends the hash by which Triton's cache stores kernels, to distinguish candidates, timed kernels and others."""

    @functools.wraps(of_backend)
    def hash_of(self):
        known = of_backend(self)
        if _IS_CANDIDATE.get():
            return f"{known}-candidate"
        return f"{known}-timed" if _IS_TIMED.get() else known

    if hasattr(of_backend, "cache_clear"):
        hash_of.cache_clear = of_backend.cache_clear
    return hash_of


def _compiled_as_candidate(benchmark):
    """Wraps Triton's benchmark of a configuration, so that its kernel is compiled as a candidate. Launches do not find
    the candidate afterwards."""

    @functools.wraps(benchmark)
    def compiled_as_candidate(self, *arguments, config, **named):
        function = _function_of(self)
        if function is None:
            return benchmark(self, *arguments, config=config, **named)
        kernels, candidates = _kernels_of(function)
        before = set(kernels)
        kernels.update((key, kernel) for key, kernel in candidates.items() if key not in before)
        try:
            with _with(_IS_CANDIDATE, True):
                return benchmark(self, *arguments, config=config, **named)
        finally:
            for key in kernels.keys() - before:
                candidates[key] = kernels.pop(key)

    return compiled_as_candidate


def _function_of(tuner):
    """Returns the function of a tuner; None if it is not compiled, as with Triton's interpreter."""
    from triton.runtime.jit import JITFunction

    function = tuner.fn
    while function is not None and not isinstance(function, JITFunction):
        function = getattr(function, "fn", None)
    return function if hasattr(function, "device_caches") else None


def _kernels_of(function):
    """Returns the compiled kernels of a function on this GPU by Triton's keys: those that launches find, and the
    candidates."""
    from triton.runtime.driver import driver

    kernels = function.device_caches[driver.active.get_current_device()][0]
    by_kernels = function.__dict__.setdefault("nvptx_ra_candidates", {})
    return kernels, by_kernels.setdefault(id(kernels), {})


def _through_the_cache(run):
    """Enables the tuner's disk cache, which is read between the benchmarks and the launch, where the search runs."""

    @functools.wraps(run)
    def through_the_cache(self, *arguments, **named):
        # The user's setting is recorded once, because another thread may be between these lines.
        is_cached = self.__dict__.setdefault("nvptx_ra_cache_results", self.cache_results)
        self.cache_results = True
        try:
            with _with(_LAUNCH, (self, arguments, named)):
                return run(self, *arguments, **named)
        finally:
            self.cache_results = is_cached

    return through_the_cache


def _with_a_search(check_disk_cache, benchmark):
    @functools.wraps(check_disk_cache)
    def with_a_search(self, key, configs, benchmark_all):
        tuner, arguments, named = _LAUNCH.get()
        # A tuner may be called without `run`.
        if tuner is not self or self.nvptx_ra_cache_results:
            is_found = check_disk_cache(self, key, configs, benchmark_all)
        else:
            is_found = False
            benchmark_all()
        function = _function_of(self)
        if tuner is self and function is not None and not named.get("warmup"):
            _search(self, function, self.cache[key], arguments, named, benchmark)
        return is_found

    return with_a_search


def _search(tuner, function, config, arguments, named, benchmark):
    """Searches the tuner's choice, and keeps the faster of the searched kernel and the candidate."""
    kernels, candidates = _kernels_of(function)
    before = set(kernels)

    def time():
        measured = benchmark(tuner, *arguments, config=config, **named)
        return measured[0] if isinstance(measured, (list, tuple)) else measured

    # The first measurement compiles.
    with timed():
        time()
    for key in kernels.keys() - before:
        searched = kernels[key]
        if key not in candidates:
            del kernels[key]
            tuner._bench(*arguments, config=config, **named)
        kernels[key] = _faster(tuner, kernels, key, searched, candidates[key], time)
    tuner.pre_hook({**tuner.nargs, **named, **config.all_kwargs()}, reset_only=True)


def _faster(tuner, kernels, key, searched, candidate, time):
    if searched.asm["cubin"] == candidate.asm["cubin"]:
        return searched
    times = {id(searched): [], id(candidate): []}
    for _ in range(TURNS):
        for kernel in (candidate, searched):
            kernels[key] = kernel
            times[id(kernel)].append(time())
    before, after = (statistics.median(times[id(kernel)]) for kernel in (candidate, searched))
    is_taken = after <= before
    verdict = "taken" if is_taken else "not taken"
    _LOG.info("%s: %.4f → %.4f ms by the search, %s", tuner.base_fn.__name__, before, after, verdict)
    return searched if is_taken else candidate
