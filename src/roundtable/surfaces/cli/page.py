"""The page of a run: where it is, and whether a browser shows it, before anybody speaks."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ...core.errors import RoundtableError
from ...core.notifications_plan import CONFIDENTIAL
from ...core.state import State
from ...settings import Settings
from ..web.browser import has_display, open_browser
from .terminal import echo_error, is_terminal

if TYPE_CHECKING:
    from ..web.found import Found


@dataclass(frozen=True, slots=True)
class PagePlan:
    """What a run does about its page."""

    tell: bool = False
    """Say where it is, if it is served."""
    serve: bool = False
    """See to it that it is served."""
    browser: bool = False


def page_plan(
    *,
    asked: bool | None,
    setting: bool | None,
    confidential: bool,
    person: bool,
    display: bool,
    installed: bool = True,
) -> PagePlan:
    """`asked` is the flag of this run; it goes before the setting. `person`: somebody reads along
    in a terminal. A person at a screen is shown the page unasked, where it is `installed`. Without
    a display (a server, CI) it is served only if it was asked for, and no browser is opened; a
    confidential discussion is never shown."""
    wanted = setting if asked is None else asked
    if confidential or wanted is False:
        return PagePlan()
    if wanted is None:
        shown = person and display and installed
        return PagePlan(tell=person, serve=shown, browser=shown)
    if asked is None and not person:
        return PagePlan()  # a setting is for people; a script says what it wants
    return PagePlan(tell=True, serve=True, browser=person and display)


def plan_here(settings: Settings, flags: Mapping[str, Any], *, confidential: bool) -> PagePlan:
    """By these flags, these settings and who sits here."""
    person = not flags.get("quiet") and not flags.get("as_json") and is_terminal(sys.stderr)
    return page_plan(
        asked=flags.get("web"),
        setting=settings.choices.web,
        confidential=confidential,
        person=person,
        display=has_display(os.environ),
        installed=find_spec("fastapi") is not None and find_spec("uvicorn") is not None,
    )


async def show_page(settings: Settings, state: State, flags: Mapping[str, Any]) -> None:
    """Say and show where the discussion can be watched. It goes on without a page, too."""
    confidential = bool(flags.get("confidential")) or state.notification_plan == CONFIDENTIAL
    plan = plan_here(settings, flags, confidential=confidential)
    if not plan.tell:
        return
    from ..web.found import page_url
    from ..web.links import links_of

    try:
        found = await _found(settings, serve=plan.serve)
    except RoundtableError as error:
        echo_error(f"Note: {error}")
        return
    if found is None:
        return
    url = page_url(found, links_of(settings), state.discussion_id, "host")
    echo_error(f"Page: {url}")
    if plan.browser and (trouble := open_browser(url, settings.choices.browser)):
        echo_error(f"Note: {trouble} Open the page's link yourself.")


async def _found(settings: Settings, *, serve: bool) -> Found | None:
    import asyncio

    from ..web.found import ensure_server, running

    if serve:
        return await ensure_server(settings, port=settings.choices.web_port)
    return await asyncio.to_thread(running, settings.home)
