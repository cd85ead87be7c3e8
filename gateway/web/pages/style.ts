import { createHash } from 'node:crypto';
import { HOLD_SCRIPT } from '../browser/scripts.ts';

/** All styles of these pages. Each page includes them, and no other style is allowed. */
export const STYLE = `
:root{
  color-scheme:light dark;
  --ground:#f5f4f0;--card:#fffefb;--ink:#1d1c1a;--soft:#5b5852;--line:#dcd8cf;--field:#fffefb;--edge:#8a857b;
  --said:#eef0f7;--said-line:#8e9ac4;--said-ink:#3f4a78;
  --yes:#17633f;--yes-over:#114d31;--on-yes:#fff;--no:#9a2a22;--no-over:#fbeeec;
  --good:#e6f1ea;--good-ink:#155236;--bad:#f9eae8;--bad-ink:#8b241d;--calm:#eceae4;--calm-ink:#47443e;
  --warn:#fbf1da;--warn-ink:#6b4700;--warn-line:#d9ab4b;--chip:#4a2a6b;--on-chip:#fff;--focus:#2450c8;
  --sans:ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"Noto Sans",sans-serif;
  --mono:ui-monospace,"SF Mono","Cascadia Mono","JetBrains Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;
}
@media (prefers-color-scheme:dark){:root{
  --ground:#151514;--card:#1e1e1c;--ink:#eeece6;--soft:#aaa69d;--line:#383733;--field:#171716;--edge:#827e75;
  --said:#22252f;--said-line:#6f7db5;--said-ink:#b9c3ec;
  --yes:#2a7a51;--yes-over:#338a5e;--on-yes:#fff;--no:#f0a199;--no-over:#33201e;
  --good:#1b2f24;--good-ink:#9fd8b8;--bad:#35201e;--bad-ink:#f2b1aa;--calm:#2a2926;--calm-ink:#cfcbc1;
  --warn:#33290f;--warn-ink:#f0d08a;--warn-line:#8a6a22;--chip:#d9c2f5;--on-chip:#2a1540;--focus:#93b1ff;
}}
*,*::before,*::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);font:1rem/1.5 var(--sans);overflow-wrap:anywhere}
h1,h2,p,dl,dd,figure,ul{margin:0}
p{text-wrap:pretty}
h1{font-size:1.5rem;line-height:1.22;font-weight:680;letter-spacing:-.012em;text-wrap:balance}
h2{font-size:.9375rem;line-height:1.4;font-weight:650}
.top{display:flex;align-items:center;gap:.625rem;max-width:62rem;margin:0 auto;padding:.875rem 1rem .125rem}
.top svg{flex:none;width:1.625rem;height:1.625rem;color:var(--yes)}
.top p{font-weight:620;line-height:1.3;min-width:0}
.top small{color:var(--soft);font-weight:400;font-size:.8125rem}
main{max-width:62rem;margin:0 auto;padding:.75rem 1rem 2rem;display:grid;gap:1rem}
.lead{color:var(--soft);margin-top:.25rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:.875rem;padding:1rem}
.stack>*+*{margin-top:.75rem}
.said{background:var(--said);border-radius:.25rem .875rem .875rem .25rem;border-left:.25rem solid var(--said-line);padding:.75rem 1rem 1rem}
.said>figcaption{color:var(--said-ink);font-size:.8125rem;line-height:1.4;margin-bottom:.5rem}
.summary{font-size:1.125rem;line-height:1.4;font-weight:600}
.agent{unicode-bidi:isolate;white-space:pre-wrap;overflow-wrap:anywhere;overflow:clip;tab-size:4}
.exact{font-family:var(--mono);font-variant-ligatures:none;font-feature-settings:"zero";unicode-bidi:isolate-override;
  direction:ltr;font-weight:600;overflow:clip}
.usercode{display:block;width:100%;min-height:3.25rem;margin:.25rem 0 .375rem;padding:.375rem .75rem;color:inherit;background:var(--field);
  border:1px solid var(--edge);border-radius:.625rem;font:600 1.25rem/1.4 var(--mono);letter-spacing:.02em;text-transform:uppercase}
.usercode::placeholder{color:var(--soft);font-weight:400}
.mono{font-family:var(--mono);font-size:.875rem;font-variant-ligatures:none}
.hid{font:600 .75em/1.3 var(--mono);background:var(--chip);color:var(--on-chip);border-radius:.3em;padding:.05em .35em;
  white-space:normal;unicode-bidi:isolate}
mark{background:var(--warn);color:var(--warn-ink);box-shadow:inset 0 -2px 0 var(--warn-line)}
.facts{display:grid;gap:.375rem .875rem;grid-template-columns:max-content minmax(0,1fr);margin-top:.75rem;align-items:baseline}
.facts.bound{grid-template-columns:fit-content(45%) minmax(0,1fr);margin-top:.375rem}
.facts:first-child{margin-top:0}
.facts dt{color:var(--soft);font-size:.875rem}
.said .facts dt{color:var(--said-ink)}
.facts dd{min-width:0}
.text{margin-top:.75rem;padding-top:.75rem;border-top:1px solid color-mix(in srgb,var(--said-line) 45%,transparent)}
.text h2{color:var(--said-ink);font-weight:500;font-size:.875rem;margin-bottom:.125rem}
.risk{font-weight:620}
.risk svg{width:1.125rem;height:1.125rem;margin-inline-end:.375rem;vertical-align:-.16em;stroke-width:4}
.risk.high{color:var(--bad-ink)}
.note{display:flex;gap:.625rem;border-radius:.75rem;padding:.75rem .875rem;background:var(--calm);color:var(--calm-ink)}
.note svg{flex:none;width:1.25rem;height:1.25rem;margin-top:.125rem}
.note>div{min-width:0}
.note ul{padding-inline-start:1.1rem}
.note.warn{background:var(--warn);color:var(--warn-ink)}
.diff{font:.8125rem/1.5 var(--mono);list-style:none;padding:.375rem 0;background:var(--card);border-radius:.5rem;margin-top:.25rem}
.diff li{padding:0 .625rem 0 1.75rem;text-indent:-1.125rem;white-space:pre-wrap;unicode-bidi:isolate-override;direction:ltr}
.diff .add{background:var(--good);color:var(--good-ink)}
.diff .cut{background:var(--bad);color:var(--bad-ink)}
details>summary{cursor:pointer;min-height:2.75rem;display:flex;align-items:center;gap:.5rem;font-weight:550;list-style:none;
  border-radius:.5rem}
details>summary::-webkit-details-marker{display:none}
details>summary::before{content:"";flex:none;width:.5rem;height:.5rem;border:solid currentColor;border-width:0 2px 2px 0;
  transform:rotate(-45deg);margin:0 .2rem}
details[open]>summary::before{transform:rotate(45deg)}
.said details>summary{color:var(--said-ink);margin:.125rem 0 -.5rem}
label{display:block;font-size:.875rem;color:var(--soft);margin-bottom:.25rem}
textarea{display:block;width:100%;min-height:4.5rem;font:inherit;color:inherit;background:var(--field);
  border:1px solid var(--edge);border-radius:.625rem;padding:.5rem .75rem;resize:vertical}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:.75rem}
.btn{display:flex;flex-direction:column;justify-content:center;align-items:center;width:100%;min-height:3.25rem;
  padding:.5rem .875rem;font:620 1.0625rem/1.25 var(--sans);border-radius:.75rem;border:1.5px solid var(--edge);
  background:var(--card);color:var(--ink);cursor:pointer;text-align:center;text-decoration:none;overflow-wrap:anywhere}
.btn small{font-weight:450;font-size:.8125rem;line-height:1.35}
.btn.yes{background:var(--yes);border-color:var(--yes);color:var(--on-yes)}
.btn.no{color:var(--no);border-color:currentColor}
.btn.way{align-items:flex-start;text-align:start;font-weight:550}
.btn.way small{color:var(--soft)}
@media (hover:hover){
  .btn:hover{background:var(--calm)}
  .btn.yes:hover{background:var(--yes-over);border-color:var(--yes-over)}
  .btn.no:hover{background:var(--no-over)}
}
fieldset{border:0;margin:0;padding:0;min-width:0}
legend{padding:0;font-size:.875rem;color:var(--soft);margin-bottom:.375rem}
fieldset>.btn+.btn{margin-top:.5rem}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
:root:not([data-ready]) .btn:is([data-held] *,[data-held]){opacity:.5;cursor:progress}
.more{border-top:1px solid var(--line);padding-top:.25rem}
.more>form{padding-top:.25rem}
.soft{color:var(--soft);font-size:.875rem}
.end{display:flex;gap:.875rem;align-items:flex-start;border-radius:.875rem;padding:1.125rem 1rem;background:var(--calm);color:var(--calm-ink)}
.end>svg{flex:none;width:2.25rem;height:2.25rem}
.end>div{min-width:0}
.end.good{background:var(--good);color:var(--good-ink)}
.end.bad{background:var(--bad);color:var(--bad-ink)}
.end p{margin-top:.25rem}
.quote{margin-top:.625rem;padding-inline-start:.75rem;border-inline-start:2px solid currentColor}
.narrow{max-width:40rem}
.top.narrow{padding-inline:1rem}
a{color:inherit;text-underline-offset:.15em}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
@media (prefers-reduced-motion:no-preference){.btn{transition:background-color .12s ease,border-color .12s ease}}
@media (min-width:56rem){
  .top{padding-top:1.75rem}
  main{padding:1.25rem 1rem 3rem;gap:1.5rem}
  main.two{grid-template-columns:minmax(0,1fr) 21.5rem;align-items:start}
  main.two>.act{grid-column:2;grid-row:1/span 2;position:sticky;top:1.5rem}
  main.two>.about{grid-column:1}
  h1{font-size:1.875rem}
  .card,.said{padding:1.25rem 1.5rem}
  .said>figcaption{margin-bottom:.75rem}
  .summary{font-size:1.3125rem}
}
@media (forced-colors:active){.btn,.said,.note,.end,.hid,mark{border:1px solid}}
`;

function source(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/**
 * The browser may only show the page: no script but ours, no pictures, fonts or frames, forms only to our own origin, no
 * caching, no referrer.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': [
    "default-src 'none'",
    `script-src ${source(HOLD_SCRIPT)}`,
    `style-src ${source(STYLE)}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex, nofollow, noarchive',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};
