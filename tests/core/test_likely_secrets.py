"""Likely secrets: found where they are, told without being told, and few false alarms."""

from __future__ import annotations

import pytest

from roundtable.core.likely_secrets import likely_secrets, without_secrets

pytestmark = pytest.mark.requirement("Z-39")
DRAWN = "q7Zt9LmX2vKp4RwB8sNd"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("sk-proj-" + DRAWN, "an API key or token"),
        ("ghp_" + DRAWN * 2, "an API key or token"),
        ("AKIAQ3EGPZ7XHKL5MNO2", "a cloud access key"),
        ("eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4", "a signed token (JWT)"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----", "a private key"),
        (f"API_KEY={DRAWN}", "a password or token"),
        (f"export DB_PASSWORD='{DRAWN}'", "a password or token"),
        (f'{{"client_secret": "{DRAWN}"}}', "a password or token"),
        ("postgres://app:h7Gq2xLp@db.internal/main", "a password in an address"),
        (
            f"https://hooks.slack.com/services/T0001/B0002/{DRAWN}",
            "an address that lets others write",
        ),
    ],
)
def test_a_secret_is_found_and_told_without_being_told(text: str, kind: str) -> None:
    (found,) = likely_secrets(f"# Notes\n\n{text}\nmore\n")
    assert found.kind == kind
    assert found.line == 3
    assert len(found.begins) <= 10
    assert DRAWN not in str(found)
    clean = without_secrets(f"before {text} after")
    assert "[redacted]" in clean
    assert DRAWN not in clean
    assert "h7Gq2xLp" not in clean
    assert clean.startswith("before ")
    assert clean.endswith(" after")


@pytest.mark.parametrize(
    "text",
    [
        "Should tokens expire? The token: a short-lived-credential is better than a password.",
        "Set API_KEY=your-api-key-here and PASSWORD=changeme.",
        "postgres://user:password@localhost/db and redis://:${REDIS_PASSWORD}@cache",
        "AKIAIOSFODNN7EXAMPLE is the example of the documentation.",
        "token = os.environ['SERVICE_TOKEN']; secret: <your secret>",
        "The secret = understanding-your-customers-well",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b, rt_0000000a, uuid 123e4567-e89b-12d3",
        "https://example.org/a/b?token=abc and https://user@example.org/",
        "git@github.com:owner/name.git, mailto:a@b.org, 12:30:45",
        "task-oriented, risk-averse and ask-for-help-when-you-need-it",
        "Bearer tokens are sent in a header.",
        "中文：密码应当保密。",
    ],
)
def test_what_only_speaks_of_secrets_raises_no_alarm(text: str) -> None:
    assert likely_secrets(text) == []
    assert without_secrets(text) == text
