"""A provider: where models are served, and which variables open its door.

It names variables and never holds a key: only a speaker reads a key's value, at call time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import IPv6Address
from typing import Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from ..core.addresses import address_parts, wrong_address
from ..core.pattern import pattern
from ..core.text import redact
from ..core.values import Value

ProviderKind = Literal[
    "openai", "anthropic", "google", "xai", "openai-compatible", "command", "local", "scripted"
]

_EVERYWHERE = pattern(r"(?:0\.0\.0\.0|\[::\])(?=[:/]|\Z)|(?=:(?!:))")
_QUOTED = pattern(r"""(["'`])(.*)\1""", re.DOTALL)


class Provider(Value):
    """One row of the registry's list of providers."""

    id: str
    label: str
    kind: ProviderKind = "openai-compatible"
    key_env: tuple[str, ...] = ()
    """The variables that may hold its key, the first that is set counts."""
    base_url_env: tuple[str, ...] = ()
    """The variables that may move it elsewhere, the first that is set counts."""
    base_url: str | None = None
    api_path: str = ""
    """Added to a base URL from a variable that is only a host, as OLLAMA_HOST usually is."""
    vendor_hosts: tuple[str, ...] = ()
    """The vendor's own hosts; anywhere else is somebody's proxy and gets the common dialect."""
    probe: Literal["ollama", "lmstudio", "openai"] | None = None
    """A server of this machine: it is there when it answers, and it knows its own models."""
    proxy: bool = False
    """Serves the models of others, under their names."""
    free: bool = False
    default_model: str | None = None
    get: str = ""
    """One line on how to come by it."""
    at_once: int | None = Field(default=None, ge=1, le=10_000)
    """Calls under way at most; None: as many as suit its kind."""
    per_minute: float | None = Field(default=None, gt=0, le=10_000_000, allow_inf_nan=False)
    """Calls that begin in any minute; None: no limit."""
    configured: bool = False
    """The user's own file names it, so it comes before all others."""

    @field_validator("key_env", "base_url_env", "vendor_hosts", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("base_url")
    @classmethod
    def _leads_somewhere(cls, value: str | None) -> str | None:
        """What is called as it stands must be whole: only a variable may name a host alone."""
        if value is not None and (expected := wrong_address(value)):
            raise PydanticCustomError("address", "{expected}", {"expected": expected})
        return value

    def key_variable(self, env: Mapping[str, str]) -> str | None:
        """The variable that holds its key, if one does."""
        return next((name for name in self.key_env if env.get(name, "").strip()), None)

    def base_url_variable(self, env: Mapping[str, str]) -> str | None:
        """The variable that moves it elsewhere, if one does."""
        return next((name for name in self.base_url_env if env.get(name, "").strip()), None)

    def address(self, env: Mapping[str, str]) -> str | None:
        """The base URL to call: the variable's if one is set, else the usual one. What is in a
        variable need not be an address: `address_trouble` says so."""
        variable = self.base_url_variable(env)
        return self.base_url if variable is None else self.complete(env[variable].strip())

    def address_trouble(self, env: Mapping[str, str]) -> str:
        """Which variable holds no address although it should, and what was expected; empty if all
        is well. Nothing of its value is told: it may hold a password."""
        variable, address = self.base_url_variable(env), self.address(env)
        if variable is None or address is None or not (expected := wrong_address(address)):
            return ""
        return f"{variable}: expected {expected}."

    def at_vendor(self, base_url: str | None) -> bool:
        """Whether a base URL is the vendor's own."""
        return base_url is not None and address_parts(base_url).hostname in self.vendor_hosts

    def moved(self, base_url: str | None) -> bool:
        """Whether a base URL leads away from the vendor, to somebody else's server: the vendor's
        names, prices and keys mean nothing there."""
        return base_url is not None and bool(self.vendor_hosts) and not self.at_vendor(base_url)

    def get_at(self, base_url: str | None) -> str:
        """How to come by a key for where it is served."""
        return "Ask whoever runs that server for a key." if self.moved(base_url) else self.get

    def label_at(self, base_url: str | None) -> str:
        """What to call it where it is served: a vendor's name is not for somebody else's server."""
        if base_url is None or not self.moved(base_url):
            return self.label
        where = redact(address_parts(base_url).netloc.rpartition("@")[2])
        return f"The server at {where}" if where else self.label

    def complete(self, url: str) -> str:
        """A full URL from what people write: `localhost`, `0.0.0.0:11434`, `:11434`, `::1`,
        `http://host/`, … What is no address stays none."""
        if quoted := _QUOTED.fullmatch(url):
            url = quoted[2].strip()  # no part of any address, and Ollama reads past them, too
        whole = url if "://" in url else f"http://{_bracketed(url)}"
        scheme, _, rest = whole.partition("://")
        # Where a server listens, not where it is found; one of this machine may name a port alone.
        listens = _EVERYWHERE.match(rest)
        if listens is not None and (listens.end() or self.probe is not None):
            whole = f"{scheme}://127.0.0.1{rest[listens.end() :]}"
        if wrong_address(whole):
            return whole
        parts = address_parts(whole)
        netloc = parts.netloc.removesuffix(":")
        usual = address_parts(self.base_url or "")
        if "://" not in url and parts.port is None and usual.port is not None:
            netloc = f"{netloc}:{usual.port}"
        path = parts.path.rstrip("/") or self.api_path
        if self.probe == "ollama" and not path.endswith(self.api_path):
            path += self.api_path  # behind a proxy, its host has a path
        return parts._replace(netloc=netloc, path=path).geturl()


def _bracketed(host: str) -> str:
    """An IPv6 number as it stands in an address; anything else as it is."""
    try:
        return f"[{IPv6Address(host)}]"
    except ValueError:
        return host
