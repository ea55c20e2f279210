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


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("DB_PASSWORD=Tr0ub4dor3xyzQ9", "Tr0ub4dor3xyzQ9"),
        ("DB_PASSWORD=Tr0ub4dor&3xyz", "Tr0ub4dor&3xyz"),
        ('db_password = "Tr0ub4dor&3xyz"', "Tr0ub4dor&3xyz"),
        ("password: Zx8s7d6f5g4h", "Zx8s7d6f5g4h"),
        ("password: Zx8s7d6f5g4h!", "Zx8s7d6f5g4h!"),
        ('{"password": "hunter2-Xk29!zz"}', "hunter2-Xk29!zz"),
        ("machine h.org login ada password Zx8s7d6f", "Zx8s7d6f"),
        ("machine h.org\n  login ada\n  password Zx8s7d6f\n", "Zx8s7d6f"),
        ("http://localhost:18199/?key=q7Zt9LmX2vKp4RwB8sNd", DRAWN),
        (f"rtk_{DRAWN}4", DRAWN),
        (f"ghp_{DRAWN[:9]}\u200b{DRAWN[9:]}{DRAWN}", DRAWN[9:]),
        ("pass\u200bword: Zx8s7d6f5g4h", "Zx8s7d6f5g4h"),
    ],
)
def test_a_password_that_somebody_chose_is_found_behind_its_name(text: str, secret: str) -> None:
    assert len(likely_secrets(text)) == 1
    assert secret not in without_secrets(text)


@pytest.mark.parametrize(
    "text",
    [
        "The password: must be long, and at least 12characters.",
        "A password should have 12 characters; the password policy2024 applies to all.",
        "password: <password>, password=${DB_PASSWORD}, PASSWORD=$DB_PASSWORD1",
        "password = xxxxxxxx12 or password: changeme123, password=example-password1",
        "password: str = settings.db.password2 and password=get_password1(user)",
        'password = os.environ["DB_PASSWORD2"], password: {{ vault.db2_pass }}',
        "password: required, password=None, pwd=/srv/app/data, PWD: current directory",
        "Forgot the password? Passwords: 3 of 10 were weak. password: ********",
        "http://localhost:18199/?key=your-key-goes-here and http://a.example/?key=abc",
    ],
)
def test_words_about_passwords_and_places_for_them_raise_no_alarm(text: str) -> None:
    assert likely_secrets(text) == []
