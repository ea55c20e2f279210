"""Imported by the process from which the others are forked: it holds one council itself, after
which everything that is imported, compiled or cached on first use is there for all of them."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.rehearsal import dutiful
from tests.servers import provider_server

from .acts import Place, ask

with tempfile.TemporaryDirectory() as _folder, provider_server(dutiful) as _server:
    _home = Path(_folder)
    ask(Place(_home, str(_home / "ledger.db"), _server.env()))
