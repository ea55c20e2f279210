"""A discussion as one HTML file: the page itself, working from disk without any server.

The page's modules are joined into one script, and script, style and events are put into the file.
Its content policy names the script and the style by their hashes and allows nothing else, so a
speech in it can do no more than it can on the served page.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from hashlib import sha256
from html import escape
from typing import Any

from ...core.events import StoredEvent
from ...core.state import State
from ...views.page import derived, page_event
from ...views.report_parts import line
from .assets import IMPORT, LANGUAGES, asset, modules, resolved, style

_NAMED = re.compile(r"^export (?=(?:async )?(?:function|const|class)\b)", re.MULTILINE)
_DECLARED = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.MULTILINE)
_LISTED = re.compile(r"export\s*\{([^}]*)\};?")
_DEFAULT = re.compile(r"export default\b")


def export_html(
    records: Sequence[StoredEvent], state: State, version: str, at: datetime | None = None
) -> str:
    """The page of a discussion as it stands, for a browser that opens the file from a disk. `at`
    is when it is saved; without it, its last event's time stands for that."""
    script, look, theme = joined_script(), style(), asset("theme.js")
    policy = (
        f"default-src 'none'; script-src {_hashes(theme, script)}; style-src {_hashes(look)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    saved_at = at or (records[-1].at if records else state.updated_at)
    saved = {
        "info": {
            "discussion_id": state.discussion_id,
            "role": "viewer",
            "seat": "",
            "status": state.status,
            "topic": line(state.start.topic),
            "procedure": state.start.procedure,
        },
        "at": saved_at.isoformat() if saved_at else None,
        "version": version,
        "events": [page_event(record) for record in records],
        "derived": {**derived(state), "open_turns": []},
    }
    return (
        "<!doctype html>\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(line(state.start.topic))} · Roundtable</title>\n"
        f"<style>{look}</style>\n"
        f"<script>{theme}</script>\n</head>\n<body>\n"
        '<div id="root"><noscript><p class="plain">This file needs JavaScript to show the '
        "discussion. The report does without: <code>roundtable export ID --format html</code>."
        "</p></noscript></div>\n"
        f'<script type="application/json" id="words">{_data(_words())}</script>\n'
        f'<script type="application/json" id="saved">{_data(saved)}</script>\n'
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )


@cache
def joined_script() -> str:
    """All modules of the page as one script, each in a function of its own, in the order in which
    they need each other."""
    script = "const modules = {};\n" + "\n".join(map(_joined, modules()))
    assert "</script" not in script.lower(), "a script must not end the element that it stands in"
    return script


def _joined(name: str) -> str:
    source = asset(name)
    exports = dict.fromkeys(_DECLARED.findall(source))
    renamed = {each: each for each in exports}

    def listed(match: re.Match[str]) -> str:
        for pair in match[1].split(","):
            inner, _, outer = pair.strip().partition(" as ")
            renamed[outer or inner] = inner
        return ""

    def imported(match: re.Match[str]) -> str:
        default, names, target = match.groups()
        module = f"modules[{json.dumps(resolved(name, target))}]"
        if default:
            return f"const {default} = {module}.default;"
        return f"const {{{names.replace(' as ', ': ')}}} = {module};"

    source = IMPORT.sub(imported, source)
    source = _NAMED.sub("", _LISTED.sub(listed, source))
    source = _DEFAULT.sub("exported.default =", source)
    shared = ", ".join(f"{outer}: {inner}" for outer, inner in renamed.items())
    return (
        f"modules[{json.dumps(name)}] = (() => {{\nconst exported = {{}};\n{source}\n"
        f"return Object.assign(exported, {{ {shared} }});\n}})();"
    )


def _words() -> dict[str, Any]:
    """The interface in every language that it has: whoever opens the file may read another."""
    return {name: json.loads(asset(f"words/{name}.json")) for name in LANGUAGES}


def _hashes(*texts: str) -> str:
    return " ".join(f"'sha256-{b64encode(sha256(t.encode()).digest()).decode()}'" for t in texts)


def _data(value: Any) -> str:
    """JSON that cannot end the element it stands in, nor begin another."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
