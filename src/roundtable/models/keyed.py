"""The environment with the stored keys under it, each for the address that it was entered for.

A key is a secret between the user and one server. So a stored one comes with its address: where no
variable names another, that is where its provider is; where one does, the key stays here. And a key
of the environment is never taken to an address that is only stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import urlunsplit

from ..core.addresses import address_parts, port_of
from ..core.key_shapes import shown_key
from ..core.text import redact
from ..provider_keys import ProviderKeys
from .provider import Provider

ENTER_ANOTHER = "Enter a key for that server in `roundtable setup`, or set the variable."


class Withheld(NamedTuple):
    """A key that is there and is not sent."""

    told: str
    remedy: str


class Keyed(Mapping[str, str]):
    """The variables that count for models. What is stored is looked up at each use."""

    def __init__(
        self, env: Mapping[str, str], keys: ProviderKeys, providers: Iterable[Provider]
    ) -> None:
        self._env = env
        self._keys = keys
        self._owners: dict[str, list[Provider]] = {}
        """Whose key, or whose address, a variable may hold."""
        for provider in providers:
            for name in (*provider.key_env, *provider.base_url_env[:1]):
                self._owners.setdefault(name, []).append(provider)

    def __getitem__(self, name: str) -> str:
        if self._env.get(name, "").strip() or name not in self._owners:
            return self._env[name]
        owners = self._owners[name]
        if name in owners[0].key_env:
            # Whoever shares the variable would be sent the key, too.
            if all(self._stored(each) == name for each in owners):
                return self._keys[name]
        elif (stored := self._stored(owners[0])) is not None:
            address = self._keys.addresses.get(stored, "")
            if address and not _same_place(owners[0], address, owners[0].base_url):
                return address
        return self._env[name]

    def __iter__(self) -> Iterator[str]:
        stored = (name for name in self._owners if name not in self._env and name in self)
        return iter({**dict.fromkeys(self._env), **dict.fromkeys(stored)})

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and self[name] is not None
        except KeyError:
            return False

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"Keyed({sorted(self)})"

    def withheld(self, provider: Provider) -> Withheld | None:
        """What is to be said of a key of this provider that is not sent to where the provider is
        now; None if there is no such key."""
        if (variable := provider.key_variable(self)) is not None:
            return self._outdone(provider, variable)
        for name in provider.key_env:
            if self._keys.kept(name) and (here := provider.address(self._env)):
                address = self._keys.addresses.get(name) or provider.base_url or ""
                there = redact(server_of(address))
                if not _same_place(provider, address, here):
                    told = f"The stored key {name} was entered for {there}, "
                    told = f"{told}so it is not sent to {redact(server_of(here))}."
                    return Withheld(told, ENTER_ANOTHER)
                if len(self._owners[name]) > 1:
                    others = " and ".join(each.label for each in self._owners[name])
                    told = f"The stored key {name} would go to {others}, so it is sent to neither."
                    return Withheld(told, ENTER_ANOTHER)
        return None

    def _outdone(self, provider: Provider, variable: str) -> Withheld | None:
        """An address with a user and a password is called with those: there is one place for a
        credential, and they were written for this server."""
        address = provider.address(self) or ""
        shown = shown_key(provider.kind, variable, self[variable].strip())
        if "@" not in address_parts(address).netloc or "authorization" not in shown:
            return None
        where = redact(server_of(address))
        return Withheld(
            f"{variable} is not sent to {where}: its address holds a user and a password, and only "
            "one of the two can be sent.",
            f"Leave the user out of {provider.base_url_variable(self) or 'its base_url'}, or unset "
            f"{variable}.",
        )

    def _stored(self, provider: Provider) -> str | None:
        """The variable under which what counts of this provider is stored."""
        if provider.key_variable(self._env) is not None:
            return None
        for name in provider.key_env:
            address = self._keys.addresses.get(name, "")
            if not (address or self._keys.kept(name)):
                continue
            here = provider.address(self._env)
            if address and provider.base_url_env and not provider.base_url_variable(self._env):
                here = address
            if _same_place(provider, address or provider.base_url, here):
                return name
        return None


def server_of(address: str) -> str:
    """An address as it is kept beside a key: without a user, a password or a query."""
    parts = address_parts(address)
    return urlunsplit(
        (parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", "")
    )


def _same_place(provider: Provider, one: str | None, other: str | None) -> bool:
    """Whether two addresses are one server, or both the vendor's."""
    if one is None or other is None:
        return one == other
    return _origin(one) == _origin(other) or (provider.at_vendor(one) and provider.at_vendor(other))


def _origin(address: str) -> tuple[str, str | None, int | None]:
    parts = address_parts(address)
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname, port_of(parts) or usual
