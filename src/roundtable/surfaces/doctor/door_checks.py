"""The doors: proxies, page, tools for agents, host agents and their skill, channels, web search."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import closing
from importlib.util import find_spec

from ...core.addresses import wrong_address
from ...core.errors import RoundtableError
from ...core.extras import install
from ...core.values import NewsChannel
from ...notify.channels import make_channels
from ...ports import Channels
from ...proxies import CORRECT_IT, broken_proxy
from ...search.choose import choose_search
from ...search.engines import BRAVE_KEY, TAVILY_KEY, ddgs_installed
from ...setting_lines import SettingLines
from ...settings import Settings
from .. import skill
from ..toolset.access import access, diagnosis
from ..web.found import STATE_FILE, running
from .finding import Finding


def check_proxies() -> Iterator[Finding]:
    """A proxy that is none stands in the way of every provider."""
    if trouble := broken_proxy():
        yield Finding("proxies", "broken", trouble, CORRECT_IT)


def check_page(settings: Settings) -> Iterator[Finding]:
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        remedy = install("web")
        yield Finding("page", "missing", "The live page needs its library.", remedy)
        return
    # Looking for a server makes this installation's key: not where nothing was ever served.
    found = running(settings.home) if (settings.home / STATE_FILE).exists() else None
    if found is not None:
        yield Finding("page", "ok", f"Served at {found.url} (process {found.pid}).")
        return
    port = settings.choices.web_port
    told = f"Not served now; roundtable serve starts it on port {port}."
    if port and not _free(port):
        told = f"Not served now; port {port} is taken, so the next free one would be used."
    yield Finding("page", "ok", told)


def _free(port: int) -> bool:
    with closing(socket.socket()) as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def check_tools(settings: Settings) -> Iterator[Finding]:
    """The MCP server, and every profile that cannot reach its tools."""
    if find_spec("mcp") is None:
        remedy = install("mcp")
        yield Finding("tools", "missing", "The tools for agents need the MCP library.", remedy)
    else:
        yield Finding("tools", "ok", "roundtable mcp serves them.")
    try:
        for profile in settings.choices.profiles:
            for reason in diagnosis(access(settings.choices, profile)):
                yield Finding("tools", "broken", reason.what, reason.remedy)
    except RoundtableError as error:
        yield Finding("tools", "broken", error.message, error.remedy)


def check_skills(env: Mapping[str, str]) -> Iterator[Finding]:
    """Whether the host agents of this user know of the table."""
    for agent in skill.agents_here(env):
        folder = skill.skills_folder(agent, env) / skill.NAME
        remedy = f"roundtable skill install --for {agent}"
        if not (folder / skill.SKILL_MD).is_file():
            yield Finding("skill", "missing", f"{agent} has no skill for the table.", remedy)
        elif skill.contents(folder) != skill.contents(skill.shipped_skill()):
            yield Finding("skill", "doubtful", f"{folder} is of another version.", remedy)
        else:
            yield Finding("skill", "ok", f"{folder}")
        if (stray := folder / "config.json").is_file():
            yield Finding(
                "skill",
                "doubtful",
                f"{stray} is not read: settings are kept in ROUNDTABLE_HOME.",
                "Move it there.",
            )


async def check_channels(settings: Settings, env: Mapping[str, str]) -> list[Finding]:
    """Every channel that is set up, and the plan that uses them."""
    plan = settings.choices.news
    places = plan.channels if plan.enabled else ()
    named = {place.platform for place in places}
    alone = [NewsChannel(platform=name) for name in settings.choices.channels if name not in named]
    channels = make_channels(settings.choices.channels, env)
    try:
        found = [_channel(channels, place) for place in places]
        # One that nobody has named yet need not know its chat.
        found += [_channel(channels, place, whole=False) for place in alone]
    finally:
        await channels.close()
    if not places:
        told, remedy = "No notifications are set up.", "Add channels under [news] in config.toml."
        found.append(Finding("channels", "missing", told, remedy))
    return found


def _channel(channels: Channels, place: NewsChannel, *, whole: bool = True) -> Finding:
    try:
        channel = channels.find(place.platform)
    except RoundtableError as error:
        return Finding("channels", "broken", error.message, error.remedy)
    if channel is None:
        told = f"{place.name}: no channel of this name is set up."
        return Finding(
            "channels", "broken", told, f"Describe it under [channels.{place.platform}]."
        )
    if whole and (problem := channel.problem(place)):
        return Finding("channels", "broken", f"{place.name}: {problem[0]}", problem[1])
    return Finding("channels", "ok", f"{place.name} is set up.")


def check_search(settings: Settings, env: Mapping[str, str]) -> Iterator[Finding]:
    wanted = settings.choices.search
    lacking = {
        "tavily": None if env.get(TAVILY_KEY, "").strip() else f"Set {TAVILY_KEY}.",
        "brave": None if env.get(BRAVE_KEY, "").strip() else f"Set {BRAVE_KEY}.",
        "searxng": None
        if (settings.choices.searxng_url or env.get("SEARXNG_URL"))
        else "Set SEARXNG_URL.",
        "ddgs": None if ddgs_installed() else install("search"),
    }
    if wanted in lacking and (remedy := lacking[wanted]):
        yield Finding("search", "broken", f"The web search {wanted} cannot be used.", remedy)
        return
    lines = SettingLines(settings)
    address = settings.choices.searxng_url
    if address and wanted in (None, "searxng") and (expected := wrong_address(address.strip())):
        where, key = lines.place("searxng_url"), lines.called("searxng_url")
        told = f"{where}: {key}expected {expected}."
        yield Finding("search", "broken", told, CORRECT_IT)
        return
    search = choose_search(wanted, settings.choices.searxng_url, env)
    if search is None:
        remedy = f"{install('search')}, or set {TAVILY_KEY}, {BRAVE_KEY} or SEARXNG_URL."
        yield Finding(
            "search", "missing", "No web search is set up.", "" if wanted == "none" else remedy
        )
    else:
        yield Finding("search", "ok", f"Web search by {search.name}.")
