"""What a set-up needs at least, what a full one has, and what a run will cost."""

from __future__ import annotations

from collections.abc import Mapping

from ...bootstrap import start
from ...core.errors import NoModel, RoundtableError
from ...core.notifications_plan import CONFIDENTIAL
from ...core.values import Participant
from ...ledger.memory import MemoryLedger
from ...models.discovery import Found
from ...models.registry import Registry
from ...procedures import procedure_spec
from ...settings import Settings
from ...views.estimate import Estimate, estimate_calls
from ..opening import open_request
from .finding import Finding

PROXY = "blockrun"
_PLUGIN = "@blockrun/clawrouter"
_QUESTION = "Should a team of five build its product on microservices or on a monolith?"

MINIMUM = (
    "One key of any provider, one server of this machine (Ollama), or one command-line agent "
    "(cmd/claude). Without any of them the demonstration model shows how a table works: "
    "pip install 'roundtable-council[demo]'."
)


_VENDORS = ("opus-4.6", "codex", "gemini-3.1-pro", "grok-4")
_CALLS_EACH = 3
"""A panel of four: an answer, a critique and a share of what the host writes."""


def full_set_up(found: Found) -> list[str]:
    """The steps to a table of many vendors' models behind one proxy; none if there is one."""
    if any(provider.id == PROXY for provider in found.providers):
        return []
    low, high = _panel(found.registry)
    return [
        "Any OpenAI-compatible proxy serves many vendors' models at one address. The one that is "
        "prepared:",
        f"1. Install its plugin in your gateway: openclaw plugins install {_PLUGIN}",
        "2. Restart the gateway, so that it loads the plugin: openclaw gateway restart",
        "3. The installation shows the address of a wallet. Send USDC on Base there; $5–10 last "
        "for many runs.",
        "4. Tell Roundtable where it listens: BLOCKRUN_PROXY_URL=http://localhost:8402",
        f"Expected for one run with a panel of four: ${low:.2f}–${high:.2f} at list prices.",
        "Another proxy: a [providers.NAME] table with its base_url in models.toml.",
    ]


def _panel(registry: Registry) -> tuple[float, float]:
    """What a run of the best models of four vendors costs, by their own price lists."""
    refs = [registry.speaker_ref(registry.resolve(name).id) for name in _VENDORS]
    seats = [Participant(id=r.model, name=r.model, role="expert", speakers=(r,)) for r in refs]
    return estimate_calls(seats * _CALLS_EACH, (), "").cost_usd or (0.0, 0.0)


async def expected_run(settings: Settings, env: Mapping[str, str]) -> list[Finding]:
    """What a run of the default procedure takes, as far as can be said before; nobody is called."""
    try:
        async with start(settings, env=env, ledger=MemoryLedger()) as app:
            request = open_request(settings, _QUESTION, surface="python", news=CONFIDENTIAL)
            state = await app.service.open(request)
            estimate = procedure_spec(state.start.procedure).estimate(state)
    except NoModel:  # what is missing stands under "models"
        return [Finding("run", "missing", "No discussion can be held before a model is there.")]
    except RoundtableError as error:
        told = f"A {settings.choices.procedure} cannot be opened: {error.message}"
        return [Finding("run", "broken", told, error.remedy)]
    told = f"A {state.start.procedure} takes about {_words(estimate)}."
    return [Finding("run", "ok", told)]


def _words(estimate: Estimate) -> str:
    if estimate.cost_usd is None:
        cost = "at a price that nobody told us"
    elif estimate.cost_usd[1] == 0:
        cost = "at no cost"
    else:
        cost = f"for ${estimate.cost_usd[0]:.2f}–${estimate.cost_usd[1]:.2f}"
    low, high = estimate.tokens
    return f"{estimate.calls} calls and {low:,}–{high:,} tokens, {cost}"
