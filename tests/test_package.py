"""The package: what is built holds what it should and nothing private, and runs by itself."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email import message_from_string
from functools import cache
from pathlib import Path

import pytest

from roundtable.core.text import SECRETS
from roundtable.examples import examples
from roundtable.version import __version__

from .family import Done, Line, family

ROOT = Path(__file__).parents[1]
EXTRAS = (
    "apprise", "asyncpg", "cryptography", "ddgs", "defusedxml", "docx", "fastapi", "lxml", "mcp",
    "numpy", "openpyxl", "pptx", "pypdf", "starlette", "uvicorn", "wordllama", "xllamacpp",
)  # fmt: skip
_TEXT = (".py", ".md", ".toml", ".json", ".txt", ".sql", ".js", ".css", ".html", ".svg", "PKG-INFO")

_HOME = re.compile(r"(?:/home/|/Users/|[A-Z]:\\Users\\)\w+")
_MADE_UP = ("tests/",)
"""Where secrets and homes are made up to be found."""
_EXAMPLES = ("user:password",)

_BUILD = """
import sys
from hatchling.build import build_sdist, build_wheel
print((build_sdist if sys.argv[1] == "sdist" else build_wheel)(sys.argv[2]))
"""


def python(
    *arguments: str, cwd: Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"} if env is None else env,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def built(kind: str, source: Path, into: Path) -> Path:
    """Build without isolation and without a network: the backend is installed."""
    done = python("-c", _BUILD, kind, str(into), cwd=source)
    assert done.returncode == 0, done.stderr
    return into / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("sdist", ROOT, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """From the sdist, as anybody else would build it."""
    folder = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    [source] = folder.iterdir()
    return built("wheel", source, folder)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def sdist_files(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        files = [member for member in archive.getmembers() if member.isfile()]
        opened = {member.name.partition("/")[2]: archive.extractfile(member) for member in files}
        return {name: file.read() for name, file in opened.items() if file is not None}


def wheel_files(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.requirement("C-76", "D-101")
def test_the_sdist_holds_sources_docs_skill_and_licence(sdist: Path) -> None:
    files = sdist_files(sdist)

    for name in ("README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml", "PKG-INFO",
                 "skills/roundtable/SKILL.md", "skills/roundtable/config.example.json",
                 "src/roundtable/__init__.py", "tests/conftest.py", "docs/council.md",
                 "Makefile", "constraints.txt", "CONTRIBUTING.md", "benchmarks/__main__.py",
                 "tests/experts/topics.toml"):  # fmt: skip
        assert files[name], name


@pytest.mark.requirement("C-76")
def test_the_wheel_holds_the_program_its_data_the_skill_and_the_page(wheel: Path) -> None:
    files = wheel_files(wheel)

    for name in ("roundtable/skills/roundtable/SKILL.md",
                 "roundtable/skills/roundtable/config.example.json",
                 "roundtable_council.py",
                 "roundtable/skills/roundtable/references/mcp.md",
                 "roundtable/models/registry.toml",
                 "roundtable/examples/index.toml",
                 "roundtable/prompts/council/synthesis.md",
                 f"roundtable_council-{__version__}.dist-info/licenses/LICENSE"):  # fmt: skip
        assert files[name], name
    for path in (ROOT / "src" / "roundtable").rglob("*"):
        if (
            path.is_file()
            and path.suffix not in (".pyc", ".db")
            and "__pycache__" not in path.parts
        ):
            assert path.relative_to(ROOT / "src").as_posix() in files
    page = [name for name in files if name.startswith("roundtable/surfaces/web/page/")]
    assert any(name.endswith(".js") for name in page)
    assert any(name.endswith(".html") for name in page)


@pytest.mark.requirement("Z-37")
def test_the_recorded_examples_are_in_both_archives_and_keep_them_small(
    sdist: Path, wheel: Path
) -> None:
    for files, root in ((sdist_files(sdist), "src/roundtable"), (wheel_files(wheel), "roundtable")):
        for name in examples():
            plain, packed = (f"{root}/examples/{name}.bundle{end}" for end in ("", ".xz"))
            assert plain in files or packed in files, name
    shipped = [each for each in zipfile.ZipFile(wheel).infolist() if ".bundle" in each.filename]
    assert sum(each.compress_size for each in shipped) < 1_000_000


@pytest.mark.requirement("C-76", "D-98", "D-101")
def test_its_metadata_names_licence_python_readme_and_command(wheel: Path) -> None:
    files = wheel_files(wheel)
    info = f"roundtable_council-{__version__}.dist-info"
    metadata = message_from_string(files[f"{info}/METADATA"].decode())

    assert metadata["Name"] == "roundtable-council"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT"
    assert "# Roundtable" in str(metadata.get_payload())
    assert b"roundtable = roundtable_council:main" in files[f"{info}/entry_points.txt"]
    needed = [each for each in metadata.get_all("Requires-Dist", []) if "extra ==" not in each]
    assert not [each for each in needed if each.split(">")[0].split("[")[0] in EXTRAS]


@cache
def private_in(text: str) -> frozenset[str]:
    """Most texts are in both archives."""
    found = {match[0] for words in (_HOME, SECRETS) for match in words.finditer(text)}
    return frozenset(found.difference(_EXAMPLES))


@pytest.mark.requirement("D-100", "D-101")
@pytest.mark.parametrize("kind", ["sdist", "wheel"])
def test_nothing_private_is_in_an_archive(kind: str, sdist: Path, wheel: Path) -> None:
    files = sdist_files(sdist) if kind == "sdist" else wheel_files(wheel)
    texts = {
        name: data.decode("utf-8", "replace")
        for name, data in files.items()
        if name.endswith(_TEXT) and not name.startswith(_MADE_UP)
    }
    found = {(name, match) for name, text in texts.items() for match in private_in(text)}

    assert len(texts) > 300
    assert found == set()
    names = [Path(name).name for name in files]
    assert not {".env", "roundtable.db", "web.key", "bundle.key", "config.json"} & set(names)
    assert not [name for name in files if "__pycache__" in name or name.endswith((".pyc", ".db"))]


_BLOCKED = """
import sys
BLOCKED = {extras!r}
class Without:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in BLOCKED:
            return self.finder.find_spec(name, path, target)
    def __getattr__(self, name):
        return getattr(self.finder, name)
sys.meta_path[:] = map(Without, sys.meta_path)
from roundtable.surfaces.cli.app import run
"""
_RUN = "raise SystemExit(run(sys.argv[1:]))"
_LOADED = """
import roundtable.bootstrap, roundtable.ledger
act = run
"""


def bare(installed: Path, *arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    """A base install, in which no extra can be imported, with next to no environment."""
    # What the first process compiles is there for the others.
    env = {"PYTHONPATH": str(installed), "HOME": str(home)}
    if os.name == "nt":
        env["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
    script = _BLOCKED.format(extras=EXTRAS) + _RUN
    return python("-c", script, *arguments, cwd=home, env=env)


COMMANDS = {
    line[0]: line
    for line in (
        ("--help",),
        ("help",),
        ("models",),
        ("doctor", "--json"),
        ("skill", "check"),
        ("privacy",),
        ("list", "--json"),
        ("examples",),
        ("show", "example:lift-letter"),
        ("experts", "database"),
        ("Tea or coffee?", "--quick", "--all=scripted/echo", "--model=scripted/echo", "--json"),
    )
}


@pytest.fixture(scope="module")
def ran(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    """Each of the commands as `bare` starts one, which is done once for all of them."""
    place = tmp_path_factory.mktemp("bare")
    lines: dict[str, Line] = {}
    for number, (name, arguments) in enumerate(COMMANDS.items()):
        (home := place / f"{number}").mkdir()
        lines[name] = Line(arguments, home, {"HOME": str(home)})
    env = {"PYTHONPATH": str(installed), "HOME": str(place)}
    return family(_BLOCKED.format(extras=EXTRAS) + _LOADED, lines, env, place)


@pytest.mark.requirement("I-37", "D-99", "D-101")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_base_install_works_without_any_extra_and_with_an_empty_environment(
    ran: dict[str, Done], command: str
) -> None:
    done = ran[command]

    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.requirement("I-37")
def test_without_any_model_that_is_said_before_anything_is_opened(
    installed: Path, tmp_path: Path
) -> None:
    (tmp_path / "config.toml").write_text("local_servers = false\n")
    done = bare(installed, "Tea or coffee?", home=tmp_path)

    assert done.returncode == 2
    assert "No model can speak here yet, so no discussion was started." in done.stderr
    for way in ("roundtable setup", "Ollama", "roundtable-council[demo]", "roundtable examples"):
        assert way in done.stderr
    assert "Traceback" not in done.stderr
    assert bare(installed, "list", "--json", home=tmp_path).stdout.strip() == "[]"


@pytest.mark.requirement("I-37")
def test_without_the_page_the_rehearsal_says_so_and_goes_on(
    installed: Path, tmp_path: Path
) -> None:
    done = bare(installed, "demo", "--web", home=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "roundtable-council[web]" in done.stderr
    assert "The release waits for the load test" in done.stdout


@pytest.mark.requirement("C-76")
def test_pip_installs_the_wheel_and_its_command_runs(wheel: Path, tmp_path: Path) -> None:
    """Into an environment of its own, which finds the dependencies among those of the tests: so no
    network is needed, and what the wheel itself leaves out is missing."""
    place = tmp_path / "venv"
    made = python("-m", "venv", "--without-pip", str(place), cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    there = Path(sysconfig.get_path("purelib", vars={"base": str(place)}))
    done = python(
        # Ignoring what is installed: pip would take ours out of the tests' own environment.
        "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--ignore-installed",
        "--prefix", str(place), str(wheel), cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # Ours are installed for development there, by a file that names them: only packages count.
    others = sysconfig.get_path("purelib")
    (there / "sitecustomize.py").write_text(f"import sys\nsys.path.append({others!r})\n")
    command = Path(sysconfig.get_path("scripts", vars={"base": str(place)})) / "roundtable"
    env = {"HOME": str(tmp_path), "PATH": os.defpath}
    interpreter = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    for arguments in (("--version",), ("--help",), ("demo", "--no-web"), ("examples",)):
        ran = subprocess.run(
            [interpreter, command, *arguments],
            cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
    where = subprocess.run(
        [interpreter, "-c", "import roundtable; print(roundtable.__file__)"],
        cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert where.stdout.strip() == str(there / "roundtable" / "__init__.py")


@pytest.mark.requirement("Z-39")
def test_no_remedy_installs_somebody_elses_library() -> None:
    """On the package index the name `roundtable` is another project's."""
    folders = [ROOT / name for name in ("src", "docs", "skills", "examples", "benchmarks")]
    pages = [path for folder in folders for path in folder.rglob("*") if path.suffix in _TEXT]
    theirs = re.compile(
        r"""pip\S* (?:un)?install (?:-\S+ )*['"`]?roundtable(?![-\w])|\broundtable\[\w+[],]"""
    )
    found = [
        (path.relative_to(ROOT).as_posix(), match[0])
        for path in (*pages, ROOT / "README.md", ROOT / "pyproject.toml")
        for match in theirs.finditer(path.read_text("utf-8"))
        if path.name != "roundtable_council.py"  # which names it to have it removed
    ]
    assert found == []


def started(installed: Path, *arguments: str, path: tuple[Path, ...] = ()) -> tuple[int, str, str]:
    """The command as its script starts it."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (*path, installed)))}
    script = "import sys; from roundtable_council import main; sys.exit(main())"
    # Without the environment's own packages, among which ours may be found after all.
    alone = ("-S",) if not (installed / "roundtable").exists() else ()
    done = python(*alone, "-P", "-c", script, *arguments, cwd=installed.parent, env=env)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Our package with what an installer leaves beside it."""
    place = tmp_path / "site-packages"
    here = place / "roundtable"
    ignored = shutil.ignore_patterns("__pycache__", "page", "library")
    shutil.copytree(ROOT / "src" / "roundtable", here, ignore=ignored)
    shutil.copy(ROOT / "src" / "roundtable_council.py", place)
    record(place, "roundtable_council", __version__, "roundtable/surfaces/cli/__init__.py")
    return place


def record(place: Path, name: str, version: str, *files: str) -> None:
    info = place / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "RECORD").write_text("".join(f"{file},sha256=x,1\n" for file in files))


_STRANGER = "raise SystemExit('a stranger runs')"


@pytest.mark.requirement("Z-39")
@pytest.mark.parametrize("how", ["before", "bare", "over", "within", "gone", "another version"])
def test_a_foreign_package_of_our_name_is_refused_and_nothing_of_it_runs(
    how: str, copied: Path, tmp_path: Path
) -> None:
    path: tuple[Path, ...] = ()
    ours = copied / "roundtable"
    match how:
        case "before" | "bare":
            theirs = tmp_path / "theirs" / "roundtable"
            theirs.mkdir(parents=True)
            (theirs / "__init__.py").write_text(_STRANGER)
            path = (tmp_path / "theirs",)
            if how == "bare":  # a package without __init__.py, where ours is gone
                (theirs / "__init__.py").unlink()
                shutil.rmtree(ours)
        case "over":
            (ours / "__init__.py").write_text(_STRANGER)
        case "within":
            (ours / "settings.py").write_text(_STRANGER)
            record(copied, "roundtable", "0.4", "roundtable/__init__.py", "roundtable/settings.py")
        case "gone":
            shutil.rmtree(ours)
        case _:
            (ours / "version.py").write_text('__version__ = "9.9"')

    code, out, err = started(copied, "--version", path=path)

    assert (code, out) == (2, ""), err
    assert len(err.splitlines()) == 1
    assert "stranger" not in err
    assert "pip install roundtable-council" in err


@pytest.mark.requirement("Z-39")
def test_our_own_earlier_name_beside_it_is_no_stranger(copied: Path) -> None:
    record(copied, "roundtable", "0.1.0", "roundtable/surfaces/cli/__init__.py")
    code, out, err = started(copied, "--version")
    assert (code, err) == (0, "")
    assert __version__ in out


@pytest.mark.requirement("X-51", "D-100")
def test_an_installation_that_cannot_be_written_installs_its_skill_all_the_same(
    installed: Path, tmp_path: Path
) -> None:
    folders = [path for path in installed.rglob("*") if path.is_dir()]
    for folder in folders:
        folder.chmod(0o555)
    try:
        done = bare(installed, "skill", "install", "--to", str(tmp_path / "skills"), home=tmp_path)
    finally:
        for folder in folders:
            folder.chmod(0o755)

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "skills" / "roundtable" / "SKILL.md").is_file()


@pytest.mark.requirement("D-98")
def test_an_older_python_is_told_what_is_needed(installed: Path, tmp_path: Path) -> None:
    script = "import sys; sys.version_info = (3, 9, 7, 'final', 0); import roundtable"
    env = {**os.environ, "PYTHONPATH": str(installed)}

    done = python("-c", script, cwd=tmp_path, env=env)

    assert done.returncode == 1
    assert "Roundtable needs Python 3.11 or newer; this is 3.9" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.requirement("D-101")
def test_the_repository_is_ready_to_be_open() -> None:
    ignored = (ROOT / ".gitignore").read_text().split()

    assert "MIT License" in (ROOT / "LICENSE").read_text()
    assert {"*.db", "__pycache__/", ".venv/"} <= set(ignored)
