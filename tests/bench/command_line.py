"""Arguments that several programs of the harness share, with one meaning and one default."""

import argparse
import os

TOOL = os.environ.get("NVPTX_RA", "target/release/nvptx-ra")


def parser_of(text):
    """Returns a parser whose --help prints the program's text without wrapping it."""
    return argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)


def add_modules(parser, unless_named=None, unless_set=""):
    """Adds the arguments for the modules and the corpus. `unless_named` and `unless_set` describe the defaults."""
    parser.add_argument("modules", nargs="*", metavar="MODULE-GLOB", help=unless_named)
    text = f"folder with .bc and .ll files (default: $CORPUS{unless_set})"
    parser.add_argument("--corpus", default=os.environ.get("CORPUS"), help=text)


def add_subset(parser):
    parser.add_argument("--subset", help="only the modules of this subset in corpus.toml")


def add_plugin(parser):
    """Adds the arguments of tools.find()."""
    parser.add_argument("--plugin", help="default: $PLUGIN, target/release/libnvptx_ra.so")


def add_tool(parser):
    """Adds the path of nvptx-ra."""
    parser.add_argument("--tool", default=TOOL)


def add_jobs(parser):
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
