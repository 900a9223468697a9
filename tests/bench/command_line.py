"""The arguments that several programs of the harness have, with one meaning and one default."""

import argparse
import os

TOOL = os.environ.get("NVPTX_RA", "target/release/nvptx-ra")


def parser_of(text):
    """A parser whose --help shows a program's own text as it is written."""
    return argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)


def add_modules(parser, unless_named=None, unless_set=""):
    """Which modules of which corpus; what is taken where none is named, and where CORPUS is not set either."""
    parser.add_argument("modules", nargs="*", metavar="MODULE-GLOB", help=unless_named)
    text = f"folder with .bc and .ll files (default: $CORPUS{unless_set})"
    parser.add_argument("--corpus", default=os.environ.get("CORPUS"), help=text)


def add_subset(parser):
    parser.add_argument("--subset", help="modules of a subset in corpus.toml")


def add_plugin(parser):
    """For tools.find()."""
    parser.add_argument("--plugin", help="default: $PLUGIN, target/release/libnvptx_ra.so")


def add_tool(parser):
    """nvptx-ra."""
    parser.add_argument("--tool", default=TOOL)


def add_jobs(parser):
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
