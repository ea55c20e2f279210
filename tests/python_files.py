"""A file of Python that is run in a process forked from a warm one: `Program([how, file],
module="tests.python_files")`. As a notebook it may wait for something at its top level; as a
program it is what `python -W error FILE` is."""

from __future__ import annotations

import ast
import asyncio
import inspect
import runpy
import sys
import warnings
from pathlib import Path


def main() -> None:
    how, file = sys.argv[1:]
    sys.argv = [file]
    sys.path.insert(0, str(Path(file).parent))
    if how == "notebook":
        text = Path(file).read_text("utf-8")
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        code = compile(text, file, "exec", flags=flags, dont_inherit=True)
        made = eval(code, {"__name__": "__main__"})
        if inspect.iscoroutine(made):
            asyncio.run(made)
    else:
        warnings.simplefilter("error")
        runpy.run_path(file, run_name="__main__")
