"""Which program is meant by a name, and what a child is given."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from roundtable.programs import (
    NEUTRAL,
    WORKSPACE,
    child,
    find_program,
    python_child,
    safe_environment,
    workspace_of,
)
from roundtable.shelter import shelter

pytestmark = [
    pytest.mark.requirement("Z-39"),
    pytest.mark.skipif(os.name == "nt", reason="the programs of these tests are POSIX scripts"),
]


def program(folder: Path, name: str = "claude") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n", "utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_a_name_is_looked_for_outside_the_workspace(project: Path, tmp_path: Path) -> None:
    program(project)
    program(project / "node_modules/.bin")
    real = program(tmp_path / "real")
    inside = [".", "", "node_modules/.bin", str(project), str(project / "node_modules/.bin")]
    link = tmp_path / "link"
    link.symlink_to(project)
    path = os.pathsep.join([*inside, str(link), f"{real.parent}/../project"])

    assert find_program("claude", {"PATH": path}) is None
    assert find_program("claude", {"PATH": f"{path}:{real.parent}"}) == str(real)


def test_a_link_into_the_workspace_is_not_followed(project: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/claude").symlink_to(program(project))

    assert find_program("claude", {"PATH": str(tmp_path / "bin")}) is None


def test_a_relative_path_is_nobodys_choice_and_a_full_one_is(project: Path) -> None:
    path = program(project)

    assert find_program("./claude", {}) is None
    assert find_program("../project/claude", {}) is None
    assert find_program("", {"PATH": str(project)}) is None
    assert find_program(str(path), {}) == str(path)
    assert find_program(str(project), {}) is None, "a folder is no program"


def test_the_users_own_home_is_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = program(tmp_path / ".local/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    assert find_program("claude", {"PATH": str(real.parent)}) == str(real)
    assert find_program("claude", {"PATH": ".local/bin"}) is None


def test_the_workspace_is_the_one_that_was_told(project: Path, tmp_path: Path) -> None:
    real = program(tmp_path / "real")
    env = {"PATH": str(real.parent), WORKSPACE: str(real.parent)}

    assert workspace_of({}) == project
    assert workspace_of(env) == real.parent
    assert find_program("claude", env) is None


def test_the_current_folder_is_no_safer_than_the_workspace(project: Path, tmp_path: Path) -> None:
    inside = program(project / "bin")
    env = {"PATH": str(inside.parent), WORKSPACE: str(tmp_path / "elsewhere")}

    assert find_program("claude", env) is None
    assert WORKSPACE not in child(["sh"], env | {"PATH": "/bin:/usr/bin"}).env


def test_a_workspace_that_is_gone_is_no_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert workspace_of({}) == NEUTRAL


def test_a_child_is_given_no_way_into_the_workspace(project: Path, tmp_path: Path) -> None:
    real = program(tmp_path / "real")
    lists = f".::lib:{project}:{project}/lib:{real.parent}"
    env = {
        **dict.fromkeys(("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "NODE_PATH"), lists),
        "PYTHONSTARTUP": "start.py",
        "PYTHONHOME": str(project),
        "PYTHONUSERBASE": str(tmp_path / "base"),
        "PYTHONPYCACHEPREFIX": "cache",
        "OTHER": "kept",
    }
    kept = dict.fromkeys(("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "NODE_PATH"), str(real.parent))

    begun = child(["claude", "-p"], env)

    assert begun.arguments == (str(real), "-p")
    assert begun.folder == NEUTRAL
    assert begun.env == {**kept, "PYTHONUSERBASE": str(tmp_path / "base"), "OTHER": "kept"}
    assert safe_environment({"PATH": "."}) == {"PATH": os.defpath}


def test_no_program_is_an_error_that_says_so(project: Path) -> None:
    program(project)
    with pytest.raises(FileNotFoundError, match="outside the current folder"):
        child(["claude"], {"PATH": "."})


def test_this_program_starts_itself_with_a_safe_path(project: Path) -> None:
    (project / "json.py").write_text("raise SystemExit('trapped')", "utf-8")
    (project / "sitecustomize.py").write_text("raise SystemExit('trapped')", "utf-8")
    env = {**os.environ, "PYTHONPATH": f".::{project}"}

    begun = python_child("roundtable", ("--version",), env)

    assert begun.arguments[:4] == (sys.executable, "-P", "-m", "roundtable")
    assert begun.env[WORKSPACE] == str(project)
    done = begun.run(capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_process_itself_leaves_the_workspace_out(project: Path) -> None:
    env = {"PATH": f".:{project}:/usr/bin", "PYTHONSTARTUP": "x.py", "LD_LIBRARY_PATH": ":"}
    path = ["", ".", "lib", str(project), "/usr/lib/python", str(project / ".venv/lib")]

    shelter(env, path)

    assert env == {"PATH": "/usr/bin"}
    assert path == ["/usr/lib/python", str(project / ".venv/lib")]
