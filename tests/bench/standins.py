"""Stand-ins for modules, mainly PyTorch, that packages of Triton kernels import although the kernels do not need them.

A stand-in has every attribute, can be called, subscripted, subclassed and used as a decorator, and compares like
zero.
"""

import importlib.abc
import importlib.machinery
import sys
import types

MODULES = (
    "torch",
    "torchvision",
    "einops",
    "transformers",
    "datasets",
    "causal_conv1d",
    "flash_attn",
    "cuda",
    "cutlass",
    "tilelang",
)
VERSION = "2.9.0"  # of PyTorch, for packages that read it


class _Meta(type):
    """The type of stand-ins. Stand-ins are classes, so that other classes can inherit from them."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _of(name)

    def __call__(cls, *arguments, **_options):
        # As a decorator, a stand-in returns the decorated object.
        if len(arguments) == 1 and callable(arguments[0]) and not is_standin(arguments[0]):
            return arguments[0]
        return cls

    def _itself(cls, *_arguments):
        return cls

    def _zero(cls):
        return 0

    def _false(cls, *_arguments):
        return False

    __getitem__ = __or__ = __ror__ = __add__ = __radd__ = __sub__ = __mul__ = __rmul__ = __truediv__ = __enter__ = (
        _itself
    )
    __int__ = __index__ = __len__ = _zero
    __lt__ = __le__ = __gt__ = __ge__ = __exit__ = _false

    def __bool__(cls):
        return False

    def __float__(cls):
        return 0.0

    def __iter__(cls):
        return iter(())

    def __eq__(cls, other):
        return cls is other

    def __hash__(cls):
        return id(cls)


_KNOWN = {}


def _of(name):
    if name in ("is_available", "device_count"):
        return lambda *_arguments, **_options: 0
    if name not in _KNOWN:
        ignore = classmethod(lambda cls, **_options: None)
        _KNOWN[name] = _Meta(name, (), {"__module__": "standin", "__init_subclass__": ignore})
    return _KNOWN[name]


def is_standin(value):
    return isinstance(value, _Meta)


class _Module(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name == "__version__":
            return VERSION
        if name == "version":
            return types.SimpleNamespace(__version__=VERSION, cuda="13.0", hip=None, xpu=None)
        if name.startswith("__"):
            raise AttributeError(name)
        return _of(name)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in MODULES:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return _Module(spec.name)

    def exec_module(self, module):
        pass


class _Lenient(importlib.abc.Loader):
    """Runs a module. If it fails, its missing attributes become stand-ins."""

    def __init__(self, loader):
        self.loader = loader

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        try:
            self.loader.exec_module(module)
        except Exception:  # a package's code may raise any exception on a stand-in
            module.__class__ = _Rest


class _Rest(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _of(name)


class _LenientFinder(importlib.abc.MetaPathFinder):
    """Finds modules of some packages and loads them with _Lenient."""

    def __init__(self, packages):
        self.packages = packages

    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] not in self.packages:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _Lenient(spec.loader)
        return spec


class _LastFinder(_Finder):
    """Finds the modules that no other finder finds."""

    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True)


def install():
    """Makes later imports of MODULES find stand-ins."""
    sys.meta_path.insert(0, _Finder())


def forgive(packages):
    """Makes later imports of these packages tolerate missing modules and a missing GPU. If a module's import fails,
    the attributes that it has not defined yet are stand-ins."""
    sys.meta_path.insert(1, _LenientFinder(packages))
    sys.meta_path.append(_LastFinder())


class Driver:
    """A GPU's driver, with the parts that Triton's compiler and its decorators use."""

    def __init__(self, target):
        self.target = target
        properties = {"max_shared_mem": 232448, "multiprocessor_count": 132, "warpSize": 32, "max_num_regs": 65536}
        self.utils = types.SimpleNamespace(get_device_properties=lambda _device: properties)

    def get_current_target(self):
        return self.target

    def get_current_device(self):
        return 0

    def get_active_torch_device(self):
        return "cpu"

    def get_device_interface(self):
        return _of("device_interface")

    def get_benchmarker(self):
        return None
