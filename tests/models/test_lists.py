"""Lists of models are asked for, kept, renewed, and never waited for long."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from roundtable.models import asking, lists
from roundtable.models.endpoint_list import EndpointList, Heard
from roundtable.models.lists import FRESH_ELSEWHERE, LEFT_ALONE, MAY_PASS, NOT_BELIEVED, ModelLists
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


def names(found: EndpointList) -> list[str]:
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
    (raw("<html>Welcome</html>", 200, "text/html"), "no model server", "is not a model server"),
    (raw("{", 200, "application/json"), "no model server", "is not a model server"),
    ({"data": []}, "no models", "lists no chat model"),
    ({"data": [{"id": "text-embedding-3"}]}, "no models", "lists no chat model"),
    ({"status": "ok"}, "no list", "does not list its models"),
    (status(403, "Not from your region."), "forbidden", "does not let the key of OPENAI_API_KEY"),
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
    assert (found.heard, "did not list its models in time" in found.told) == ("silent", True)
    assert "--models openai/NAME" in found.remedy, "calls may be answered all the same"
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

    monkeypatch.setattr("roundtable.models.asking.request", nobody)
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
        clock.now += 1
        kept.note_unusable(OPENAI, here, "liar", "unknown")
        # The list is asked for again, and says the same; another process knows of it too.
        clock.now += 1
        other = ModelLists(tmp_path, clock)
        again = await other.of(OPENAI, here)
        assert (again.at, list(again.unusable)) == (clock.now, ["liar"])
        assert other.unusable(OPENAI, here) == {"liar": "unknown"}
        assert len(server.looked_up) == 2
        await other.of(OPENAI, here)
        assert len(server.looked_up) == 2
        # Whoever asks for it now gets a clean list.
        assert list((await other.of(OPENAI, here, refresh=True)).unusable) == ["liar"]
        assert (await other.of(OPENAI, here, refresh=True, forget=True)).unusable == {}


@pytest.mark.requirement("Z-36")
async def test_a_server_that_was_started_anew_with_another_model_is_asked_again_and_believed(
    tmp_path: Path,
) -> None:
    clock = Clock()
    serves = ["a"]
    with provider_server(lists=lambda *_: {"data": [{"id": each} for each in serves]}) as server:
        here = env(server.openai_url)
        kept = ModelLists(tmp_path, clock)
        await kept.of(OPENAI, here)
        serves[:] = ["b"]
        clock.now += 1
        kept.note_unusable(OPENAI, here, "a", "unknown")
        clock.now += 1
        assert names(await kept.of(OPENAI, here)) == ["b"]
        assert kept.unusable(OPENAI, here) == {}, "its list says it already"
        serves[:] = ["a"]
        clock.now += FRESH_ELSEWHERE + 1
        assert names(await kept.of(OPENAI, here)) == ["a"]
        assert kept.unusable(OPENAI, here) == {}


@pytest.mark.requirement("Z-36")
async def test_what_somebody_may_mend_at_any_moment_is_tried_again_soon() -> None:
    clock = Clock()
    kept = ModelLists(None, clock)
    here = env("http://127.0.0.1:9/v1")
    kept.note_unusable(OPENAI, here, "big", "too large")
    kept.note_unusable(OPENAI, here, "gone", "retired")
    clock.now += MAY_PASS + 1
    assert kept.unusable(OPENAI, here) == {"gone": "retired"}
    clock.now += NOT_BELIEVED
    assert kept.unusable(OPENAI, here) == {}


@pytest.mark.requirement("Z-36")
async def test_a_server_that_wants_a_key_where_none_is_set_says_which_to_set() -> None:
    with provider_server(lists=lambda *_: status(401, "Who are you?")) as server:
        found = await ModelLists(None).of(OPENAI, {"OPENAI_BASE_URL": server.openai_url})
    assert found.heard == "no key"
    assert "needs a key, and OPENAI_API_KEY is not set." in found.told
    assert "--models openai/NAME" in found.remedy, "a list may be shut off where calls are not"


@pytest.mark.requirement("Z-36")
async def test_an_address_without_its_end_is_told_with_it() -> None:
    def at_v1(path: str, _: Mapping[str, str]) -> object:
        return {"data": [{"id": "m"}]} if path == "/v1/models" else status(404)

    with provider_server(lists=at_v1) as server:
        found = await ModelLists(None).of(OPENAI, env(server.base_url))
        assert found.heard == "no list"
        assert f"has its models at {server.base_url}/v1." in found.told
        assert found.remedy == f"Set OPENAI_BASE_URL={server.base_url}/v1."


@pytest.mark.requirement("Z-36")
async def test_https_to_a_server_that_speaks_http_is_said_to_be_that() -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(plain, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        found = await ModelLists(None).of(OPENAI, env(f"https://127.0.0.1:{port}/v1"))
    assert (found.heard, "does not answer over https" in found.told) == ("silent", True)
    assert "http://" in found.remedy


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


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(
    ("variable", "value"), [("ANTHROPIC_API_KEY", "key"), ("ANTHROPIC_AUTH_TOKEN", "tok-abc")]
)
async def test_a_list_is_shown_the_same_credential_as_a_call(variable: str, value: str) -> None:
    anthropic = Registry.load().providers["anthropic"]
    with provider_server(lists=lambda *_: {"data": [{"id": "m"}]}) as server:
        here = {"ANTHROPIC_BASE_URL": server.base_url, variable: value}
        assert names(await ModelLists(None).of(anthropic, here)) == ["m"]


OLLAMA, LM_STUDIO = (Registry.load().providers[name] for name in ("ollama", "lmstudio"))


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize("path", ["", "/ollama", "/ollama/v1", "/ollama/"])
def test_ollama_behind_a_path_is_called_where_it_is_listed(path: str) -> None:
    address = OLLAMA.address({"OLLAMA_HOST": f"http://127.0.0.1:9{path}"})
    assert address == f"http://127.0.0.1:9{'/ollama' if path else ''}/v1"


async def test_a_server_that_forbids_its_list_is_told_of_with_its_reason() -> None:
    said = status(403, "Country, region, or territory not supported")
    with provider_server(lists=lambda *_: said) as server:
        heard = await ModelLists(None).of(OPENAI, env(server.openai_url))
    assert heard.heard == "forbidden"
    assert heard.told.endswith("(403): Country, region, or territory not supported.")


def shown(*capabilities: str, **more: object) -> object:
    facts = {"general.architecture": "tea", "tea.context_length": 131_072}
    return {"capabilities": capabilities, "model_info": facts, **more}


@pytest.mark.requirement("Z-36")
async def test_ollama_is_asked_what_each_model_can_once_for_its_weights(tmp_path: Path) -> None:
    weights = {"tea": "sha-1", "seeing": "sha-2", "vectors": "sha-3", "shy": "sha-4"}

    def tags(*_: object) -> object:
        return {"models": [{"name": name, "digest": each} for name, each in weights.items()]}

    shows = {
        "tea": shown("completion", "tools", "thinking", parameters="stop x\nnum_ctx 8192"),
        "seeing": shown("completion", "vision"),
        "vectors": shown("embedding"),
    }
    with provider_server(lists=tags, shows=shows) as server:
        here = {"OLLAMA_HOST": server.base_url}
        found = await ModelLists(tmp_path).of(OLLAMA, here, patience=30.0)
        rows = {row.name: row for row in found.listing.models}
        assert list(rows) == ["tea", "seeing", "shy"], "what makes vectors does not speak"
        tea, seeing, shy = rows.values()
        assert (tea.context_window, tea.vision, tea.thinking) == (8192, False, True)
        assert (seeing.context_window, seeing.vision, seeing.thinking) == (131_072, True, False)
        assert (shy.context_window, shy.vision) == (None, None), "unknown is not no"
        assert tea.structured is True
        before = len(server.looked_up)
        weights["seeing"] = "sha-5"
        again = await ModelLists(tmp_path).of(OLLAMA, here, patience=30.0)
        assert {row.name: row.vision for row in again.listing.models}["tea"] is False
        asked = server.looked_up[before:]
        assert "/api/show tea" not in asked
        assert "/api/show seeing" in asked


@pytest.mark.requirement("Z-36")
async def test_a_hundred_models_of_ollama_are_not_all_described_at_once() -> None:
    names = [f"m-{n}" for n in range(100)]
    shows = dict.fromkeys(names, shown("completion", "vision"))
    with provider_server(models=names, shows=shows) as server:
        here = {"OLLAMA_HOST": server.base_url}
        found = await ModelLists(None).of(OLLAMA, here, patience=30.0)
        described = [each for each in server.looked_up if each.startswith("/api/show")]
    assert len(found.listing.models) == 100
    assert len(described) <= asking.MOST_DESCRIBED


@pytest.mark.requirement("Z-36")
async def test_lm_studio_is_asked_what_its_models_can() -> None:
    rows = [
        {"id": "talks", "type": "llm", "max_context_length": 32_768, "capabilities": ["tool_use"]},
        {"id": "sees", "type": "vlm", "max_context_length": 131_072, "loaded_context_length": 4096},
        {"id": "not-served", "type": "llm"},
    ]

    def answer(path: str, _: Mapping[str, str]) -> object:
        if path == "/api/v0/models":
            return {"data": rows}
        return {"data": [{"id": "talks"}, {"id": "sees"}]}

    with provider_server(lists=answer) as server:
        here = {"LMSTUDIO_BASE_URL": server.openai_url}
        found = await ModelLists(None).of(LM_STUDIO, here, patience=30.0)
    talks, sees = found.listing.models
    assert (talks.context_window, talks.vision, talks.thinking) == (32_768, False, None)
    assert (sees.context_window, sees.vision) == (4096, True)


@pytest.mark.requirement("Z-36")
async def test_a_server_that_says_no_more_is_believed_as_far_as_it_goes() -> None:
    with provider_server(models=["tea"]) as server:
        found = await ModelLists(None).of(OLLAMA, {"OLLAMA_HOST": server.base_url}, patience=30.0)
    assert [(row.name, row.vision) for row in found.listing.models] == [("tea", None)]
