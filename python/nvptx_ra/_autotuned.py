"""Kernels with `triton.autotune`: what the tuner chooses is searched, and what is slower for it is dropped.

Triton's tuner compiles each configuration of a kernel and times it. A search for each of them would take many times as
long, and all but one are thrown away. So they are compiled as candidates: as ptxas alone would, but that registers come back
which it gives up for nothing, so that the tuner's choice does not depend on that. Only the chosen one is searched. The tuner
then times the searched kernel beside the chosen one, on the same arguments, and the faster one of both is kept. Because it
is timed, the search may take a few more instructions for fewer spills.
"""

import contextlib
import contextvars
import functools
import logging
import statistics

# In turns, so that a clock that changes meets both.
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
    """A context in which the caller times what is compiled, beside the candidate, and takes the faster one."""
    return _with(_IS_TIMED, True)


def notes():
    """What `_launch_notes.noted` says of a text that is compiled now."""
    is_candidate = _IS_CANDIDATE.get()
    return {"is_candidate": is_candidate, "is_timed": _IS_TIMED.get() and not is_candidate}


def install():
    """Has Triton's tuner work so. Without effect on a Triton whose tuner is built otherwise: then each configuration is
    searched."""
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
    """Triton's cache keeps kernels by this hash: candidates, those that are timed, and others have to be told apart."""

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
    """Triton's benchmark of a configuration, with a kernel compiled as a candidate. Afterwards it stands in no place where
    a launch would find it."""

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
    """What a tuner tunes; None where it is not compiled, as with Triton's interpreter."""
    from triton.runtime.jit import JITFunction

    function = tuner.fn
    while function is not None and not isinstance(function, JITFunction):
        function = getattr(function, "fn", None)
    return function if hasattr(function, "device_caches") else None


def _kernels_of(function):
    """The compiled kernels of a function on this GPU by Triton's keys: those that launches find, and the candidates."""
    from triton.runtime.driver import driver

    kernels = function.device_caches[driver.active.get_current_device()][0]
    by_kernels = function.__dict__.setdefault("nvptx_ra_candidates", {})
    return kernels, by_kernels.setdefault(id(kernels), {})


def _through_the_cache(run):
    """The tuner's cache on disk is asked between the benchmarks and the launch, which is the place for the search."""

    @functools.wraps(run)
    def through_the_cache(self, *arguments, **named):
        # What the user wants is noted once: another thread may be between these lines, too.
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
        # A tuner may be called by another way than `run`.
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
    """Compiles what the tuner chose with a search, and leaves the faster one of both in the place of the kernel."""
    kernels, candidates = _kernels_of(function)
    before = set(kernels)

    def time():
        measured = benchmark(tuner, *arguments, config=config, **named)
        return measured[0] if isinstance(measured, (list, tuple)) else measured

    # The first time compiles.
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
