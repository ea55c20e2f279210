"""How the HTML report looks: light and dark, on a phone, on a wide screen and on paper."""

from __future__ import annotations

SEATS = 12
"""How many participants have a colour of their own."""

# No hue of 140 to 190: nobody looks like agreement. The same as on the page.
_HUES = (212, 322, 28, 276, 350, 236, 48, 100, 8, 298, 198, 72)
_DARK_ENOUGH = {28: 31, 276: 44, 236: 44, 48: 31, 100: 31, 298: 44, 198: 31, 72: 31}
_COLOURS = "\n".join(
    f".seat{n}{{--seat:light-dark(hsl({hue} 55% {_DARK_ENOUGH.get(hue, 38)}%),hsl({hue} 60% 75%))}}"
    for n, hue in enumerate(_HUES)
)
_SERIF = (
    '"Iowan Old Style","Palatino Linotype",Palatino,"Source Serif 4",Charter,"Noto Serif",Georgia,'
    'serif,"Songti SC","Noto Serif CJK SC","Noto Naskh Arabic"'
)
"""The fonts of other scripts come last: they have Latin letters too, with wide quotation marks."""

_FIRST = f"""
.first{{padding-top:.4rem}}
.meta{{display:flex;flex-wrap:wrap;gap:.2rem .8rem;align-items:center;font-size:.9rem;
color:var(--soft);margin:0}}
.chip{{display:inline-block;padding:.1rem .5rem;border-radius:1rem;font-size:.8rem;line-height:1.45;
font-weight:550;font-family:system-ui,"Noto Sans",sans-serif;white-space:nowrap;
background:var(--tint);color:var(--accent)}}
.chip.plain{{background:none;box-shadow:inset 0 0 0 1px var(--rule);color:var(--soft)}}
.chip.warn{{background:var(--warn-tint);color:var(--warn)}}
.chip.bad{{background:none;box-shadow:inset 0 0 0 1px currentColor;color:var(--bad)}}
h1.q{{margin:.7rem 0 0;font:400 1.2rem/1.35 {_SERIF};color:var(--soft);letter-spacing:0;
text-wrap:pretty}}
.whole{{margin:.3rem 0;font-size:.9rem}}
.whole p{{margin:.4rem 0;padding-inline-start:.9rem;border-inline-start:2px solid var(--rule);
font:1rem/1.5 {_SERIF};white-space:pre-line}}
.first>*{{max-width:60rem}}
.first>.band{{max-width:none}}
.answer{{margin:.5rem 0 0;font:600 clamp(1.45rem,1.05rem + 1.55vw,2.1rem)/1.2 {_SERIF};
letter-spacing:-.008em;text-wrap:balance}}
.answer span{{display:block;margin-top:.4rem;font-weight:400;font-size:.61em;line-height:1.35;
text-wrap:pretty;letter-spacing:0}}
.remedy{{margin:.5rem 0;color:var(--soft)}}
.band{{display:grid;grid-template-columns:repeat(auto-fit,minmax(14rem,1fr));margin-top:1.3rem;
background:var(--card);border:1px solid var(--rule);border-radius:.7rem;overflow:hidden}}
.band.further{{margin-top:.6rem}}
.band>div{{padding:.9rem 1.1rem 1rem;min-width:0;box-shadow:-1px -1px 0 var(--rule)}}
.band p{{margin:0;font-size:.9rem;line-height:1.45}}
.band .vote-h{{display:flex;justify-content:space-between;align-items:baseline;gap:.6rem}}
.vote-h strong{{font:600 1.2rem {_SERIF};font-variant-numeric:tabular-nums;white-space:nowrap}}
.votes{{display:flex;gap:2px;height:1.65rem;margin:.3rem 0 .4rem}}
.votes>span{{flex:1 1 0;min-width:0;display:grid;place-items:center;overflow:hidden;
background:var(--accent);color:var(--on-accent)}}
.votes>span>strong{{font-size:.72rem;font-weight:600;letter-spacing:-.01em;white-space:nowrap;max-width:100%;
overflow:hidden;text-overflow:ellipsis;padding-inline:.15rem}}
.votes>span>small{{display:none;font-size:.72rem;font-weight:700}}
@container seats (max-width:17rem){{.votes>span>strong{{display:none}}
.votes>span>small{{display:block}}}}
.votes.many>span>strong{{display:none}}.votes.many>span>small{{display:block}}
.vote{{container:seats/inline-size}}
.vote-h span{{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;line-clamp:2;
overflow:hidden;overflow-wrap:normal}}
.sure .vote-h{{flex-wrap:wrap}}
.votes>span:first-child{{border-start-start-radius:.4rem;border-end-start-radius:.4rem}}
.votes>span:last-child{{border-start-end-radius:.4rem;border-end-end-radius:.4rem}}
.votes>.con{{background:var(--other);color:var(--on-other)}}
.votes>.pro+.con,.votes>:not(.out)+.out,.votes>.con:not(.b)+.b,.votes>.b+.con:not(.b){{
margin-inline-start:4px}}
.votes>.b,.key .b::before{{background:repeating-linear-gradient(135deg,var(--other) 0 5px,
var(--card) 5px 8px)}}
.votes>.b>*{{background:var(--other);border-radius:.2rem}}
.votes>.out{{background:none;border:1.5px dashed var(--edge);color:var(--soft)}}
.band .key{{display:flex;flex-wrap:wrap;gap:0 .75rem;font-size:.85rem;color:var(--soft)}}
.key strong{{color:var(--ink);font-weight:600}}
.key span::before{{content:"";display:inline-block;width:.6rem;height:.6rem;
margin-inline-end:.35rem;border-radius:.15rem;background:var(--accent)}}
.key .con::before{{background:var(--other);box-shadow:inset 0 0 0 1px var(--edge)}}
.key .out::before{{background:none;border:1.5px dashed var(--edge)}}
.band .pre{{margin-top:.35rem;color:var(--soft)}}
.conf{{width:100%;max-width:none;height:.5rem;margin:.78rem 0 .85rem;border-radius:.3rem}}
.conf .scale{{fill:var(--other)}}
.conf.empty .scale{{fill:none}}
.conf.empty{{box-shadow:inset 0 0 0 1px var(--edge)}}
.conf .range{{fill:var(--accent)}}
.flags{{list-style:none;margin:.7rem 0 0;padding:0;font-size:.9rem;color:var(--warn)}}
.flag{{margin:.35rem 0;padding-inline-start:1.3rem;position:relative}}
.flag::before{{content:"⚑";position:absolute;inset-inline-start:0}}
.flag.bad{{color:var(--bad)}}
.flag small{{color:var(--soft)}}
.part h2{{font-family:{_SERIF}}}
.lead{{color:var(--soft)}}
.why{{counter-reset:n;list-style:none;padding:0;display:grid;gap:.8rem}}
.why>li{{counter-increment:n;display:grid;grid-template-columns:1.6rem 1fr;
font:500 1.1rem/1.4 {_SERIF}}}
.why>li::before{{content:counter(n);font:400 1.25rem/1.25 {_SERIF};color:var(--accent)}}
.why p{{margin:0}}
.by{{margin:.25rem 0 0;font-size:.9rem}}
.more{{margin-top:.9rem;font-weight:400}}
.open{{list-style:none;padding:0}}
.open li{{display:flex;justify-content:space-between;gap:1rem;padding:.45rem 0;font-size:.9rem;
border-bottom:1px solid var(--rule)}}
.open small{{color:var(--soft);white-space:nowrap}}
.part a.cite{{display:inline-block;padding:0 .4rem;border-radius:.35rem;
font:500 .8rem/1.55 system-ui,sans-serif;color:var(--soft);
box-shadow:inset 0 0 0 1px var(--rule);text-decoration:none;
white-space:nowrap}}
.part a.cite::before{{content:"";display:inline-block;width:.45rem;height:.45rem;border-radius:50%;
background:var(--seat);margin-inline-end:.3rem}}
.part a.cite:hover,.part a.cite:focus-visible{{color:var(--ink);
box-shadow:inset 0 0 0 1px var(--seat)}}
.words .cite{{font-size:.85em}}
.doubt{{color:var(--warn)}}
.note{{display:none}}
.duel{{display:grid;grid-template-columns:1fr 1fr;margin-top:1rem;border:1px solid var(--rule);
border-radius:.7rem;background:var(--card);overflow:hidden}}
.duel>div{{padding:1rem 1.15rem}}
.duel>div+div{{border-inline-start:1px solid var(--rule)}}
.holder{{margin:0 0 .6rem;font-size:.9rem;line-height:1.35}}
.holder strong{{display:block}}
.holder small{{color:var(--soft)}}
.duel blockquote{{margin:.6rem 0 0;padding:0;border:0;color:var(--ink);font:1.05rem/1.45 {_SERIF}}}
.settle{{grid-column:1/-1;margin:0;padding:.7rem 1.15rem;font-size:.9rem;background:var(--tint);
border-top:1px solid var(--rule)}}
.ifs{{list-style:none;padding:0}}
.ifs li{{display:grid;grid-template-columns:1fr 1.4rem 1fr;gap:.2rem .8rem;padding:.6rem 0;
border-top:1px solid var(--rule)}}
.ifs li:first-child{{border-top:0}}
.ifs .if:only-child{{grid-column:1/-1}}
.arrow{{color:var(--accent)}}
.then{{font-weight:600}}
.steps{{width:100%;font-size:.95rem}}
.steps tbody th{{font-weight:600;white-space:nowrap;max-width:11rem;white-space:normal}}
.steps th,.steps td{{padding:.5rem .9rem .5rem 0}}
.unnamed{{color:var(--warn)}}
.exp{{list-style:none;padding:0}}
.exp>li{{padding:.75rem 0;border-bottom:1px solid var(--rule)}}
.who{{display:flex;gap:.55rem;align-items:center;justify-content:space-between;margin:0}}
.at-first,.at-last{{position:relative;margin:.25rem 0 0;padding-inline-start:1.3rem;
font-size:.92rem;line-height:1.4}}
.at-first{{color:var(--soft)}}
.at-first::before,.at-last::before{{content:"";position:absolute;inset-inline-start:.2rem;top:.42rem;
width:.5rem;height:.5rem;border-radius:50%;box-shadow:inset 0 0 0 1.5px var(--seat)}}
.at-last::before{{background:var(--seat)}}
.cause{{margin:.25rem 0 0;padding-inline-start:1.3rem;font-size:.82rem;color:var(--soft)}}
.notes{{margin-top:1.2rem;font-size:.85rem}}
@media (max-width:40rem){{.duel{{grid-template-columns:1fr}}
.duel>div+div{{border-inline-start:0;border-top:1px solid var(--rule)}}
.ifs li{{grid-template-columns:1.2rem 1fr}}.ifs .if{{grid-column:1/-1}}
.steps,.steps tbody,.steps tr,.steps td,.steps tbody th{{display:block;min-width:0}}
.steps thead{{display:none}}.steps td,.steps tbody th{{border:0;padding:.1rem 0;max-width:none}}
.steps tr{{padding:.6rem 0;border-top:1px solid var(--rule)}}}}
"""
_PRINT = """
@media print{.votes>span,.conf rect,.key span::before,.chip,.cite::before,.at-first::before,
.at-last::before,.settle{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.answer{font-size:17pt}h1.q{font-size:11.5pt}
.first{display:flex;flex-direction:column}.whole{order:1;margin-top:1rem}
p,li{orphans:3;widows:3}.lead{break-inside:avoid}#verdict{break-before:page}
.whole,.band,.duel,.why>li,.exp>li,.ifs li,.steps tr,.flag,.notes li{break-inside:avoid}
.whole>summary,.more>summary,.notes>summary{list-style:none;font-weight:600;color:var(--soft)}
.duel{grid-template-columns:1fr 1fr}
.note{display:inline;vertical-align:super;font-size:.7em;margin-inline-start:.15em}a.cite{white-space:normal}
.band{grid-template-columns:repeat(3,1fr)}
.flag small{display:none}}
"""

STYLE = f"""
:root{{color-scheme:light dark;--paper:light-dark(#f6f4ee,#151617);
--card:light-dark(#fffefb,#1d1f20);
--ink:light-dark(#1f1d1a,#ece9e2);--soft:light-dark(#5d5950,#b0aba1);
--rule:light-dark(#ddd7ca,#36383b);--edge:light-dark(#8b8577,#7d7a73);
--accent:light-dark(#1f5c56,#8ad3c8);--on-accent:light-dark(#fff,#0d2421);
--tint:light-dark(#e4eeea,#1c2d2b);--other:light-dark(#d9d1c0,#4a4b4a);
--on-other:light-dark(#2a2722,#f2efe8);--warn:light-dark(#7d5108,#eebf70);
--warn-tint:light-dark(#faf0d9,#2d2618);--bad:light-dark(#962420,#f5a79f);
--yes:light-dark(#1a6b3c,#7ed3a0);--no:light-dark(#a3262a,#f09a9c);
--seat:light-dark(#5a554b,#b9b4a9)}}
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
.below{{display:block;font-size:.85rem}}
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
{_FIRST}
footer{{margin-top:3rem;color:var(--soft);font-size:.8rem}}
@media (min-width:72rem){{body{{display:grid;max-width:70rem;column-gap:3rem;
grid-template:auto 1fr auto/13rem minmax(0,1fr)}}
body>header{{grid-column:1/-1}}main,footer{{grid-column:2}}
nav{{grid-column:1;grid-row:2;position:sticky;top:1.5rem;align-self:start;margin-top:1.2rem;
max-height:calc(100vh - 3rem);overflow-y:auto}}
nav ul{{flex-direction:column}}
.rounds{{display:block}}}}
@media (max-width:30rem){{body{{padding:.8rem}}.speech{{padding:.6rem .8rem}}
#verdict>.words{{padding:.2rem .9rem}}}}
@media (prefers-reduced-motion:no-preference){{html{{scroll-behavior:smooth}}}}
@media print{{:root{{color-scheme:light}}body{{max-width:none;padding:0;font-size:10pt;
background:none}}nav,.skip,.more{{display:none}}a{{color:inherit}}
h2,h3,h4,h5,h6,.speech>header,.lead{{break-after:avoid}}
pre{{white-space:pre-wrap;overflow:visible}}
tr,figure{{break-inside:avoid}}.scroll{{overflow:visible}}.opening{{display:none}}
details::details-content{{content-visibility:visible;display:block;block-size:auto}}}}
{_PRINT}"""
