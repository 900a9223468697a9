# The lit suite: every test compiles with the plugin loaded. It needs no CMake. The environment contains the paths
# (scripts/env.sh), and a missing program disables a feature.
#
# Substitutions
#   %llc-ra       llc with the plugin, strict, with its checker and the machine verifier on: for most tests
#   %llc %opt %clang %nvptx-ra   the bare programs      %plugin   the plugin's path
#   %clang-nvlink-wrapper   the device linker, which generates code at link time
#   %clang-cuda   clang for the device side of a .cu file, with CUDA's headers
#   %cuda         the CUDA toolkit
#   %ptxas        ptxas                                 %ptxas-verify -arch=sm_NN   ptxas reading standard input
#   %llc14 %llc19 llc of other LLVM majors
#   %python       the Python that runs lit              %ninja   ninja, or none         %chromium   a browser, or none
# With BROWSER=required, a test that needs a browser fails if there is none; otherwise it is skipped.
# FileCheck, not, split-file and LLVM's other tools are found by name. Features: ptxas, cuda, chromium, llc14, llc19, and
# NAME-registered-target for each target of llc; slow with SLOW=1, for tests that take minutes.
#
# RUN_UNDER is a command under which every program that may load the plugin runs; RUN_CLANG_UNDER is the command for
# clang (scripts/memory.sh).

import os
import re
import shutil
import subprocess
import sys

import lit.formats

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
environment = os.environ.get

config.name = "nvptx-ra"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".ll", ".mir", ".cu", ".mfv", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(ROOT, "target/lit")

llvm_config = environment("LLVM_CONFIG") or shutil.which("llvm-config-22")
if not llvm_config:
    lit_config.fatal("no LLVM 22: run scripts/setup.sh, or name it with LLVM_CONFIG")
bin_folder = subprocess.check_output([llvm_config, "--bindir"], text=True).strip()
plugin = environment("PLUGIN", os.path.join(ROOT, "target/release/libnvptx_ra.so"))
nvptx_ra = environment("NVPTX_RA", os.path.join(ROOT, "target/release/nvptx-ra"))
cuda = environment("CUDA_PATH", os.path.join(ROOT, "target/cuda"))
ptxas = os.path.join(cuda, "bin/ptxas")
config.environment["PATH"] = os.pathsep.join([bin_folder, environment("PATH", "")])
if not os.path.exists(plugin):
    lit_config.fatal(f"no plugin at {plugin}: run cargo build --release, or name it with PLUGIN")


def tool(name):
    return os.path.join(bin_folder, name)


run_under = environment("RUN_UNDER", "")
clang_under = environment("RUN_CLANG_UNDER", run_under)


def under(program, command=run_under):
    return f"{command} {program}".lstrip()


clang = under(tool("clang"), clang_under)
chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
substitutions = {
    "%llc-ra": f"{under(tool('llc'))} -load-pass-plugin={plugin} -nvptx-ra-strict -nvptx-ra-verify",
    "%llc14": under("llc-14"),
    "%llc19": under("llc-19"),
    "%llc": under(tool("llc")),
    "%opt": under(tool("opt")),
    "%clang-cuda": f"{clang} -x cuda --cuda-device-only --cuda-path={cuda} -Wno-unknown-cuda-version",
    "%clang-nvlink-wrapper": under(tool("clang-nvlink-wrapper"), clang_under),
    "%clang": clang,
    "%nvptx-ra": under(nvptx_ra),
    "%plugin": plugin,
    "%cuda": cuda,
    "%ptxas-verify": f"{ptxas} -c -",
    "%ptxas": ptxas,
    "%FileCheck": "FileCheck",
    "%ninja": shutil.which("ninja") or "none",
    "%chromium": chromium or "none",
    "%not": "not",
    "%python": sys.executable,
}
# In this order, so that a longer name precedes its own prefix. A name ends at a word boundary.
config.substitutions += [(re.escape(name) + r"(?![\w-])", value) for name, value in substitutions.items()]

if os.access(ptxas, os.X_OK):
    config.available_features.add("ptxas")
if os.path.exists(os.path.join(cuda, "include/cuda.h")) and os.path.exists(tool("clang")):
    config.available_features.add("cuda")
if chromium or environment("BROWSER") == "required":
    config.available_features.add("chromium")
if os.path.exists(tool("clang-nvlink-wrapper")):
    config.available_features.add("nvlink-wrapper")
if environment("SLOW") == "1":
    config.available_features.add("slow")
for major in (14, 19):
    if shutil.which(f"llc-{major}"):
        config.available_features.add(f"llc{major}")
targets = subprocess.check_output([tool("llc"), "--version"], text=True).partition("Registered Targets:")[2]
for line in targets.splitlines():
    name = line.split(" - ")[0].strip()
    if name:
        config.available_features.add(f"{name}-registered-target")
