"""The kernel that Triton's tuner chooses is searched and timed, on a small model of Triton. The tests with Triton
itself are in tests/rust/ptxas_wrapper/doors.rs."""

import sys
import types
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from nvptx_ra import _autotuned  # noqa: E402

# The kind of a compilation, by its notes.
KINDS = {"": "searched", "is_candidate": "a candidate", "is_timed": "timed"}


class Config:
    def __init__(self, warps):
        self.warps, self.pre_hook = warps, None

    def all_kwargs(self):
        return {"num_warps": self.warps}


class Model:
    """A model of Triton's tuner: one function, which is compiled for each number of warps."""

    def __init__(self, milliseconds, caches=False):
        model = self
        self.said, self.disk = [], {}

        class Backend:
            def hash(self):
                return self.version()

            def version(self):
                return "version"

        class Function:
            def __init__(self):
                self.device_caches = {0: ({},)}

            def run(self, *_arguments, num_warps, grid):
                kernels = self.device_caches[0][0]
                if num_warps not in kernels:
                    key = (num_warps, Backend().hash())
                    if key not in model.disk:
                        note = "".join(name for name, is_so in _autotuned.notes().items() if is_so)
                        text = f"{num_warps} warps, {KINDS[note]}"
                        model.disk[key] = types.SimpleNamespace(asm={"cubin": text})
                        model.said.append(f"compiled {text}")
                    kernels[num_warps] = model.disk[key]
                model.ran = kernels[num_warps].asm["cubin"]

        class Tuner:
            def __init__(self, fn, configs):
                self.fn, self.configs, self.cache, self.cache_results = fn, configs, {}, caches
                self.base_fn, self.prepared = Function, []

            def pre_hook(self, named, reset_only=False):
                self.prepared.append((named["num_warps"], reset_only))

            def _bench(self, *arguments, config, **named):
                self.pre_hook({**named, **config.all_kwargs()})
                self.fn.run(*arguments, **named, **config.all_kwargs())
                return [milliseconds[model.ran]] * 3

            def check_disk_cache(self, key, configs, benchmark_all):
                model.said.append("asked the disk")
                benchmark_all()
                return False

            def run(self, *arguments, **named):
                self.nargs, key = {"x": arguments[0]}, arguments[0]
                if key not in self.cache:

                    def benchmark():
                        times = {c: self._bench(*arguments, config=c, **named) for c in self.configs}
                        self.cache[key] = min(times, key=times.get)
                        self.pre_hook({**named, **self.cache[key].all_kwargs()}, reset_only=True)

                    if self.cache_results:
                        self.check_disk_cache(key, self.configs, benchmark)
                    else:
                        benchmark()
                self.fn.run(*arguments, **named, **self.cache[key].all_kwargs())
                model.said.append(f"launched {model.ran}")

        self.compiler = types.ModuleType("compiler")
        self.compiler.CUDABackend = Backend
        autotuner, jit, driver = (types.ModuleType(name) for name in ("autotuner", "jit", "driver"))
        autotuner.Autotuner, jit.JITFunction = Tuner, Function
        driver.driver = types.SimpleNamespace(active=types.SimpleNamespace(get_current_device=lambda: 0))
        nvidia, runtime, root = types.ModuleType("nvidia"), types.ModuleType("runtime"), types.ModuleType("triton")
        nvidia.compiler, runtime.autotuner, runtime.jit, runtime.driver = self.compiler, autotuner, jit, driver
        self.modules = {
            "triton": root,
            "triton.backends": types.ModuleType("backends"),
            "triton.backends.nvidia": nvidia,
            "triton.backends.nvidia.compiler": self.compiler,
            "triton.runtime": runtime,
            "triton.runtime.autotuner": autotuner,
            "triton.runtime.jit": jit,
            "triton.runtime.driver": driver,
        }
        self.tuner = Tuner(Function(), [Config(4), Config(8)])

    def launch(self, *arguments):
        with mock.patch.dict(sys.modules, self.modules):
            _autotuned.install()
            self.tuner.run(*arguments, grid=(1,))


class Autotuned(unittest.TestCase):
    def times(self, searched):
        return {"4 warps, a candidate": 2, "8 warps, a candidate": 1, "8 warps, timed": searched}

    def compiled(self, model):
        return [line for line in model.said if line.startswith("compiled")]

    def test_only_what_is_chosen_is_searched(self):
        model = Model(self.times(0.5))
        with self.assertLogs("nvptx_ra", "INFO") as logs:
            model.launch("x")
        candidates = ["compiled 4 warps, a candidate", "compiled 8 warps, a candidate"]
        self.assertEqual(self.compiled(model), [*candidates, "compiled 8 warps, timed"])
        self.assertEqual(model.said[-1], "launched 8 warps, timed")
        self.assertEqual(logs.output, ["INFO:nvptx_ra:Function: 1.0000 → 0.5000 ms by the search, taken"])

    def test_triton_keeps_candidates_and_timed_kernels_apart(self):
        model = Model(self.times(0.5))
        model.launch("x")
        self.assertEqual(set(model.disk), {(4, "version-candidate"), (8, "version-candidate"), (8, "version-timed")})

    def test_what_is_slower_is_dropped(self):
        model = Model(self.times(1.5))
        model.launch("x")
        model.launch("x")
        self.assertEqual(model.said[-2:], ["launched 8 warps, a candidate"] * 2)

    def test_the_arguments_are_prepared_for_the_launch_as_by_the_tuner(self):
        model = Model(self.times(0.5))
        model.launch("x")
        self.assertEqual(model.tuner.prepared[-1], (8, True))

    def test_other_arguments_neither_compile_nor_search_again(self):
        model = Model(self.times(0.5))
        model.launch("x")
        before = len(self.compiled(model))
        model.launch("y")
        self.assertEqual(len(self.compiled(model)), before)
        self.assertEqual(model.said[-1], "launched 8 warps, timed")

    def test_a_tuner_that_keeps_times_on_disk_still_does_and_others_do_not(self):
        for caches in (False, True):
            model = Model(self.times(0.5), caches)
            model.launch("x")
            self.assertEqual("asked the disk" in model.said, caches)
            self.assertEqual(model.tuner.cache_results, caches)
            self.assertEqual(model.said[-1], "launched 8 warps, timed")

    def test_another_triton_is_left_alone(self):
        model = Model(self.times(0.5))
        del model.modules["triton.runtime.autotuner"].Autotuner._bench
        run = model.modules["triton.runtime.autotuner"].Autotuner.run
        with mock.patch.dict(sys.modules, model.modules):
            _autotuned.install()
        self.assertIs(model.modules["triton.runtime.autotuner"].Autotuner.run, run)


if __name__ == "__main__":
    unittest.main()
