"""Addresses that are none: wherever one comes in, it is told by its variable or file, and whatever
needs no server goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from roundtable.models.registry import Registry
from tests.covering import every_pair
from tests.servers import TEST_KEY, Fault, look_for_local_servers, provider_server

from .desk import Desk, obedient

WRONG = {
    "http://[::1": "IPv6 number in its brackets",
    "http://house:99999/v1": "port is a number from 1 to 65535",
    "http://house:0/v1": "port is a number from 1 to 65535",
    "http://": "names a server",
    "http://a..b/v1": "names a server",
    "ftp://house/v1": "begins with http:// or https://",
    "http://ho use/v1": "without spaces",
}
PROVIDERS = [each for each in Registry.load().providers.values() if each.base_url_env]
COMMANDS = {
    "models": 0,
    "doctor": 1,
    "doctor --reach": 1,
    "config --origin": 0,
    "setup --yes": 2,
    "Tea? --dry-run": 2,
    "Tea? --models {provider}/some-model --dry-run": 2,
}
"""What tells of the address, and with which exit code."""
UNCONCERNED = ("list", "procedures", "demo", "Tea? --models scripted/echo --no-log")


@pytest.fixture(autouse=True)
def _lists_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROUNDTABLE_MODEL_LISTS")


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize(
    ("variable", "address", "command"),
    every_pair([each.base_url_env[0] for each in PROVIDERS], list(WRONG), list(COMMANDS)),
)
def test_a_variable_that_holds_no_address_is_named(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, variable: str, address: str, command: str
) -> None:
    provider = next(each for each in PROVIDERS if each.base_url_env[0] == variable)
    monkeypatch.setenv(variable, address)
    for name in provider.key_env[:1]:
        monkeypatch.setenv(name, TEST_KEY)
    if provider.probe is not None:
        look_for_local_servers(monkeypatch, **{variable: address})
        monkeypatch.setattr("roundtable.models.discovery.PROBE_SECONDS", 0.01)
    outcome = desk(*command.format(provider=provider.id).split(" "))
    told = outcome.out + outcome.err
    assert outcome.code == COMMANDS[command], told
    assert variable in told
    assert WRONG[address] in told
    if command.startswith("doctor"):
        assert "✗ credentials" in told


@pytest.mark.requirement("Z-36")
@pytest.mark.parametrize("command", UNCONCERNED)
@pytest.mark.parametrize(
    "variable", ["OPENAI_BASE_URL", "OLLAMA_HOST", "HTTPS_PROXY", "SEARXNG_URL", "keys.toml"]
)
def test_what_needs_no_server_goes_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, variable: str, command: str
) -> None:
    if variable == "keys.toml":
        stored(desk, "http://[::1")
    else:
        monkeypatch.setenv(variable, "http://[::1")
    outcome = desk(*command.split(" "))
    assert outcome.code == 0, outcome.err


def stored(desk: Desk, address: str) -> None:
    desk.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = desk.home / "keys.toml"
    path.write_text(f'[keys]\n[addresses]\nOPENAI_API_KEY = "{address}"\n', encoding="utf-8")
    path.chmod(0o600)


@pytest.mark.requirement("Z-36", "Z-39")
@pytest.mark.parametrize("address", [*WRONG, "http://me:secret@house/v1"])
@pytest.mark.parametrize("command", ["models", "doctor", "Tea?"])
def test_a_stored_address_that_is_none_is_told_with_its_line(
    desk: Desk, address: str, command: str
) -> None:
    stored(desk, address)
    outcome = desk(command)
    told = outcome.out + outcome.err
    expected = WRONG.get(address, "without a user, a password and a query")
    assert "keys.toml" in told
    assert "(line 3)" in told
    assert expected in told
    assert "secret" not in told
    assert outcome.code == {"models": 0, "doctor": 1, "Tea?": 2}[command]


@pytest.mark.requirement("Z-36", "Z-39")
@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "http_proxy", "ALL_PROXY"])
@pytest.mark.parametrize(
    ("proxy", "expected"),
    [
        ("http://127.0.0.1:99999", "port is a number from 1 to 65535"),
        ("http://me:secret@[::1", "IPv6 number in its brackets"),
        ("gopher://house", "begins with http:// or https://"),
    ],
)
def test_a_proxy_that_is_none_is_named_and_a_server_of_this_machine_does_without(
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
    server_of_this_machine: str,
    variable: str,
    proxy: str,
    expected: str,
) -> None:
    monkeypatch.setenv(variable, proxy)
    monkeypatch.setenv("OPENAI_API_KEY", TEST_KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://house.test:8000/v1")
    refused = desk("Tea?", "--models", "openai/some-model", "--no-log")
    examined = desk("doctor", "--reach")
    monkeypatch.setenv("OPENAI_BASE_URL", server_of_this_machine)
    answered = desk("Tea?", "--quick", "--no-log", "--json")
    assert refused.code == 2
    assert f"{variable}: expected an address" in refused.err
    assert expected in refused.err
    assert f"✗ proxies: {variable}: expected" in examined.out
    assert answered.code == 0, answered.err
    assert "secret" not in refused.err + examined.out + examined.err


@pytest.fixture
def server_of_this_machine() -> Iterator[str]:
    with provider_server(obedient, models=["house"]) as server:
        yield server.openai_url


@pytest.mark.requirement("Z-36")
def test_a_proxy_that_is_none_does_not_matter_where_no_proxy_is_asked(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://[::1")
    monkeypatch.setenv("NO_PROXY", "*")
    assert "proxies" not in desk("doctor").out


@pytest.mark.requirement("Z-36")
def test_a_search_at_no_address_is_broken(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROUNDTABLE_SEARCH")
    monkeypatch.setenv("SEARXNG_URL", "http://[::1")
    told = desk("doctor")
    assert (told.code, "✗ search: SEARXNG_URL: expected an address" in told.out) == (1, True)
    monkeypatch.delenv("SEARXNG_URL")
    desk.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    (desk.home / "config.toml").write_text('searxng_url = "http://s:99999"\n', encoding="utf-8")
    told = desk("doctor")
    assert f"{desk.home / 'config.toml'}:1: searxng_url: expected an address whose port" in told.out


@pytest.mark.requirement("Z-36")
def test_what_is_typed_and_is_no_address_is_asked_for_again(
    desk: Desk, server_of_this_machine: str
) -> None:
    wrong = "".join(f"{each}\n" for each in WRONG)
    typed = f"C\n{wrong}{server_of_this_machine}\n" + "\n" * 20
    outcome = desk("setup", stdin=typed.encode())
    assert outcome.code == 0, outcome.err
    for expected in WRONG.values():
        assert expected in outcome.err
    stored = (desk.home / "keys.toml").read_text("utf-8")
    assert server_of_this_machine in stored
    assert json.loads((desk.home / "config.json").read_text("utf-8"))["version"] == 1


@pytest.mark.requirement("Z-39")
def test_a_server_that_redirects_to_a_port_that_there_is_not_is_not_followed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = {"location": "http://127.0.0.1:99999/v1/models"}
    there = Fault("raw", "", 302, away)
    with provider_server(lists=lambda *_: there) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", TEST_KEY)
        outcome = desk("models")
    assert outcome.code == 0
    assert "redirects to another place, which is not followed" in outcome.out


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "ALL_PROXY"])
def test_a_proxy_that_does_not_answer_is_named_and_a_server_of_this_machine_does_without(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, server_of_this_machine: str, variable: str
) -> None:
    monkeypatch.setenv(variable, "http://me:secret@127.0.0.1:1")
    monkeypatch.setenv("OPENAI_API_KEY", TEST_KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server_of_this_machine)
    here = desk("doctor", "--reach")
    assert "answered in" in here.out
    assert "not available" not in here.out
    assert desk("Tea?", "--quick", "--no-log", "--json").code == 0

    monkeypatch.setenv("OPENAI_BASE_URL", "http://house.test:8000/v1")
    listed = desk("models", "openai")
    called = desk("Tea?", "--models", "openai/some-model", "--no-log")
    for told in (listed.err, called.err):
        assert f"the proxy that {variable} names did not pass on the " in told
        assert f"Correct {variable}, unset it, or name the server in NO_PROXY" in told
        assert "secret" not in told
    assert desk("doctor", "--reach").out.count(f"the proxy that {variable} names") >= 1

    monkeypatch.setenv("NO_PROXY", "house.test")
    assert "the proxy that" not in desk("models", "openai", "--refresh").err


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY"])
def test_the_list_and_the_calls_of_a_server_go_the_same_way(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    with provider_server(obedient, models=("house-a",)) as proxy:
        monkeypatch.setenv(variable, proxy.base_url)
        look_for_local_servers(monkeypatch, LLAMACPP_BASE_URL="http://house.test:8000/v1")
        examined = desk("doctor", "--reach")
    assert "llamacpp/house-a answered in" in examined.out
    assert set(proxy.looked_up) == {"http://house.test:8000/v1/models"}
    assert [each.path for each in proxy.requests] == ["http://house.test:8000/v1/chat/completions"]
