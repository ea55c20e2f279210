"""The proxies that the process's variables name, as the HTTP client reads them.

With one that is none no client can be made, or each call fails deep down, in words that name no
variable: so they are looked at before anything is sent.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from urllib.request import getproxies, proxy_bypass

from .core.addresses import WEB, address_parts, is_this_machine, wrong_address

CORRECT_IT = "Correct it, or unset it."
"""What to do about a variable that holds no address."""
SYSTEM = "the system's settings"
"""What names the proxy where no variable does, on macOS and Windows."""
_SOCKS = ("socks5", "socks5h")


def proxy_trouble(url: str) -> str:
    """Why nothing can be sent to this address: a variable names a proxy that is none. Empty if none
    does, and for this machine, where no proxy is asked."""
    return "" if is_this_machine(address_parts(url).hostname or "") else broken_proxy()


def broken_proxy() -> str:
    """The first variable that should hold the address of a proxy and does not, and what was
    expected; empty if there is none. Nothing of its value is told: it may hold a password."""
    found = getproxies()
    if "*" in (each.strip() for each in found.get("no", "").split(",")):
        return ""
    for scheme in ("http", "https", "all"):
        if (value := found.get(scheme)) and (expected := _wrong(value)):
            return f"{_variable(f'{scheme}_proxy')}: expected {expected}."
    return ""


def proxy_named_by(url: str) -> str:
    """The variable that names the proxy through which this address is called; empty if it is called
    directly, as every server of this machine is."""
    parts = address_parts(url)
    host = parts.hostname or ""
    if is_this_machine(host) or proxy_bypass(host):
        return ""
    found = getproxies()
    for scheme in (parts.scheme, "all"):
        if found.get(scheme):
            variable = _variable(f"{scheme}_proxy")
            return variable if os.environ.get(variable) else SYSTEM
    return ""


def of_the_proxy(variable: str) -> str:
    """What to do where nothing came through the proxy that this variable names."""
    past = "name the server in NO_PROXY if it needs none."
    if variable == SYSTEM:
        return f"Is that proxy reachable from here, and running? Correct it, or {past}"
    return (
        f"Is that proxy reachable from here, and running? Correct {variable}, unset it, or {past}"
    )


def _wrong(proxy: str) -> str:
    whole = proxy if "://" in proxy else f"http://{proxy}"
    if address_parts(whole).scheme in _SOCKS and find_spec("socksio") is None:
        return "a proxy that speaks http, or the Python package socksio"
    return wrong_address(whole, (*WEB, *_SOCKS))


def _variable(name: str) -> str:
    """As it is written in the environment; the smaller letters count where both are there."""
    return name if os.environ.get(name) else name.upper()
