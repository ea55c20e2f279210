"""How the HTML report looks: light and dark, on a phone, on a wide screen and on paper."""

from __future__ import annotations

SEATS = 12
"""How many participants have a colour of their own."""

_HUES = (212, 152, 28, 276, 344, 188, 96, 48, 240, 312, 8, 128)
_COLOURS = "\n".join(f".seat{n}{{--seat:var(--h{n})}}" for n in range(SEATS))
_LIGHT = "".join(f"--h{n}:hsl({hue} 58% 40%);" for n, hue in enumerate(_HUES))
_DARK = "".join(f"--h{n}:hsl({hue} 55% 64%);" for n, hue in enumerate(_HUES))

STYLE = f"""
:root{{color-scheme:light dark;--paper:#fdfcfa;--card:#fff;--ink:#1d1d1f;--soft:#5b5b63;
--rule:#e2dfd8;--accent:#0b5c8a;--tint:#eef4f8;--warn:#8a4b00;--warn-tint:#fff4e0;
--yes:#1a6b3c;--no:#a3262a;--seat:#6b6b73;{_LIGHT}}}
@media (prefers-color-scheme:dark){{:root{{--paper:#16171a;--card:#1e2024;--ink:#e9e8e4;
--soft:#a5a5ad;--rule:#34363c;--accent:#7cc0ea;--tint:#1f2a33;--warn:#f3b562;--warn-tint:#33291a;
--yes:#7ed3a0;--no:#f09a9c;--seat:#9a9aa3;{_DARK}}}}}
{_COLOURS}
*{{box-sizing:border-box}}
html{{-webkit-text-size-adjust:100%;scroll-padding-top:1rem}}
body{{margin:0 auto;padding:1rem;max-width:48rem;background:var(--paper);color:var(--ink);
font:1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Helvetica Neue",Arial,
"PingFang SC","Hiragino Sans","Microsoft YaHei","Noto Sans CJK SC","Noto Sans Arabic",sans-serif;
overflow-wrap:anywhere}}
a{{color:var(--accent);text-underline-offset:.15em;text-decoration-thickness:.06em}}
a:focus-visible,summary:focus-visible,.scroll:focus-visible{{outline:.18rem solid var(--accent);
outline-offset:.15rem;border-radius:.2rem}}
.skip{{position:absolute;inset-inline-start:-999rem}}
.skip:focus{{position:fixed;inset:.5rem auto auto .5rem;padding:.5rem 1rem;background:var(--card);
z-index:1}}
h1,h2,h3,h4,h5,h6{{line-height:1.25;text-wrap:balance;margin:1.6em 0 .5em}}
h1{{font-size:clamp(1.5rem,1.1rem + 2vw,2.2rem);margin:.4em 0 .6em;letter-spacing:-.01em}}
h2{{font-size:1.35rem;margin-top:2.4rem;padding-top:1rem;border-top:1px solid var(--rule)}}
h3{{font-size:1.1rem;margin-top:2rem}}
h4{{font-size:1rem;margin:0}}
h5,h6{{font-size:.95rem;margin:1.1em 0 .3em}}
p,ul,ol,blockquote,pre{{margin:.6em 0}}
.facts{{display:flex;flex-wrap:wrap;gap:.4rem;margin:0}}
.facts div{{display:flex;gap:.4em;padding:.12rem .65rem;border:1px solid var(--rule);
border-radius:1rem;background:var(--card);font-size:.85rem}}
.facts dt{{color:var(--soft)}}
.facts dd{{margin:0;font-weight:600}}
nav{{margin:1.2rem 0;font-size:.9rem}}
nav ul{{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1rem}}
nav a{{text-decoration:none}}
nav a:hover{{text-decoration:underline}}
.rounds{{color:var(--soft);font-size:.85rem}}
.rounds a{{display:inline-block;min-width:1.5em;padding:0 .2em;text-align:center}}
main>section:first-child>h2{{border:0;margin-top:1.6rem;padding:0}}
#verdict>.words{{background:var(--tint);border-inline-start:.3rem solid var(--accent);
border-radius:.4rem;padding:.4rem 1.1rem;font-size:1.05rem}}
#verdict>.words>hr~p{{font-size:.8rem;color:var(--soft)}}
.alert{{background:var(--warn-tint);border-inline-start:.3rem solid var(--warn);
border-radius:.4rem;padding:.3rem 1rem;margin:.8rem 0}}
.alert p{{margin:.4em 0}}
.speech{{background:var(--card);border:1px solid var(--rule);
border-inline-start:.3rem solid var(--seat);border-radius:.4rem;margin:.9rem 0;padding:.7rem 1rem}}
.speech:target,tr:target{{outline:.18rem solid var(--accent)}}
.speech h4 small{{font-weight:400;color:var(--soft);font-size:.9em;margin-inline-start:.3em}}
.about{{margin:.1rem 0 .3rem;font-size:.8rem;color:var(--soft)}}
.about a{{color:inherit}}
.mark{{color:var(--warn)}}
summary{{cursor:pointer;color:var(--soft)}}
.more{{color:var(--accent);font-size:.85rem;font-weight:600}}
.opening{{display:block;color:var(--ink)}}
details[open] .opening{{display:none}}
.words>:first-child{{margin-top:.4em}}
blockquote{{margin-inline:0;padding-inline-start:1rem;border-inline-start:.2rem solid var(--rule);
color:var(--soft)}}
pre{{overflow-x:auto;padding:.7rem .9rem;background:var(--tint);border-radius:.4rem;direction:ltr;
overflow-wrap:normal}}
code{{font:.88em ui-monospace,"SF Mono",Menlo,Consolas,"Noto Sans Mono",monospace}}
hr{{border:0;border-top:1px solid var(--rule)}}
.verified{{background:color-mix(in srgb,var(--yes) 14%,transparent);border-radius:.2em}}
.proof{{color:var(--yes);text-decoration:none;font-weight:700;padding-inline:.2em}}
.cite{{font-size:.85em}}
.leads,.image{{color:var(--soft);font-size:.85em}}
.scroll{{overflow-x:auto;margin:.8rem 0}}
table{{border-collapse:collapse;font-size:.88rem;line-height:1.4;min-width:100%;
overflow-wrap:break-word}}
caption{{text-align:start;font-weight:600;padding:.3rem 0}}
th,td{{text-align:start;vertical-align:top;padding:.35rem .4rem;min-width:2.5em;
border-bottom:1px solid var(--rule)}}
th:first-child,td:first-child{{padding-inline-start:0}}
.grid th,.grid td{{text-align:left}}
.grid th:first-child{{padding:.35rem .4rem .35rem 0}}
th{{font-weight:600}}
thead th{{color:var(--soft);font-size:.8rem}}
tbody th{{max-width:16rem}}
td{{max-width:30rem}}
.wide{{min-width:15rem}}
.end,.grid .end{{text-align:end;font-variant-numeric:tabular-nums;white-space:nowrap}}
.middle{{text-align:center}}
.agree{{color:var(--yes)}}.disagree{{color:var(--no)}}.unsure{{color:var(--soft)}}
figure{{margin:1rem 0}}
figcaption{{color:var(--soft);font-size:.85rem}}
svg{{display:block;max-width:max(100%,40rem);height:auto}}
footer{{margin-top:3rem;color:var(--soft);font-size:.8rem}}
@media (min-width:72rem){{body{{display:grid;max-width:70rem;column-gap:3rem;
grid-template:auto 1fr auto/13rem minmax(0,1fr)}}
body>header,main,footer{{grid-column:2}}
nav{{grid-column:1;grid-row:1/3;position:sticky;top:1.5rem;align-self:start;margin-top:1.2rem;
max-height:calc(100vh - 3rem);overflow-y:auto}}
nav ul{{flex-direction:column}}
.rounds{{display:block}}}}
@media (max-width:30rem){{body{{padding:.8rem}}.speech{{padding:.6rem .8rem}}
#verdict>.words{{padding:.2rem .9rem}}}}
@media (prefers-reduced-motion:no-preference){{html{{scroll-behavior:smooth}}}}
@media print{{:root{{color-scheme:light}}body{{max-width:none;padding:0;font-size:10pt;
background:none}}nav,.skip,.more{{display:none}}a{{color:inherit}}
h2,h3,h4,h5,h6,.speech>header{{break-after:avoid}}
pre{{white-space:pre-wrap;overflow:visible}}
tr,figure{{break-inside:avoid}}.scroll{{overflow:visible}}.opening{{display:none}}
details::details-content{{content-visibility:visible;display:block;block-size:auto}}}}
"""
