"""A key that somebody enters, in the set-up or on the page: whose it may be; how it is tried."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping

from ...models.provider import Provider

_SETTING = re.compile(r" and set [A-Z][A-Z0-9_]+(?=\.?$)")
"""What is done for whoever enters a key."""


def takes_key(provider: Provider, env: Mapping[str, str]) -> bool:
    """Whether it is somebody's service; what runs on this machine is open, or opened by hand."""
    mine = provider.probe is not None or provider.kind in ("local", "command", "scripted")
    return bool(provider.key_env) and not mine and provider.address(env) is not None


def with_key(env: Mapping[str, str], provider: Provider, key: str) -> Mapping[str, str]:
    """The environment in which this key is the provider's, whatever others there are."""
    others = dict.fromkeys(provider.key_env, "")
    return ChainMap({**others, provider.key_env[0]: key}, env)  # type: ignore[arg-type]


def how_to_get(provider: Provider) -> str:
    """How to come by a key, for whoever enters it here."""
    return _SETTING.sub("", provider.get)
