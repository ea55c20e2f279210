"""What is stored by the set-up and does not count, for another file or a variable is stronger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...config_files import line_of, text_at, toml_table
from ...core.errors import RoundtableError
from ...core.limits import WORDS
from ...core.limits import told as in_words
from ...setting_lines import BUILT_IN, SettingLines
from ...settings import CONFIG_JSON, CONFIG_TOML, Settings
from ...views.council import SESSION_LOGS

COST = "max_cost_usd"
_SETTINGS = {
    "models": "models",
    "host": "default_model",
    "procedure": "procedure",
    "language": "language",
    "search": "search",
    "web": "web",
    "round2": "council.round2",
    "log_sessions": "council.log_sessions",
}
"""What the set-up asks for, and the settings that it becomes."""


@dataclass(frozen=True, slots=True)
class Stronger:
    """What else the settings say of what the set-up asks for."""

    settings: Settings

    def places(self) -> dict[str, str]:
        """What is set elsewhere, and where, whatever is chosen in the set-up."""
        lines, found = SettingLines(self.settings), {}
        own = (BUILT_IN, str(self.settings.home / CONFIG_JSON))
        for key, name in _SETTINGS.items():
            if lines.origin(name) not in own:
                found[key] = lines.place(name)
        # Whoever names one model means everybody.
        if "host" in found and not (self.settings.choices.models and "models" in found):
            found["models"] = found["host"]
        return found

    def told(self, config: Mapping[str, Any]) -> tuple[str, ...]:
        """A line for each part of `config` that will not count when it is stored."""
        chosen = {"search": None, **config}
        if "preset" in config:
            chosen["models"] = config["preset"]
        elif "models" in config:
            chosen["models"] = tuple(config["models"].values())
        lines = [
            f"{_NAMES.get(key, key)}: will have no effect, because {place} overrides it"
            for key, place in self.places().items()
            if key in chosen and chosen[key] != self._in_force(_SETTINGS[key])
        ]
        stored = (config.get("budget") or {}).get(COST)
        for limit, place in self._limits():
            if stored is None or limit < stored:
                said = f"limit: {in_words(COST, limit)} at most, because of {place}"
                lines.append(f"{said}; the lowest limit applies")
        return tuple(lines)

    def _in_force(self, name: str) -> object:
        first, _, inner = name.partition(".")
        value = getattr(self.settings.choices, first)
        return value.get(inner) if inner else value

    def _limits(self) -> Iterator[tuple[float, str]]:
        """Limits in dollars that stand elsewhere, the lowest of which counts."""
        path = self.settings.home / CONFIG_TOML
        try:
            text = text_at(path, ours=True)
            table = toml_table(text, str(path))
        except RoundtableError:  # told elsewhere; nothing of it counts
            text, table = "", {}
        for name in ("budget", "caps"):
            of_table = table.get(name)
            if not isinstance(of_table, dict):
                continue
            for called in (WORDS[COST], COST):
                if isinstance(limit := of_table.get(called), int | float):
                    yield limit, f"{path}:{line_of(text, f'{name}.{called}')}"
        lines = SettingLines(self.settings)
        limit, where = self.settings.choices.caps.max_cost_usd, lines.origin(f"caps.{COST}")
        if limit is not None and where != str(path):
            yield limit, where


_NAMES = {"round2": "a council's round 2", "log_sessions": "a council's log", "web": "page"}


def kept_in_vain(stored: Mapping[str, Any]) -> tuple[str, ...]:
    """A line for what is stored, stays so and counts nowhere."""
    path = stored.get("log_path")
    if not isinstance(path, str) or path.rstrip("/") == SESSION_LOGS:
        return ()
    return (f"log_path: {path}, as before; it is ignored: a council's log goes to {SESSION_LOGS}/",)
