"""Which channels there are: those that the user set up, and those that need no more than a name.

::

    [channels] in config.toml, or ROUNDTABLE_CHANNEL_NAME       the channel NAME
    DISCORD_BOT_TOKEN                                           discord
    FEISHU_APP_ID and _SECRET, LARK_APP_ID and _SECRET          feishu, lark
    TELEGRAM_BOT_TOKEN                                          telegram
    always                                                      stdout, stderr, dry-run
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..core.errors import BadSetting
from ..core.notifications_plan import ChannelSettings
from ..ports import Channel
from ..programs import workspace_of
from .base import ChannelLimits

VARIABLE = "ROUNDTABLE_CHANNEL_"
DISCORD = ChannelLimits(limit=2000, interval=1.0)
FEISHU = ChannelLimits(limit=4000, interval=0.25)
WEBHOOK = ChannelLimits(limit=20_000, interval=0.1)
_FREE = {"stdout": "stdout:", "stderr": "stderr:", "dry-run": "dry-run:"}


class ConfiguredChannels:
    """Implements the Channels port. A channel is made when it is first looked for."""

    def __init__(self, settings: Mapping[str, ChannelSettings], env: Mapping[str, str]) -> None:
        self._settings = settings
        self._env = env
        self._made: dict[str, Channel] = {}

    @property
    def names(self) -> Sequence[str]:
        return tuple(self._settings)

    def find(self, platform: str) -> Channel | None:
        name = _name(platform)
        if name not in self._made and name in self._settings:
            self._made[name] = make_channel(name, self._settings[name], self._env)
        return self._made.get(name)

    async def close(self) -> None:
        for channel in self._made.values():
            await channel.close()


def make_channels(
    configured: Mapping[str, ChannelSettings], env: Mapping[str, str]
) -> ConfiguredChannels:
    """All channels by name: the environment's over the files' over those that need no settings.
    Nothing is imported or sent for it."""
    found = {name: ChannelSettings(url=url) for name, url in (_FREE | _by_keys(env)).items()}
    found |= {_name(name): each for name, each in configured.items()}
    for variable, value in env.items():
        if variable.startswith(VARIABLE) and value.strip():
            found[_name(variable.removeprefix(VARIABLE))] = ChannelSettings(url=value.strip())
    return ConfiguredChannels(found, env)


def make_channel(name: str, settings: ChannelSettings, env: Mapping[str, str]) -> Channel:
    """The channel for an address. BadSetting, without the address in it, if it is none."""
    if bool(settings.url) == bool(settings.command):
        raise BadSetting(f"channels.{name}", "url", "an address, or else a command")

    def limits(usual: ChannelLimits) -> ChannelLimits:
        own = usual
        if settings.limit is not None:
            own = replace(own, limit=settings.limit)
        if settings.per_minute is not None:
            own = replace(own, interval=60 / settings.per_minute)
        if settings.timeout is not None:
            own = replace(own, timeout=settings.timeout)
        return own

    if settings.command:
        from .command import LIMITS, Command

        return Command(settings.command, env, limits(LIMITS))
    scheme, colon, rest = settings.url.partition(":")
    if not colon:
        raise BadSetting(f"channels.{name}", "url", "an address such as slack://… or file:PATH")
    match scheme.lower():
        case "stdout" | "stderr" as stream:
            from .local import UNLIMITED, Terminal

            return Terminal("stdout" if stream == "stdout" else "stderr", limits(UNLIMITED))
        case "dry-run":
            from .local import UNLIMITED, DryRun

            return DryRun(limits(UNLIMITED))
        case "file":
            from .local import UNLIMITED, File

            place = Path(rest.removeprefix("//")).expanduser()
            return File(str(workspace_of(env) / place), limits(UNLIMITED))
        case "command":
            from .command import LIMITS, Command

            return Command((rest.removeprefix("//"),), env, limits(LIMITS))
        case "discord-bot":
            from .discord import DiscordBot

            token = settings.token or rest.removeprefix("//")
            return DiscordBot(token, env, settings.base_url, limits(DISCORD))
        case "feishu-app" | "lark-app":
            from .feishu import FeishuApp

            brand = scheme.lower().removesuffix("-app")
            return FeishuApp(brand, env, settings.base_url, limits(FEISHU))
        case "webhook+http" | "webhook+https":
            from .webhook import Webhook

            return Webhook(settings.url.removeprefix("webhook+"), limits(WEBHOOK))
        case _:
            return _by_address(settings.url, scheme.lower(), limits)


def _by_address(url: str, scheme: str, limits: Callable[[ChannelLimits], ChannelLimits]) -> Channel:
    from .apprise_url import AppriseUrl, limits_of, takes

    if scheme in ("http", "https") and not takes(url):
        from .webhook import Webhook

        return Webhook(url, limits(WEBHOOK))
    return AppriseUrl(url, limits(limits_of(url)))


def _by_keys(env: Mapping[str, str]) -> dict[str, str]:
    """The channels for which a credential in the environment is enough."""

    def given(*names: str) -> bool:
        return all(env.get(name, "").strip() for name in names)

    found = {}
    if given("DISCORD_BOT_TOKEN"):
        found["discord"] = "discord-bot:"
    for brand in ("feishu", "lark"):
        if given(f"{brand.upper()}_APP_ID", f"{brand.upper()}_APP_SECRET"):
            found[brand] = f"{brand}-app:"
    if given("TELEGRAM_BOT_TOKEN"):
        found["telegram"] = f"tgram://{env['TELEGRAM_BOT_TOKEN'].strip()}/{{chat_id}}/"
    return found


def _name(name: str) -> str:
    """Names are the same in a file and in a variable, where there are only capitals and _."""
    return name.lower().replace("_", "-").replace(".", "-")
