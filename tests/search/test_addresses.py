"""Addresses: the corpus of tricks, and the ordinary addresses that must not suffer from it."""

from __future__ import annotations

import pytest

from roundtable.search.guarded import is_public

PRIVATE = """
http://127.0.0.1/
http://127.0.0.1:8080/admin
http://127.1/
http://127.0.1/
http://2130706433/
http://0x7f000001/
http://0x7f.0x0.0x0.0x1/
http://0x7f.1/
http://0177.0.0.1/
http://017700000001/
http://0177.0x0.1/
http://127.000.000.001/
http://127.0.0.1./
http://0/
http://0.0.0.0/
http://00000/
http://0x/
http://10.0.0.1/
http://172.16.0.1/
http://172.31.255.255/
http://192.168.1.1/
http://192.168.257/
http://100.64.0.1/
http://169.254.169.254/latest/meta-data/
http://2852039166/
http://0xa9fea9fe/
http://0251.0376.0251.0376/
http://[::1]/
http://[::]/
http://[0:0:0:0:0:0:0:1]/
http://[::ffff:127.0.0.1]/
http://[::ffff:7f00:1]/
http://[::127.0.0.1]/
http://[64:ff9b::7f00:1]/
http://[64:ff9b:1::a9fe:a9fe]/
http://[2002:7f00:1::]/
http://[2002:808:808::]/
http://[2002:a9fe:a9fe::]/
http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/
http://[2001:db8::1]/
http://[fe80::1]/
http://[fe80::1%25eth0]/
http://[fc00::1]/
http://[fd00:ec2::254]/
http://[fec0::1]/
http://[ff02::1]/
http://224.0.0.1/
http://240.0.0.1/
http://255.255.255.255/
http://198.18.0.1/
http://192.0.2.1/
http://localhost/
http://LOCALHOST/
http://localhost./
http://localhost../
http://foo.localhost/
http://localhost.localdomain/
http://printer.local/
http://metadata.google.internal/computeMetadata/v1/
http://metadata/
http://intranet/
http://router.lan/
http://nas.home.arpa/
http://kubernetes.default.svc/
http://db.corp/
http://127.0.0.1.nip.io/
http://app.10.0.0.1.sslip.io/
http://spoofed.localtest.me/
http://lvh.me/
http://１２７.0.0.1/
http://①②⑦.0.0.1/
http://127。0。0。1/
http://127．0．0．1/
http://127｡0｡0｡1/
http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/
http://ｌｏｃａｌｈｏｓｔ/
http://user@example.org/
http://user:password@example.org/
http://example.org@127.0.0.1/
http://127.0.0.1@example.org/
http://@example.org/
http://example.org%40127.0.0.1/
http://example.org\\@127.0.0.1/
http:\\\\127.0.0.1/
http://127.0.0.1%00.example.org/
http://127.0.0.1%2eexample.org/
http://1.2.3.4.5/
http://256.256.256.256/
http://0800.0.0.1/
http://99999999999999999999/
http://example.0x7f/
http://[::1]example.org/
http://[2606:4700:4700::1111]example.org/
http://[v1.x]/
http://[::1
http://example.org:0/
http://example.org:99999/
http://example.org:port/
http://-example.org/
http://exa mple.org/
http://exam\u200bple.org/
http://example\u202e.org/
http://.../
http://.example.org/
http:///path
http:example.org
//example.org/
example.org
/etc/passwd
file:///etc/passwd
ftp://example.org/
gopher://127.0.0.1:70/_
dict://127.0.0.1:11211/
data:text/html,<script>alert(1)</script>
javascript:alert(1)
javascript://example.org/%0aalert(1)
view-source:https://example.org
ws://example.org/
jar:https://example.org!/
blob:https://example.org/1
mailto:a@example.org
http://example.onion/
http://name.test/
http://name.invalid/
""".strip().splitlines()

PUBLIC = """
https://example.org
https://example.org/
http://example.org:8080/a?b=c#d
HTTPS://Example.ORG/
https://en.wikipedia.org/wiki/Newton's_laws_of_motion
https://en.wikipedia.org/wiki/Tea_(meal)
https://example.org/a|b^{c}
https://example.org./
https://bücher.example.com/
https://xn--bcher-kva.com/
https://中文.com/茶
https://localhost.example.org/
https://local.example.org/
https://internal.example.org/
https://my-local.com/
https://notlocalhost.com/
https://example.org/?next=http://127.0.0.1/
https://example.org/@user
https://under_score.example.org/
https://8.8.8.8/
https://134744072/
https://[2606:4700:4700::1111]/
https://[2606:4700:4700::1111]:443/
https://1.2.3.4.com/
https://0x.org/
""".strip().splitlines()


@pytest.mark.requirement("I-24")
@pytest.mark.parametrize(
    "url", [*PRIVATE, "", " ", "https://example.org/" + "a" * 2000, "http://a\nb.org"]
)
def test_an_address_that_is_private_or_odd_is_refused(url: str) -> None:
    assert not is_public(url)


@pytest.mark.requirement("I-24")
@pytest.mark.parametrize("url", PUBLIC)
def test_an_ordinary_address_is_let_through(url: str) -> None:
    assert is_public(url)
