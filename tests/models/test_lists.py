"""Lists of models are asked for, kept, renewed, and never waited for long."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from roundtable.models import lists
from roundtable.models.lists import FRESH_ELSEWHERE, LEFT_ALONE, Heard, ModelLists
from roundtable.models.provider import Provider
from roundtable.models.registry import Registry
from tests.servers import Fault, hang, provider_server, raw, status

pytestmark = pytest.mark.anyio
OPENAI = Registry.load().providers["openai"]
KEY = "plain-old-password"


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def env(url: str, key: str = KEY) -> dict[str, str]:
    return {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": key}


def files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def names(found: lists.EndpointList) -> list[str]:
    return [each.name for each in found.listing.models]


@pytest.mark.requirement("Z-36")
async def test_a_list_is_asked_for_once_while_it_is_fresh(tmp_path: Path) -> None:
    clock = Clock()
    with provider_server(models=["a", "b"]) as server:
        here = env(server.openai_url)
        first = await ModelLists(tmp_path / "lists", clock).of(OPENAI, here)
        assert names(first) == ["a", "b"]
        # Another process, and the same again.
        again = ModelLists(tmp_path / "lists", clock)
        assert await again.of(OPENAI, here) == first
        assert server.looked_up == ["/v1/models"]
        clock.now += FRESH_ELSEWHERE + 1
        await again.of(OPENAI, here)
        assert len(server.looked_up) == 2
        await again.of(OPENAI, here, refresh=True)
        assert len(server.looked_up) == 3


@pytest.mark.requirement("Z-36", "Z-39")
async def test_what_is_kept_is_its_owners_alone_and_tells_no_key(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "lists"
    with provider_server(models=["a"]) as server:
        await ModelLists(folder).of(OPENAI, env(server.openai_url))
    [file] = files(folder)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert KEY not in file.read_text() + file.name


@pytest.mark.requirement("Z-36", "Z-39")
async def test_another_key_or_another_address_never_sees_it(tmp_path: Path) -> None:
    def by_key(_: str, headers: Mapping[str, str]) -> object:
        return {"data": [{"id": f"of-{headers['authorization'].rpartition('-')[2]}"}]}

    kept = ModelLists(tmp_path)
    with provider_server(lists=by_key) as server:
        assert names(await kept.of(OPENAI, env(server.openai_url, "key-one"))) == ["of-one"]
        assert names(await kept.of(OPENAI, env(server.openai_url, "key-two"))) == ["of-two"]
        assert kept.kept(OPENAI, env(f"{server.base_url}/other", "key-one")) is None
    assert len(files(tmp_path)) == 2


@pytest.mark.requirement("Z-36")
async def test_when_nobody_answers_the_old_list_stands_and_it_is_left_alone(tmp_path: Path) -> None:
    clock = Clock()
    answers: list[object] = [{"data": [{"id": "a"}]}, status(503), status(503)]
    with provider_server(lists=lambda *_: answers.pop(0)) as server:
        here = env(server.openai_url)
        kept = ModelLists(tmp_path, clock)
        await kept.of(OPENAI, here)
        clock.now += FRESH_ELSEWHERE + 1
        later = await kept.of(OPENAI, here)
        assert (later.heard, names(later)) == ("listed", ["a"])
        assert "answers with 503" in later.told
        await kept.of(OPENAI, here)
        assert len(server.looked_up) == 2
        clock.now += LEFT_ALONE + 1
        await kept.of(OPENAI, here)
        assert len(server.looked_up) == 3


FAULTS: list[tuple[object, Heard, str]] = [
    (status(401, "No."), "wrong key", "refuses the key of OPENAI_API_KEY"),
    (status(401, "The key has expired."), "expired key", "has expired"),
    (status(402, "Pay."), "no credit", "no credit left"),
    (status(404, "Nothing."), "no list", "does not list its models"),
    (status(500), "failing", "answers with 500"),
    (raw("<html>Welcome</html>", 200, "text/html"), "no model server", "is no model server"),
    (raw("{", 200, "application/json"), "no model server", "is no model server"),
    ({"data": []}, "no list", "lists no model that speaks"),
    ({"data": [{"id": "text-embedding-3"}]}, "no list", "lists no model that speaks"),
    ({"status": "ok"}, "no list", "lists no model that speaks"),
    (Fault("raw", "", 302, {"location": "http://elsewhere.invalid/"}), "moved", "redirects"),
]


@pytest.mark.requirement("Z-36", "Z-39")
@pytest.mark.parametrize(("fault", "heard", "told"), FAULTS)
async def test_every_way_not_to_list_is_said_as_what_it_is(
    fault: object, heard: Heard, told: str
) -> None:
    with provider_server(lists=lambda *_: fault) as server:
        found = await ModelLists(None).of(OPENAI, env(server.openai_url))
    assert found.heard == heard, found
    assert told in found.told
    assert found.remedy
    assert KEY not in found.told + found.remedy


@pytest.mark.requirement("Z-36")
async def test_a_server_that_hangs_or_is_not_there_is_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lists, "FIRST_SECONDS", 0.05)
    with provider_server(lists=lambda *_: hang()) as server:
        found = await ModelLists(None).of(OPENAI, env(server.openai_url))
    assert (found.heard, "does not answer (timeout)" in found.told) == ("silent", True)
    found = await ModelLists(None).of(OPENAI, env("http://127.0.0.1:9/v1"))
    assert (found.heard, "does not answer" in found.told) == ("silent", True)


@pytest.mark.requirement("Z-36", "Z-39")
async def test_ten_megabytes_of_list_are_not_read() -> None:
    body = '{"data": [' + ",".join(['{"id": "m"}'] * 900_000) + "]}"
    with provider_server(lists=lambda *_: raw(body, 200, "application/json")) as server:
        found = await ModelLists(None).of(OPENAI, env(server.openai_url))
    assert len(body) > 10_000_000
    assert (found.heard, "cannot be read" in found.told) == ("no list", True)


@pytest.mark.requirement("Z-36", "Z-39")
async def test_a_key_of_another_vendor_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nobody(*_: object, **__: object) -> None:
        raise AssertionError("something was sent")

    monkeypatch.setattr(lists, "request", nobody)
    found = await ModelLists(None).of(OPENAI, {"OPENAI_API_KEY": "sk-ant-api03-0123456789"})
    assert found.heard == "other vendor"
    assert "OPENAI_API_KEY holds a key of Anthropic, not of OpenAI" in found.told


@pytest.mark.requirement("Z-36")
async def test_a_model_that_is_not_there_is_marked_and_not_believed_again(tmp_path: Path) -> None:
    clock = Clock()
    with provider_server(models=["liar", "honest"]) as server:
        here = env(server.openai_url)
        kept = ModelLists(tmp_path, clock)
        await kept.of(OPENAI, here)
        clock.now += LEFT_ALONE + 1
        kept.note_gone(OPENAI, here, "liar")
        # The list is asked for again, and says the same; another process knows of it too.
        other = ModelLists(tmp_path, clock)
        assert (await other.of(OPENAI, here)).gone == ("liar",)
        assert other.gone(OPENAI, here) == {"liar"}
        assert len(server.looked_up) == 2
        await other.of(OPENAI, here)
        assert len(server.looked_up) == 2
        # Whoever asks for it now gets a clean list.
        assert (await other.of(OPENAI, here, refresh=True)).gone == ()


@pytest.mark.requirement("Z-36", "Z-39")
@pytest.mark.parametrize("text", ["", "{", "[]", '{"heard": "nonsense"}', '{"heard": 1}', "\0"])
async def test_a_file_that_is_not_ours_is_made_anew(tmp_path: Path, text: str) -> None:
    with provider_server(models=["a"]) as server:
        here = env(server.openai_url)
        await ModelLists(tmp_path).of(OPENAI, here)
        [file] = files(tmp_path)
        file.write_text(text)
        assert names(await ModelLists(tmp_path).of(OPENAI, here)) == ["a"]


async def test_a_home_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with provider_server(models=["a"]) as server:
        kept = ModelLists(tmp_path / "file" / "lists")
        here = env(server.openai_url)
        assert names(await kept.of(OPENAI, here)) == ["a"]
        await kept.of(OPENAI, here)
        assert len(server.looked_up) == 1


@pytest.mark.requirement("Z-36")
async def test_all_endpoints_are_asked_at_once_and_anthropic_in_its_own_way() -> None:
    seen: list[tuple[str, str]] = []

    def answer(path: str, headers: Mapping[str, str]) -> object:
        seen.append((path, headers.get("x-api-key", "")))
        return {"data": [{"id": "m"}]}

    anthropic: Provider = Registry.load().providers["anthropic"]
    with provider_server(lists=answer) as server:
        both = {**env(server.openai_url), "ANTHROPIC_BASE_URL": server.base_url}
        both["ANTHROPIC_API_KEY"] = "key-two"
        kept = ModelLists(None)
        await asyncio.gather(kept.of(OPENAI, both), kept.of(anthropic, both))
    assert sorted(seen) == [("/v1/models", ""), ("/v1/models", "key-two")]
