"""The page's own fold, run by node where there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest

PAGE = Path(__file__).parents[2] / "src/roundtable/surfaces/web/page"


def test_the_pages_state_is_a_fold_of_its_events() -> None:
    node = shutil.which("node")
    if node is None:
        if os.environ.get("CI"):
            pytest.fail("node is missing: the page's own tests need it")
        pytest.skip("node is missing: install Node 20 or newer to run the page's own tests")
    tests = Path(__file__).with_name("reducer.test.mjs")
    reducer = (PAGE / "reducer.js").read_text("utf-8")
    # Node takes a file for a module by its name; a browser by how it is asked for.
    inline = "data:text/javascript;charset=utf-8," + quote(reducer)
    done = subprocess.run(
        [node, "--test", str(tests)],
        env={**os.environ, "REDUCER": inline},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
