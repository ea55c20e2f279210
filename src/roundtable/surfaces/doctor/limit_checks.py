"""How many calls providers are asked, by which rule; and, for a fleet, how it stands."""

from __future__ import annotations

from collections.abc import Mapping

from ...core.call_gate import CallGate, CallLimits, slots_told
from ...core.errors import RoundtableError
from ...ledger import open_ledger
from ...ledger.beside import in_postgres
from ...models.found import Found
from ...models.limits import gates_of, provider_limits
from ...settings import Settings
from .finding import Finding


async def check_limits(settings: Settings, found: Found, env: Mapping[str, str]) -> list[Finding]:
    """One line for all providers that can speak, and one for each that a fleet is held back by."""
    told = []
    for each in found.providers:
        provider = found.registry.providers.get(each.id)
        if provider is not None:
            limits = provider_limits(provider, env, settings.choices.concurrency)
            told += [f"{each.id} {_words(limits)}"] if not limits.none else []
    own = [
        f"{model} {_words(limits)}"
        for model, entry in found.registry.models.items()
        if entry.at_once or entry.per_minute
        for name, limits in gates_of(model, found.registry, env).items()
        if name == model
    ]
    lines = [Finding("calls", "ok", f"Call limits: {', '.join(told + own)}.")] if told else []
    return [*lines, *(await _of_the_fleet(settings))]


def _words(limits: CallLimits) -> str:
    words = f"{limits.at_once} at once" if limits.at_once is not None else ""
    if limits.first and limits.at_once and limits.first < limits.at_once:
        words += f" ({limits.first} to begin with)"
    if limits.per_minute is not None:
        words += (
            f" and {limits.per_minute:g} a minute" if words else f"{limits.per_minute:g} a minute"
        )
    return words


async def _of_the_fleet(settings: Settings) -> list[Finding]:
    if "://" not in settings.db:
        return []
    try:
        ledger = await open_ledger(settings.db)
    except RoundtableError:  # the check of the database has said so
        return []
    try:
        if not in_postgres(ledger):
            return []
        from ...cluster.gates import PostgresGates

        gates = await PostgresGates(ledger, "doctor").look()
    finally:
        await ledger.close()
    return [_standing(name, gate) for name, gate in sorted(gates.items())]


def _standing(name: str, gate: CallGate) -> Finding:
    throttle = gate.throttle
    held_back = throttle is not None and throttle.room < throttle.most
    remedy = f"It asked for fewer: set at_once or per_minute of {name} in models.toml to what your "
    return Finding(
        "calls",
        "doubtful" if held_back and throttle and throttle.room * 4 <= throttle.most else "ok",
        f"All processes together, {name}: {slots_told(gate)}.",
        remedy + "account allows." if held_back else "",
    )
