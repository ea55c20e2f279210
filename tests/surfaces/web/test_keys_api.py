"""Keys over HTTP: the owner's alone, over a line that nobody else can read, and never back."""

from __future__ import annotations

import logging
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from roundtable.core.errors import NetError
from roundtable.net import Answer
from roundtable.provider_keys import FILE, ProviderKeys
from roundtable.surfaces.web.intake import LARGEST_BODY

from .house import House, client_token, house

pytestmark = pytest.mark.anyio
KEY = "sk-proj-0123456789abcdefghijklmnop"
ENTER = {"provider": "openai", "key": KEY}


class Provider:
    """Answers in place of whoever would be called."""

    def __init__(self) -> None:
        self.status = 200
        self.asked: list[tuple[str, dict[str, str]]] = []

    async def request(self, who: str, _: str, url: str, **more: Any) -> Answer:
        self.asked.append((url, dict(more["headers"])))
        if self.status == 0:
            raise NetError("unreachable", "no way")
        return Answer(who, self.status, {}, b"{}")


@pytest.fixture(autouse=True)
def provider(monkeypatch: pytest.MonkeyPatch) -> Provider:
    made = Provider()
    monkeypatch.setattr("roundtable.models.asking.request", made.request)
    monkeypatch.setitem(sys.modules, "keyring", None)
    return made


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path / "home") as opened:
        yield opened


async def rows(home: House) -> dict[str, str]:
    answer = await home.client.get("/api/keys", headers=home.owner)
    assert KEY not in answer.text
    return {each["provider"]: each["held"] for each in answer.json()["providers"]}


@pytest.mark.requirement("Z-34")
async def test_a_key_is_tried_kept_used_and_forgotten(
    home: House, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    assert (await rows(home))["openai"] == "none"
    answer = await home.client.post("/api/keys", json=ENTER, headers=home.owner)
    assert answer.status_code == 201, answer.text
    assert answer.json()["tried"] == "answers"
    assert answer.json()["held"] == "file"
    [(url, sent)] = provider.asked
    assert url.endswith("/models")
    assert sent == {"authorization": f"Bearer {KEY}"}
    assert (await rows(home))["openai"] == "file"
    found = (await home.client.get("/api/models", headers=home.owner)).json()
    assert "openai" in [each["provider"] for each in found["found"]]
    assert home.app.keyed["OPENAI_API_KEY"] == KEY
    for told in (answer.text, str(found), caplog.text):
        assert KEY not in told
    gone = await home.client.delete("/api/keys/openai", headers=home.owner)
    assert gone.status_code == 204
    assert (await rows(home))["openai"] == "none"
    again = await home.client.delete("/api/keys/openai", headers=home.owner)
    assert again.status_code == 404


@pytest.mark.requirement("Z-34")
@pytest.mark.parametrize(("status", "tried"), [(0, "silent"), (500, "fails")])
async def test_a_key_that_cannot_be_tried_is_kept_and_that_is_said(
    home: House, provider: Provider, status: int, tried: str
) -> None:
    provider.status = status
    answer = await home.client.post("/api/keys", json=ENTER, headers=home.owner)
    assert (answer.status_code, answer.json()["tried"]) == (201, tried)
    assert answer.json()["remedy"]


@pytest.mark.requirement("Z-34")
@pytest.mark.parametrize("status", [401, 403])
async def test_a_key_that_the_provider_refuses_is_not_kept(
    home: House, provider: Provider, status: int
) -> None:
    provider.status = status
    answer = await home.client.post("/api/keys", json=ENTER, headers=home.owner)
    assert answer.status_code == 422
    assert "refuses this key" in answer.json()["error"]
    assert KEY not in answer.text
    assert (await rows(home))["openai"] == "none"


@pytest.mark.requirement("Z-34", "Z-39")
@pytest.mark.parametrize(
    "key",
    ["a\nb", "a\r\nX-Evil: 1", "tab\tkey", "nul\0", "two words", '"quoted"', "schlüssel",
     "k" * 4_001, "k" * 1_000_000, "", 7, None, ["a"]],
)  # fmt: skip
async def test_what_can_be_no_key_is_refused_untried_and_not_repeated(
    home: House, provider: Provider, key: object
) -> None:
    body = {"provider": "openai", "key": key}
    answer = await home.client.post("/api/keys", json=body, headers=home.owner)
    assert answer.status_code == 422, answer.text
    if isinstance(key, str) and key:
        assert key not in answer.text
        assert "kkkk" not in answer.text
    assert provider.asked == []
    assert (await rows(home))["openai"] == "none"


@pytest.mark.requirement("Z-39")
async def test_a_body_that_is_too_large_is_not_even_read(home: House, provider: Provider) -> None:
    body = {"provider": "openai", "key": "k" * LARGEST_BODY}
    answer = await home.client.post("/api/keys", json=body, headers=home.owner)
    assert answer.status_code == 413
    assert provider.asked == []


@pytest.mark.requirement("Z-39")
@pytest.mark.parametrize("name", ["local", "cmd", "scripted", "ollama", "nobody", "../openai", ""])
async def test_only_providers_that_take_keys_are_asked_for_one(
    home: House, provider: Provider, name: str
) -> None:
    body = {"provider": name, "key": KEY}
    answer = await home.client.post("/api/keys", json=body, headers=home.owner)
    assert answer.status_code == 404
    assert provider.asked == []


@pytest.mark.requirement("Z-34", "Z-39")
async def test_nobody_but_the_owner_sees_enters_or_forgets_a_key(
    home: House, provider: Provider
) -> None:
    ProviderKeys(home.app.settings.home).put("OPENAI_API_KEY", KEY)
    state = await home.council()
    others = [
        home.links.token(state.discussion_id, role) for role in ("viewer", "host")
    ] + [
        client_token(home.app.settings.home, "open"),
        client_token(home.app.settings.home, "results", "watch", "lead", "open",
                     discussions=None),
        "nothing",
    ]  # fmt: skip
    for secret in others:
        headers = {"authorization": f"Bearer {secret}"}
        for method, path, more in (
            ("GET", "/api/keys", {}),
            ("POST", "/api/keys", {"json": {"provider": "xai", "key": KEY}}),
            ("DELETE", "/api/keys/openai", {}),
        ):
            answer = await home.client.request(method, path, headers=headers, **more)  # type: ignore[arg-type]
            assert answer.status_code in (401, 403, 404), (method, secret[:4], answer.text)
            assert "OPENAI" not in answer.text
            assert KEY not in answer.text
    assert provider.asked == []
    assert dict(home.app.keys) == {"OPENAI_API_KEY": KEY}


@pytest.mark.requirement("Z-39")
async def test_another_site_cannot_enter_or_forget_a_key_in_the_owners_browser(
    home: House, provider: Provider
) -> None:
    cookie = f"{home.web.owner_cookie}={home.links.session}"
    for foreign in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ):
        headers = {"cookie": cookie, **foreign}
        answer = await home.client.post("/api/keys", json=ENTER, headers=headers)
        assert answer.status_code == 403
        gone = await home.client.delete("/api/keys/openai", headers=headers)
        assert gone.status_code == 403
    form = {"cookie": cookie, "content-type": "text/plain"}
    answer = await home.client.post("/api/keys", content=b'{"provider":"openai"}', headers=form)
    assert answer.status_code == 415
    assert provider.asked == []


@pytest.mark.requirement("Z-39")
@pytest.mark.parametrize(
    ("more", "taken"),
    [
        ({}, True),
        ({"x-forwarded-proto": "http"}, False),
        ({"x-forwarded-proto": "https"}, True),
    ],
)
async def test_a_key_is_taken_only_where_nobody_can_read_it_on_its_way(
    home: House, more: dict[str, str], taken: bool
) -> None:
    headers = {**home.owner, **more}
    answer = await home.client.post("/api/keys", json=ENTER, headers=headers)
    assert answer.status_code == (201 if taken else 403), answer.text
    told = (await home.client.get("/api/keys", headers=headers)).json()["refused"]
    assert bool(told) is not taken
    assert (home.app.settings.home / FILE).exists() is taken


@pytest.mark.requirement("Z-34")
async def test_a_key_of_the_environment_is_told_and_left_alone(tmp_path: Path) -> None:
    async with house(tmp_path / "home", env={"OPENAI_API_KEY": KEY}) as home:
        assert (await rows(home))["openai"] == "environment"
        gone = await home.client.delete("/api/keys/openai", headers=home.owner)
        assert gone.status_code == 404
