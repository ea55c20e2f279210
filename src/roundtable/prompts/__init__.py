"""Prompts: one Markdown template per file, with id, version, variables and hash.

A file starts with a head (`id`, `version`, `variables`) between `---` lines. Its body is a Jinja
template; the line `<!-- user -->` parts the instructions from the user message, and in prompts that
repeat each other `<!-- new … -->` what they share from what is new. Untrusted values
are fenced before they are put in, so a template cannot forget to do it. A user's own template is
checked by `own.py` and then rendered in the same way, in the same sandbox.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING

from ..core.condensing import Cut, tokens_of
from ..core.effects import OwnTemplate, PromptPlan, PromptValue, Texts, Untrusted
from ..core.excerpt import excerpt
from ..core.fence import fence
from ..core.text import estimate_tokens
from ..core.values import Prompt

if TYPE_CHECKING:
    from jinja2 import Environment, Template

USER_PART = "<!-- user -->"
NEW_PART = "<!-- new {nonce} -->"
"""Stands where a prompt stops being what others of its discussion began with. It carries the nonce,
for what comes before it is mostly not ours."""
MAX_PROMPT = 8_000_000
"""Characters. Nothing a template does may produce more."""
SHORTEST = 150
"""Characters that are left of each text, however small the window."""
SAID = "what was said"
"""What a text is called of which not everything is shown, and which is neither question nor
document."""
_INCLUDE = re.compile(r"""{%-?\s*include\s+["']([\w/-]+)["']""")
_HEAD = re.compile(r"\A---\n(?P<head>.*?)\n---\n(?P<body>.*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt ready to be sent, and which untrusted texts had to be shortened for it."""

    prompt: Prompt
    cuts: tuple[Cut, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A template as it is written."""

    id: str
    version: int
    variables: frozenset[str]
    body: str
    hash: str
    """Over this file and all it includes: it changes when any of their words do."""
    in_package: bool = True


def render(plan: PromptPlan, *, nonce: str, limit_tokens: int) -> Rendered:
    """Fill a template. Untrusted text that makes it too long for `limit_tokens` is condensed."""
    source = _source(plan)
    texts = _untrusted(plan.variables)
    asked = plan.variables.get("question")
    question = asked.text if isinstance(asked, Untrusted) else ""
    # No text of more than four characters a token can fit: cut such ones without trying.
    most = cap = max(limit_tokens * 4, SHORTEST)
    too_many = 0
    while True:
        prompt = _fill(source, plan.variables, nonce, _Shortened(cap, question))
        tokens = estimate_tokens(prompt.system + prompt.user)
        if cap <= SHORTEST or tokens <= limit_tokens:
            break
        too_many += tokens - limit_tokens
        cap = min(cap - 1, _cap(texts, most, too_many))
    length = len(prompt.system) + len(prompt.user)
    if length > MAX_PROMPT:
        raise ValueError(f"template {source.id} produced {length:,} characters")
    shortened = _Shortened(cap, question)
    return Rendered(prompt, tuple(shortened.cut(each) for each in texts if len(each.text) > cap))


@dataclass(frozen=True, slots=True)
class _Shortened:
    """How untrusted texts are shortened where the prompt would be too long: the longest first, to
    the passages that have most to do with the question."""

    cap: int
    """Characters that each may have."""
    question: str

    def of(self, value: Untrusted) -> str:
        if len(value.text) <= self.cap:
            return value.text
        # Of a document the passages count, whatever else comes to its point at its end.
        end = value.kind != "context"
        return excerpt(value.whole or value.text, self.question, self.cap, end=end)

    def cut(self, value: Untrusted) -> Cut:
        """What is left of a text that is shortened."""
        name = {"context": value.source, "question": "the question"}.get(value.kind, SAID)
        return Cut(name, len(value.whole or value.text), len(self.of(value)))


def _cap(texts: Sequence[Untrusted], most: int, too_many: int) -> int:
    """How many characters each text may have, that all together have so many tokens fewer than
    with at most `most` of each."""
    sizes = [
        (min(len(each.text), most), tokens_of(each.text) / len(each.text))
        for each in texts
        if len(each.text) > SHORTEST
    ]
    low, high = SHORTEST, max((length for length, _ in sizes), default=SHORTEST)
    while low < high:
        cap = (low + high + 1) // 2
        saved = sum((length - cap) * rate for length, rate in sizes if length > cap)
        low, high = (cap, high) if saved >= too_many else (low, cap - 1)
    return low


def _fill(
    source: Source, variables: Mapping[str, PromptValue], nonce: str, shortened: _Shortened
) -> Prompt:
    system, _, user = _text(source, variables, nonce, shortened).partition(USER_PART)
    begins, parted, rest = user.strip().partition(NEW_PART.format(nonce=nonce))
    return Prompt(
        template=source.id,
        version=source.version,
        hash=_whole_hash(source, variables),
        system=system.strip(),
        user=begins + rest,
        repeated=len(begins) if parted else 0,
    )


def _text(
    source: Source, variables: Mapping[str, PromptValue], nonce: str, shortened: _Shortened
) -> str:
    given = {"nonce", *variables}
    if given != source.variables:
        wrong = ", ".join(sorted(given ^ source.variables))
        raise ValueError(f"template {source.id} declares other variables than it is given: {wrong}")
    values = {name: _fenced(value, nonce, shortened) for name, value in variables.items()}
    return _template(source).render(**values, nonce=nonce)


def _whole_hash(source: Source, variables: Mapping[str, PromptValue]) -> str:
    """Over the template and those that are rendered within it."""
    parts = [_source(value).hash for value in variables.values() if isinstance(value, PromptPlan)]
    if not parts:
        return source.hash
    return hashlib.sha256("".join([source.hash, *parts]).encode()).hexdigest()[:16]


def _fenced(value: PromptValue, nonce: str, shortened: _Shortened) -> str | bool:
    match value:
        case PromptPlan():
            return _text(_source(value), value.variables, nonce, shortened).strip()
        case Untrusted():
            return fence(Untrusted(value.kind, shortened.of(value), value.source), nonce)
        case tuple() | Texts():
            return "\n\n".join(str(_fenced(each, nonce, shortened)) for each in value)
        case _:
            return value


def _untrusted(variables: Mapping[str, PromptValue]) -> list[Untrusted]:
    found: list[Untrusted] = []
    for value in variables.values():
        if isinstance(value, Untrusted):
            found.append(value)
        elif isinstance(value, tuple | Texts):
            found.extend(value)
        elif isinstance(value, PromptPlan):
            found.extend(_untrusted(value.variables))
    return found


def _source(plan: PromptPlan) -> Source:
    return load(plan.template) if isinstance(plan.template, str) else _own(plan.template)


@cache
def load(template_id: str) -> Source:
    """A template's source, with its head read and its hash made."""
    text = _read(template_id)
    match = _HEAD.match(text)
    if match is None:
        raise ValueError(f"prompt {template_id} has no head")
    head = dict(line.split(": ", 1) for line in match["head"].splitlines())
    if head["id"] != template_id:
        raise ValueError(f"prompt {template_id} calls itself {head['id']}")
    return Source(
        id=template_id,
        version=int(head["version"]),
        variables=frozenset(head["variables"].split(", ")),
        body=match["body"],
        hash=_hash(text),
    )


@lru_cache(maxsize=256)
def _own(template: OwnTemplate) -> Source:
    return Source(
        id=template.id,
        version=template.version,
        variables=template.variables,
        body=template.body,
        hash=_hash(template.body),
        in_package=False,
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for part in _INCLUDE.findall(text):
        digest.update(_read(part).encode())
    return digest.hexdigest()[:16]


def _read(template_id: str) -> str:
    return resources.files(__name__).joinpath(f"{template_id}.md").read_text("utf-8")


@cache
def environment() -> Environment:
    """The sandbox in which all templates are read."""
    from jinja2 import FunctionLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def source(template_id: str) -> str:
        text = _read(template_id)
        match = _HEAD.match(text)
        return match["body"] if match else text

    return ImmutableSandboxedEnvironment(
        loader=FunctionLoader(source),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


@lru_cache(maxsize=512)
def _template(source: Source) -> Template:
    if source.in_package:
        return environment().get_template(source.id)
    return environment().from_string(source.body)
