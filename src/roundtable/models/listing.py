"""A listing: what an endpoint says it has, read from any of the forms in which servers say it.

OpenAI's form is the common one; OpenRouter, vLLM, LM Studio, llama.cpp, Mistral, Together and
others put windows, abilities and prices into its rows. Anthropic, Google and Ollama have their own.
Whoever answers may lie or be broken, so nothing is believed about a row but what has the right
type: a name that cannot be one is left out, and so is a model that does not speak.

Pure: a document goes in, rows come out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from ..core.text import redact
from ..core.values import Value
from ..core.visible import written

MOST_MODELS = 2_000
LONGEST_NAME = 200
LARGEST_WINDOW = 100_000_000

_MUTE = re.compile(
    r"embed|rerank|whisper|moderation|transcri|\btts\b|-tts|text-to-|speech|realtime|"
    r"dall-?e|\bimage\b|-image|imagen|\bsora\b|\bveo\b|\blyria\b|stable-diffusion|sdxl|\bflux\b|"
    r"\bkokoro\b|\bxtts|\bpiper\b|parler-|musicgen|"
    r"llama-?guard|shieldgemma|\baqa\b|\bocr\b|\bclip\b|colbert|^bge|/bge|^e5-|/e5-|^gte-|/gte-|"
    r"babbage-002|davinci-002|minilm|-audio",
    re.IGNORECASE,
)
"""Names of models that make vectors, pictures or sounds, or that only judge."""
_MUTE_TYPES = frozenset(
    ["embedding", "embeddings", "image", "audio", "rerank", "moderation", "video", "transcribe"]
)
_MUTE_FAMILIES = frozenset(["bert", "nomic-bert", "xlm-roberta"])


class ListedModel(Value):
    """One row. None is what the endpoint does not say."""

    name: str = Field(max_length=LONGEST_NAME)
    context_window: int | None = Field(default=None, gt=0, le=LARGEST_WINDOW)
    usd_per_million_in: float | None = Field(default=None, ge=0)
    usd_per_million_out: float | None = Field(default=None, ge=0)
    usd_per_million_cached: float | None = Field(default=None, ge=0)
    vision: bool | None = None
    thinking: bool | None = None
    structured: bool | None = None
    passed_on: bool | None = None
    """Whether the server has another one answer, elsewhere: Ollama says it of `cloud` models."""
    weights: str = ""
    """What its weights are known by, where the server says it."""
    described: bool = False
    """Whether the server was asked for this model alone, too."""


class Listing(Value):
    """All that an endpoint lists and that can speak, in its order."""

    models: tuple[ListedModel, ...] = ()
    mute: int = 0
    """Rows of models that do not speak."""
    unreadable: int = 0
    """Rows without a name, or with one that no model has."""
    more: int = 0
    """Rows beyond those that are read."""
    owner: str = ""
    """Who owns the first model, as it says: some servers are known by that."""


def read_listing(document: object) -> Listing | None:
    """The listing; None if the document is none."""
    rows = _rows(document)
    if rows is None:
        return None
    found: dict[str, ListedModel] = {}
    mute = unreadable = more = 0
    for row in rows:
        name = _name(row)
        if name is None:
            unreadable += 1
        elif name in found:
            continue
        elif not _speaks(name, row if isinstance(row, Mapping) else {}):
            mute += 1
        elif len(found) >= MOST_MODELS:
            more += 1
        else:
            found[name] = _listed(name, row if isinstance(row, Mapping) else {})
    first = next((row for row in rows if isinstance(row, Mapping)), {})
    owner = first.get("owned_by")
    return Listing(
        models=tuple(found.values()),
        mute=mute,
        unreadable=unreadable,
        more=more,
        owner=owner[:LONGEST_NAME] if isinstance(owner, str) else "",
    )


def described(listing: Listing, details: Mapping[str, Mapping[str, Any]]) -> Listing:
    """The listing with what a server tells of single models, by name. One that turns out not to
    speak is left out."""
    rows: list[ListedModel] = []
    for row in listing.models:
        if (more := details.get(row.name)) is None:
            rows.append(row)
        elif _speaks(row.name, more):
            told = _listed(row.name, more).model_dump(
                exclude={"name", "weights"}, exclude_none=True
            )
            rows.append(row.model_copy(update={**told, "described": True}))
    mute = listing.mute + len(listing.models) - len(rows)
    return listing.model_copy(update={"models": tuple(rows), "mute": mute})


def speaks(name: str) -> bool:
    """Whether a model of this name answers in words, as far as the name tells."""
    return _MUTE.search(name) is None


def _rows(document: object) -> Sequence[Any] | None:
    if isinstance(document, Mapping):
        for key in ("data", "models"):
            if isinstance(document.get(key), list):
                rows: list[Any] = document[key]
                return rows
        return None
    # Together sends the bare list. A list of anything else is none of models.
    if isinstance(document, list) and all(isinstance(row, Mapping) for row in document):
        return document
    return None


def _name(row: object) -> str | None:
    """What the model is called by. One that hides something, or that looks like a secret, would
    be shown, stored and sent: it is left out."""
    given = row
    if isinstance(row, Mapping):
        given = row.get("id") or row.get("model") or row.get("name")
    if not isinstance(given, str):
        return None
    name = given.strip().removeprefix("models/")
    sound = (
        0 < len(name) <= LONGEST_NAME
        and name.isprintable()
        and not any(char.isspace() for char in name)
        and written(name) == name
        and redact(name) == name
    )
    return name if sound else None


def _speaks(name: str, row: Mapping[str, Any]) -> bool:
    made = _texts(_of(row, "architecture", "output_modalities") or row.get("output_modalities"))
    methods = _texts(row.get("supportedGenerationMethods"))
    abilities = _texts(row.get("capabilities"))
    chat = _of(row, "capabilities", "completion_chat")
    family = _of(row, "details", "family")
    if (made and "text" not in made) or (methods and "generateContent" not in methods):
        return False
    if chat is False or (abilities and "embedding" in abilities and "completion" not in abilities):
        return False
    if str(row.get("type", "")).casefold() in _MUTE_TYPES or family in _MUTE_FAMILIES:
        return False
    return bool(made) or speaks(name)


def _listed(name: str, row: Mapping[str, Any]) -> ListedModel:
    per_in, per_out, cached = _prices(row.get("pricing"))
    return ListedModel(
        name=name,
        context_window=_window(row),
        usd_per_million_in=per_in,
        usd_per_million_out=per_out,
        usd_per_million_cached=cached,
        vision=_vision(row),
        thinking=_thinking(row),
        structured=_structured(row),
        passed_on=True if row.get("remote_host") or row.get("remote_model") else None,
        weights=digest[:LONGEST_NAME] if isinstance(digest := row.get("digest"), str) else "",
    )


def _window(row: Mapping[str, Any]) -> int | None:
    said = (
        row.get("loaded_context_length"),
        _num_ctx(row.get("parameters")),
        row.get("max_model_len"),
        _of(row, "meta", "n_ctx"),
        row.get("context_length"),
        row.get("context_window"),
        row.get("max_context_length"),
        row.get("max_input_tokens"),
        row.get("inputTokenLimit"),
        _of(row, "meta", "n_ctx_train"),
        _trained(row.get("model_info")),
    )
    return next((each for each in said if _is_count(each)), None)


def _num_ctx(parameters: object) -> int | None:
    """Ollama's parameters of a model, a line for each."""
    found = _NUM_CTX.search(parameters) if isinstance(parameters, str) else None
    return int(found[1]) if found else None


_NUM_CTX = re.compile(r"^num_ctx\s+(\d{1,9})\s*$", re.MULTILINE)


def _trained(model_info: object) -> Any:
    """Ollama's facts of a model stand under the name of its architecture."""
    if not isinstance(model_info, Mapping):
        return None
    return model_info.get(f"{model_info.get('general.architecture')}.context_length")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= LARGEST_WINDOW


def _prices(pricing: object) -> tuple[float | None, float | None, float | None]:
    """US dollars per million tokens. One without the other is no price, nor is one below zero."""
    if not isinstance(pricing, Mapping):
        return None, None, None
    per_token = "prompt" in pricing
    names = ("prompt", "completion", "input_cache_read") if per_token else ("input", "output", "")
    scale = 1_000_000 if per_token else 1
    found = [_dollars(pricing.get(name), scale) for name in names]
    if found[0] is None or found[1] is None:
        return None, None, None
    return found[0], found[1], found[2]


def _dollars(value: object, scale: int) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        dollars = round(float(value) * scale, 6)
    except (ValueError, OverflowError):
        return None
    return dollars if 0 <= dollars < 1_000_000 else None


def _vision(row: Mapping[str, Any]) -> bool | None:
    taken = _texts(_of(row, "architecture", "input_modalities") or row.get("input_modalities"))
    if taken:
        return "image" in taken
    if row.get("type") in ("llm", "vlm"):
        return bool(row["type"] == "vlm")
    return _ability(row, "vision", "image_input")


def _thinking(row: Mapping[str, Any]) -> bool | None:
    parameters = _texts(row.get("supported_parameters"))
    if parameters:
        return "reasoning" in parameters or "include_reasoning" in parameters
    if isinstance(row.get("thinking"), bool):  # Google's
        return bool(row["thinking"])
    return _ability(row, "thinking", "reasoning")


def _structured(row: Mapping[str, Any]) -> bool | None:
    parameters = _texts(row.get("supported_parameters"))
    if parameters:
        return "structured_outputs" in parameters or "response_format" in parameters
    if isinstance(row.get("json_schema"), bool):
        return bool(row["json_schema"])
    return _ability(row, "structured_outputs", "json_schema", listed=False)


def _ability(row: Mapping[str, Any], *names: str, listed: bool = True) -> bool | None:
    """What `capabilities` says: a list of words (Ollama, LM Studio), or a table of yes and no,
    plain (Mistral) or one level deeper (Anthropic). Whoever lists that a model completes texts
    lists all that it can, as far as it is `listed` there; others name what is special."""
    said = row.get("capabilities")
    if isinstance(said, Mapping):
        for name in names:
            value = said.get(name)
            value = value.get("supported") if isinstance(value, Mapping) else value
            if isinstance(value, bool):
                return value
        return None
    words = _texts(said)
    if any(name in words for name in names):
        return True
    return False if "completion" in words and listed else None


def _of(row: Mapping[str, Any], *path: str) -> Any:
    value: Any = row
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _texts(value: object) -> frozenset[str]:
    if not isinstance(value, list):
        return frozenset()
    return frozenset(each for each in value if isinstance(each, str))
