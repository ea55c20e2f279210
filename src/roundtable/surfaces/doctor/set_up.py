"""What a set-up needs at least, what a full one has, and what a run will cost."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from ...bootstrap import start
from ...core.errors import NoModel, RoundtableError
from ...core.events import DiscussionOpened, StoredEvent
from ...core.notifications_plan import CONFIDENTIAL
from ...core.state import State
from ...core.text import about, dollars
from ...core.values import Participant
from ...ledger.memory import MemoryLedger
from ...models.found import Found
from ...models.registry import Registry
from ...procedures import procedure_spec
from ...rehearsal.estimate import Estimate, estimate
from ...settings import Settings
from ..opening import open_request
from .finding import Finding

PROXY = "blockrun"
_PLUGIN = "@blockrun/clawrouter"
_QUESTION = "Should a team of five build its product on microservices or on a monolith?"

MINIMUM = (
    "You need at least one of these: a provider's key, a local server (Ollama), or a command-line "
    "agent (cmd/claude). Without any of them, the demonstration model shows how a table works: "
    "pip install 'roundtable-council[demo]'."
)


_VENDORS = ("opus-4.6", "codex", "gemini-3.1-pro", "grok-4")


def full_set_up(found: Found) -> list[str]:
    """The steps to a table of many vendors' models behind one proxy; none if there is one."""
    if any(provider.id == PROXY for provider in found.providers):
        return []
    expected = _panel(found.registry)
    return [
        "Any OpenAI-compatible proxy serves many vendors' models at one address. One is supported "
        "out of the box, Blockrun, a paid service of a third party:",
        f"1. Install its plugin in your gateway: openclaw plugins install {_PLUGIN}",
        "2. Restart the gateway, so that it loads the plugin: openclaw gateway restart",
        "3. The installation shows the address of a wallet, from which Blockrun is paid. Send USDC "
        "on Base there; $5–10 last for many runs.",
        "4. Tell Roundtable where the proxy listens: BLOCKRUN_PROXY_URL=http://localhost:8402",
        *(
            [
                f"Expected for one run with a panel of four: {dollars(expected[0])}–"
                f"{dollars(expected[1])} at list prices."
            ]
            if expected
            else []
        ),
        "For another proxy, add a [providers.NAME] table with its base_url to models.toml.",
    ]


def _panel(registry: Registry) -> tuple[float, float] | None:
    """What a run of the best models of four vendors costs, by their own price lists; None where
    one of their addresses is somebody else's, whose prices nobody knows."""
    refs = [registry.speaker_ref(registry.resolve(name).id) for name in _VENDORS]
    seats = [Participant(id=r.model, name=r.model, role="expert", speakers=(r,)) for r in refs]
    opened = DiscussionOpened(
        topic=_QUESTION,
        procedure="deliberation",
        options={"critique": True, "early_stop": True},
        participants=tuple(seats),
        host=seats[0].model_copy(update={"id": "host", "name": "Host"}),
    )
    state = State()
    state.apply(StoredEvent("rt_00000000", 1, datetime.now(UTC), opened))
    told = estimate(state, procedure_spec("deliberation").procedure)
    return told.cost_usd


async def expected_run(settings: Settings, env: Mapping[str, str]) -> list[Finding]:
    """What a run of the default procedure takes, as far as can be said before; nobody is called."""
    try:
        async with start(settings, env=env, ledger=MemoryLedger()) as app:
            request = open_request(settings, _QUESTION, surface="python", news=CONFIDENTIAL)
            state = await app.service.open(request)
            told_before = await app.service.estimate(state)
    except NoModel:  # what is missing stands under "models"
        return [Finding("run", "missing", "No discussion can be held until a model is set up.")]
    except RoundtableError as error:
        told = f"No {settings.choices.procedure} can be started: {error.message}"
        return [Finding("run", "broken", told, error.remedy)]
    told = f"A {state.start.procedure} takes about {_words(told_before)}."
    return [Finding("run", "ok", told)]


def _words(told: Estimate) -> str:
    if told.cost_usd is None or told.likely.cost_usd is None:
        cost = "cost unknown"
    elif told.cost_usd[1] == 0:
        cost = "free"
    else:
        cost = f"{dollars(told.cost_usd[0])}–{dollars(told.cost_usd[1])}"
    low, high = told.tokens
    return f"{told.calls} calls and {about(low)}–{about(high)} tokens, {cost}"
