"""Stored keys: for their owner alone, under the environment, and never more than keys."""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from roundtable.bootstrap import start
from roundtable.core.errors import BadSetting, UsageError
from roundtable.models.keyed import Keyed
from roundtable.models.provider import Provider
from roundtable.models.registry import Registry
from roundtable.provider_keys import FILE, LONGEST_KEY, ProviderKeys
from tests.surfaces.web.house import house_settings

KEY = "sk-test-0123456789abcdef"
NAME = "OPENAI_API_KEY"


@pytest.fixture(autouse=True)
def no_ring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever this machine has, tests put nothing into its keyring."""
    monkeypatch.setitem(sys.modules, "keyring", None)


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    held: dict[tuple[str, str], str] = {}
    module: Any = ModuleType("keyring")
    module.get_keyring = lambda: SimpleNamespace(priority=5)
    module.get_password = lambda service, name: held.get((service, name))
    module.set_password = lambda service, name, key: held.__setitem__((service, name), key)
    module.delete_password = lambda service, name: held.pop((service, name))
    monkeypatch.setitem(sys.modules, "keyring", module)
    return held


def withheld(there: Keyed, provider: Provider) -> str:
    said = there.withheld(provider)
    return said.told if said else ""


@pytest.mark.requirement("Z-34")
def test_a_key_is_kept_for_its_owner_alone_replaced_and_removed(tmp_path: Path) -> None:
    keys = ProviderKeys(tmp_path / "home", [NAME])
    assert (dict(keys), keys.place, keys.kept(NAME)) == ({}, "file", None)
    assert keys.put(NAME, "sk-first") == "file"
    assert keys.put(NAME, KEY) == "file"
    assert dict(ProviderKeys(tmp_path / "home")) == {NAME: KEY}
    if sys.platform != "win32":
        assert stat.S_IMODE((tmp_path / "home" / FILE).stat().st_mode) == 0o600
    assert KEY not in repr(keys)
    assert keys.remove(NAME) is True
    assert keys.remove(NAME) is False
    assert KEY not in (tmp_path / "home" / FILE).read_text()


@pytest.mark.requirement("Z-34")
def test_another_process_sees_a_key_at_once(tmp_path: Path) -> None:
    before = ProviderKeys(tmp_path)
    assert NAME not in before
    ProviderKeys(tmp_path).put(NAME, KEY)
    assert before[NAME] == KEY
    ProviderKeys(tmp_path).remove(NAME)
    assert NAME not in before


@pytest.mark.requirement("Z-34", "Z-39")
@pytest.mark.parametrize(
    "key",
    ["", " ", "two words", "a\nb", "a\r\nX-Header: 1", "a\0b", "a\x1bb", 'a"b', "a'b", "a\\b",
     "schlüssel", "a\u200bb", "k" * (LONGEST_KEY + 1)],
)  # fmt: skip
def test_what_can_be_no_key_is_refused_and_not_repeated(tmp_path: Path, key: str) -> None:
    with pytest.raises(UsageError) as refused:
        ProviderKeys(tmp_path).put(NAME, key)
    assert "no key" in str(refused.value)
    if key.strip():
        assert key not in str(refused.value)
    assert not (tmp_path / FILE).exists()


@pytest.mark.requirement("Z-39")
def test_the_file_cannot_set_anything_but_keys_of_providers(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(
        f'[keys]\n{NAME} = "{KEY}"\nOPENAI_BASE_URL = "https://evil"\nPATH = "/tmp"\nlower = "x"\n'
    )
    assert dict(ProviderKeys(tmp_path, [NAME])) == {NAME: KEY}
    with pytest.raises(UsageError):
        ProviderKeys(tmp_path, [NAME]).put("PATH", "x")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("keys = 3", "table"), ("[keys", "TOML"), ("\udcff", "UTF-8"), ("x" * 1_000_001, "1 MB")],
)
def test_a_broken_file_counts_for_nothing_and_is_not_written_over(
    tmp_path: Path, text: str, expected: str
) -> None:
    (tmp_path / FILE).write_bytes(text.encode("utf-8", "surrogateescape"))
    keys = ProviderKeys(tmp_path)
    assert dict(keys) == {}
    assert expected in keys.problem
    with pytest.raises(BadSetting):
        keys.put(NAME, KEY)


def test_an_unsound_key_in_the_file_is_told_by_its_name_alone(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(f'[keys]\n{NAME} = "two words"\n')
    keys = ProviderKeys(tmp_path)
    assert dict(keys) == {}
    assert NAME in keys.problem
    assert "two words" not in keys.problem


@pytest.mark.requirement("Z-34")
def test_the_systems_keyring_is_used_where_there_is_one(
    tmp_path: Path, ring: dict[tuple[str, str], str]
) -> None:
    keys = ProviderKeys(tmp_path)
    assert keys.place == "keyring"
    assert keys.put(NAME, KEY) == "keyring"
    assert list(ring.values()) == [KEY]
    assert KEY not in (tmp_path / FILE).read_text()
    assert ProviderKeys(tmp_path)[NAME] == KEY
    assert keys.remove(NAME) is True
    assert ring == {}
    assert NAME not in ProviderKeys(tmp_path)


@pytest.mark.usefixtures("ring")
def test_a_keyring_that_cannot_be_opened_is_as_good_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: object) -> None:
        raise OSError("locked")

    monkeypatch.setattr(sys.modules["keyring"], "set_password", locked)
    assert ProviderKeys(tmp_path).put(NAME, KEY) == "file"
    assert ProviderKeys(tmp_path)[NAME] == KEY


@pytest.mark.anyio
@pytest.mark.requirement("Z-34")
async def test_models_find_a_stored_key_and_the_environment_is_stronger(tmp_path: Path) -> None:
    settings = house_settings(tmp_path / "home")
    ProviderKeys(settings.home).put(NAME, KEY)
    async with start(settings, env={}) as app:
        assert "openai" in [each.id for each in (await app.discover()).providers]
        assert app.keyed[NAME] == KEY
        assert NAME not in app.env, "programs, channels and boards do not see it"
    async with start(settings, env={NAME: "sk-other"}) as app:
        assert app.keyed[NAME] == "sk-other"


HOUSE = "http://llm.internal:8000/v1"
PROVIDERS = Registry.load().providers


def keyed(home: Path, **env: str) -> Keyed:
    return Keyed(env, ProviderKeys(home), PROVIDERS.values())


def sent(there: Keyed, provider: str = "openai") -> tuple[str | None, str]:
    """Where a provider is, and the key that it is sent there."""
    found = PROVIDERS[provider]
    name = found.key_variable(there)
    return found.address(there), there[name] if name else ""


@pytest.mark.requirement("Z-39")
def test_a_key_goes_to_the_address_that_it_was_entered_for_and_nowhere_else(tmp_path: Path) -> None:
    ProviderKeys(tmp_path).put(NAME, KEY, HOUSE)
    assert sent(keyed(tmp_path)) == (HOUSE, KEY)
    assert sent(keyed(tmp_path, OPENAI_BASE_URL=f"{HOUSE}/")) == (HOUSE, KEY)
    for other in ("https://llm.internal:8000/v1", "http://llm.internal/v1", "http://evil:8000/v1"):
        there = keyed(tmp_path, OPENAI_BASE_URL=other)
        assert sent(there) == (other, "")
        assert f"entered for {HOUSE}, so it is not sent to {other}" in withheld(
            there, PROVIDERS["openai"]
        )
    vendor = keyed(tmp_path, OPENAI_BASE_URL="https://api.openai.com/v1")
    assert sent(vendor) == ("https://api.openai.com/v1", "")
    # A key of the environment is not taken to an address that is only stored.
    own = keyed(tmp_path, OPENAI_API_KEY="sk-own")
    assert sent(own) == ("https://api.openai.com/v1", "sk-own")
    assert own.withheld(PROVIDERS["openai"]) is None


@pytest.mark.requirement("Z-39")
def test_a_key_without_an_address_is_the_vendors(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(f'[keys]\n{NAME} = "{KEY}"\n')
    assert sent(keyed(tmp_path)) == ("https://api.openai.com/v1", KEY)
    europe = "https://eu.api.openai.com/v1"
    assert sent(keyed(tmp_path, OPENAI_BASE_URL=europe)) == (europe, KEY)
    assert sent(keyed(tmp_path, OPENAI_BASE_URL=HOUSE)) == (HOUSE, "")


@pytest.mark.requirement("Z-39")
def test_a_key_that_two_providers_share_is_sent_to_neither_where_they_are_apart(
    tmp_path: Path,
) -> None:
    (tmp_path / "models.toml").write_text(
        f'[providers.house]\nbase_url = "{HOUSE}"\nkey_env = ["{NAME}"]\n'
    )
    ProviderKeys(tmp_path).put(NAME, KEY, "https://api.openai.com/v1")
    providers = Registry.load(tmp_path / "models.toml").providers
    there = Keyed({}, ProviderKeys(tmp_path), providers.values())
    assert NAME not in there
    assert "is not sent to" in withheld(there, providers["house"])
    assert "it is sent to neither" in withheld(there, providers["openai"])


@pytest.mark.requirement("Z-39")
@pytest.mark.parametrize(
    "address", ["ftp://host", "http://user:pass@host/v1", "http://host/v1?key=x", "host", "http://"]
)
def test_what_is_no_address_of_a_server_is_not_kept_and_voids_its_key(
    tmp_path: Path, address: str
) -> None:
    with pytest.raises(UsageError, match="not the address"):
        ProviderKeys(tmp_path).put(NAME, KEY, address)
    (tmp_path / FILE).write_text(f'[keys]\n{NAME} = "{KEY}"\n[addresses]\n{NAME} = "{address}"\n')
    assert dict(ProviderKeys(tmp_path)) == {}
    assert NAME in ProviderKeys(tmp_path).problem


def test_a_server_without_a_key_is_kept_and_forgotten_like_one_with(tmp_path: Path) -> None:
    keys = ProviderKeys(tmp_path)
    keys.put(NAME, KEY, HOUSE)
    keys.put(NAME, "", HOUSE)
    assert (dict(keys), dict(keys.addresses)) == ({}, {NAME: HOUSE})
    assert sent(keyed(tmp_path)) == (HOUSE, "")
    assert keys.remove(NAME) is True
    assert sent(keyed(tmp_path)) == ("https://api.openai.com/v1", "")
