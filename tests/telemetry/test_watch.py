"""Who looks on, as the settings say."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from roundtable.bootstrap import start
from roundtable.procedures.opening import OpenRequest
from roundtable.telemetry import watch
from roundtable.telemetry.watch import Watching, spans_go_to
from tests.surfaces.web.house import QUICK, house_settings

PLACE = "http://127.0.0.1:4318"


@pytest.mark.parametrize(
    ("env", "place"),
    [
        ({}, ""),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": PLACE}, PLACE),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "a", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "b"}, "b"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": PLACE, "OTEL_SDK_DISABLED": "true"}, ""),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": PLACE, "OTEL_TRACES_EXPORTER": "none"}, ""),
    ],
)
@pytest.mark.requirement("Z-38")
def test_spans_go_nowhere_unless_a_place_was_named(env: dict[str, str], place: str) -> None:
    assert spans_go_to(env) == place


def test_nobody_looks_on_where_nobody_is_to() -> None:
    assert Watching.wanted({}, None) is None


def test_figures_without_the_extra_are_refused_with_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watch, "find_spec", lambda _: None)
    with pytest.raises(Exception, match="telemetry"):
        Watching.wanted({}, "127.0.0.1:0")
    assert Watching.wanted({"OTEL_EXPORTER_OTLP_ENDPOINT": PLACE}, None) is None


class _Collector(BaseHTTPRequestHandler):
    bodies: list[bytes]

    def do_POST(self) -> None:
        self.bodies.append(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.mark.anyio
@pytest.mark.requirement("Z-38")
async def test_a_run_sends_its_spans_to_the_collector_before_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies: list[bytes] = []
    handler = type("Handler", (_Collector,), {"bodies": bodies})
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv(
            "OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_address[1]}"
        )
        async with start(house_settings(tmp_path)) as app:
            request = OpenRequest(topic="Ferry?", procedure="council", options=QUICK)
            opened = await app.service.open(request)
            state = await app.service.run(opened.discussion_id)
        server.shutdown()
        thread.join()
    assert state.closed is not None
    told = b"".join(bodies)
    assert state.discussion_id.encode() in told
    assert b"invoke_workflow council" in told
    assert json.dumps("Ferry?").encode() not in told
