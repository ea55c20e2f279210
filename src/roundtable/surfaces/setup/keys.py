"""A key that somebody enters, in the set-up or on the page: whose it may be, which server it is
for, and how it is tried."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass

from ...core.errors import UsageError
from ...core.key_shapes import of_another_vendor
from ...models.asking import ask
from ...models.endpoint_list import REFUSED
from ...models.keyed import server_of
from ...models.provider import Provider

LOOK_SECONDS = 15.0
_SETTING = re.compile(r" and set [A-Z][A-Z0-9_]+(?=\.?$)")
"""What is done for whoever enters a key."""


@dataclass(frozen=True, slots=True)
class Entered:
    """A key with the address that it was entered for; without a key, a server that wants none."""

    variable: str
    key: str
    address: str


def takes_key(provider: Provider, env: Mapping[str, str]) -> bool:
    """Whether it is somebody's service; what runs on this machine is open, or opened by hand."""
    mine = provider.probe is not None or provider.kind in ("local", "command", "scripted")
    return bool(provider.key_env) and not mine and provider.address(env) is not None


def entered_for(provider: Provider, key: str, env: Mapping[str, str], address: str = "") -> Entered:
    """A key that was entered for a provider: for where it is served in `env`, or at `address`."""
    return Entered(provider.key_env[0], key, server_of(address or provider.address(env) or ""))


def not_theirs(provider: Provider, key: str, env: Mapping[str, str]) -> UsageError | None:
    """Why a key that was entered for a provider must not go there: it is plainly another's
    secret."""
    at_vendor = provider.at_vendor(provider.address(env))
    vendor = of_another_vendor(key, provider.id) if at_vendor else None
    if vendor is None:
        return None
    return UsageError(
        f"That is a key of {vendor.label}, not of {provider.label}; it was not sent, and it is not "
        "kept.",
        f"Enter it for {vendor.label}." if vendor.provider else f"Enter one of {provider.label}.",
    )


def with_key(env: Mapping[str, str], provider: Provider, entered: Entered) -> Mapping[str, str]:
    """The environment in which this key is the provider's, at its address, whatever others there
    are."""
    others = dict.fromkeys(provider.key_env, "")
    # What a variable says of the address may hold more than is kept of it, such as a user.
    named = provider.address(env)
    moved = named is None or server_of(named) != entered.address
    there = dict.fromkeys(provider.base_url_env[:1], entered.address) if moved else {}
    return ChainMap({**others, **there, entered.variable: entered.key}, env)  # type: ignore[arg-type]


async def listed_at(provider: Provider, env: Mapping[str, str], address: str) -> str:
    """Where a server lists its models: at the address, or where most have them below it. Empty if
    it does at neither."""
    for place in (address, f"{address}/v1"):
        there = with_key(env, provider, entered_for(provider, "", env, place))
        heard = await ask(provider, there, LOOK_SECONDS)
        # Who wants a key is the right one, too.
        if heard.heard in ("listed", "no models", "no credit", *REFUSED):
            return place
    return ""


def how_to_get(provider: Provider, env: Mapping[str, str]) -> str:
    """How to come by a key for where it is served, for whoever enters it here."""
    return _SETTING.sub("", provider.get_at(provider.address(env)))
