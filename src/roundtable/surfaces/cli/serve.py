"""`roundtable serve`: the page, here in the terminal or in the background."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import Any

from ...settings import Settings
from ..web.browser import has_display, open_browser
from ..web.found import (
    Found,
    owner_url,
    require_web,
    running,
    start_detached,
    stop_server,
)
from ..web.links import links_of
from .here import settings_here
from .terminal import echo_error, echo_key, is_terminal

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def serve_command(flags: Mapping[str, Any]) -> int:
    settings = settings_here()
    if flags["stop"]:
        stopped = stop_server(settings.home)
        echo_error("Stopped." if stopped else "The page is not served.")
        return 0
    found = running(settings.home)
    if flags["status"]:
        if found is None:
            echo_error("The page is not served. Start it: roundtable serve")
            return 1
        _say_where(found, settings)
        return 0
    if found is not None:
        if not flags["background"]:
            _say_that_it_is_served(found, flags["port"])
            _say_where(found, settings)
            _show(found, settings, flags)
        return 0
    require_web()
    if flags["host"] not in _LOOPBACK:
        echo_error(
            f"Warning: everybody who reaches {flags['host']} can reach this server, without "
            "encryption. Links are secrets; put a proxy with TLS in front of it."
        )
    if flags["detached"]:
        found = start_detached(settings, _arguments(flags))
        _say_where(found, settings)
        _show(found, settings, flags)
        return 0
    return _serve(settings, flags)


def _say_that_it_is_served(found: Found, wanted: int | None) -> None:
    echo_error(f"The page is served already, on port {found.port}, by process {found.pid}.")
    if wanted not in (None, 0, found.port):
        echo_error(
            f"Nothing was started on port {wanted}. To serve it there, first end that one: "
            "roundtable serve --stop"
        )


def _serve(settings: Settings, flags: Mapping[str, Any]) -> int:
    from ..web.serve import AlreadyServed, serve

    def ready(found: Found) -> None:
        if not flags["background"]:
            _say_where(found, settings)
            echo_error("That link is yours; clients get tokens: roundtable tokens add NAME")
            echo_error("Ctrl-C ends it; what it drives can be resumed.")
            _show(found, settings, flags)

    try:
        asyncio.run(
            serve(
                settings,
                port=flags["port"] or settings.choices.web_port,
                host=flags["host"],
                allow_hosts=flags["allow_host"],
                resume_all=flags["resume_all"],
                drain=flags["drain"],
                on_ready=ready,
            )
        )
    except AlreadyServed:
        if not flags["background"]:
            raise
    return 0


def _say_where(found: Found, settings: Settings) -> None:
    """The owner's link is a secret for others, not for whoever owns this terminal."""
    echo_key(owner_url(found, links_of(settings)))


def _show(found: Found, settings: Settings, flags: Mapping[str, Any]) -> None:
    at_screen = is_terminal(sys.stdout) and has_display(os.environ)
    if flags["no_browser"] or not at_screen:
        return
    url = owner_url(found, links_of(settings))
    if trouble := open_browser(url, settings.choices.browser):
        echo_error(f"{trouble} Open the link above yourself.")


def _arguments(flags: Mapping[str, Any]) -> tuple[str, ...]:
    arguments = ["--host", flags["host"]]
    if flags["port"]:
        arguments += ["--port", str(flags["port"])]
    for name in flags["allow_host"]:
        arguments += ["--allow-host", name]
    if flags["drain"]:
        arguments += ["--drain", str(flags["drain"])]
    return (*arguments, *(["--resume-all"] if flags["resume_all"] else []))
