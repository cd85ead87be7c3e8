import { createHash } from 'node:crypto';
import { STYLE } from '../pages/style.ts';

/** Styles of the web inbox, on top of those of the decision pages. */
const MORE = `
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.skip{position:absolute;left:-99rem;top:.5rem;z-index:2;padding:.75rem 1rem;border-radius:.5rem;background:var(--card)}
.skip:focus{left:.5rem}
.bar,#nav,main{max-width:72rem;margin-inline:auto;padding-inline:1rem}
.bar{display:flex;justify-content:space-between;align-items:center;gap:1rem;padding-block:.375rem 0}
.bar form{display:flex;align-items:center;gap:.75rem;font-size:.875rem;min-width:0;flex:none}
.bar.plain{max-width:40rem;padding-top:.875rem}
.brand{display:flex;align-items:center;gap:.5rem;min-height:2.75rem;min-width:0;font-weight:620;line-height:1.25;text-decoration:none}
.brand svg{flex:none;width:1.5rem;height:1.5rem;color:var(--yes)}
.brand .mono{font-weight:400;font-size:.8125rem}
.project{min-width:0}
.link{font:inherit;color:inherit;background:none;border:0;min-height:2.75rem;min-width:2.75rem;padding:0 .25rem;cursor:pointer;
  text-decoration:underline;text-underline-offset:.15em;border-radius:.375rem}
#nav{border-bottom:1px solid var(--line);overflow-x:auto}
#nav ul{display:flex;gap:.25rem;list-style:none;padding:0}
#nav a{display:flex;align-items:center;gap:.375rem;min-height:2.75rem;min-width:2.75rem;padding:0 .625rem;text-decoration:none;
  color:var(--soft);font-size:.9375rem;white-space:nowrap;border-bottom:2px solid transparent;margin-bottom:-1px}
#nav a:hover{color:var(--ink)}
#nav a[aria-current]{color:var(--ink);font-weight:620;border-color:var(--yes)}
#nav a:focus-visible{outline-offset:-3px}
.count{background:var(--yes);color:var(--on-yes);font-size:.75rem;font-weight:650;line-height:1.25rem;min-width:1.25rem;
  padding:0 .375rem;border-radius:.625rem;text-align:center;font-variant-numeric:tabular-nums}
main{padding-top:1rem}
main:focus{outline:none}
main.narrow{max-width:40rem}
h1{font-size:1.375rem}
.heading{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:flex-end;gap:.5rem 1rem}
section>h2{margin-bottom:.5rem}
.rows{list-style:none;padding:0;background:var(--card);border:1px solid var(--line);border-radius:.75rem;overflow:hidden}
.rows li+li{border-top:1px solid var(--line)}
.rows a{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:.125rem .75rem;align-items:baseline;padding:.625rem .875rem;
  text-decoration:none;min-height:2.75rem}
.rows a:hover{background:var(--calm)}
.rows a:focus-visible{outline-offset:-3px;border-radius:.75rem}
.rows .what{font-weight:560;overflow:hidden;display:-webkit-box;-webkit-line-clamp:2;-webkit-box-orient:vertical}
.rows .meta{grid-column:1/-1;color:var(--soft);font-size:.8125rem;line-height:1.45}
.rows .meta .risk.high{font-weight:620}
.chip{font-size:.75rem;font-weight:600;line-height:1.25rem;padding:.0625rem .5rem;border-radius:.625rem;white-space:nowrap}
.chip.good{background:var(--good);color:var(--good-ink)}
.chip.bad{background:var(--bad);color:var(--bad-ink)}
.chip.calm{background:var(--calm);color:var(--calm-ink)}
.chip.warn{background:var(--warn);color:var(--warn-ink)}
.nothing{color:var(--soft);background:var(--card);border:1px dashed var(--line);border-radius:.75rem;padding:1.25rem 1rem;text-align:center}
.listhead{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.25rem 1rem;margin-bottom:.375rem}
.filters,.pager{display:flex;flex-wrap:wrap;gap:.125rem;font-size:.875rem}
.filters a,.pager a{display:flex;align-items:center;justify-content:center;min-height:2.75rem;min-width:2.75rem;padding:0 .5rem;
  text-decoration:none;color:var(--soft);border-radius:.5rem}
.filters a[aria-current]{color:var(--ink);font-weight:620;text-decoration:underline;text-decoration-thickness:2px;text-underline-offset:.4em}
.pager{justify-content:space-between;margin-top:.5rem}
.pager a{color:var(--ink);text-decoration:underline;text-underline-offset:.15em}
.whole{grid-column:1/-1;grid-row:1}
main>.note{font-size:.9375rem}
.rows .meta .exact{font-weight:400}
.up{display:inline-flex;align-items:center;min-height:2.75rem;margin-block:-.625rem -.375rem;color:var(--soft);font-size:.875rem}
input:not([type=hidden]),select{display:block;width:100%;min-height:2.75rem;font:inherit;color:inherit;background:var(--field);
  border:1px solid var(--edge);border-radius:.625rem;padding:.375rem .75rem}
.btn.small{width:auto;min-height:2.75rem;font-size:.9375rem;padding:.25rem .875rem;border-radius:.625rem}
table{width:100%;border-collapse:collapse;font-size:.9375rem;background:var(--card);border:1px solid var(--line)}
th,td{text-align:start;padding:.5rem .75rem;border-top:1px solid var(--line);vertical-align:baseline}
th{color:var(--soft);font-weight:500;font-size:.8125rem;border-top:0;white-space:nowrap}
.numeric{text-align:end;font-variant-numeric:tabular-nums}
.notices{position:fixed;inset:auto 1rem .75rem;display:grid;gap:.5rem;justify-items:center;pointer-events:none}
.stale{background:var(--warn);color:var(--warn-ink);border-radius:.625rem;padding:.5rem .875rem}
.stale:empty{display:none}
dialog{color:inherit;background:var(--card);border:1px solid var(--line);border-radius:.875rem;padding:1.25rem 1.5rem;max-width:26rem}
dialog::backdrop{background:rgb(0 0 0/.45)}
dialog .facts{margin-block:.75rem 1rem}
kbd{font:600 .8125rem var(--mono);white-space:pre}
.headed{display:flex;flex-wrap:wrap;align-items:center;gap:.375rem .625rem}
.mark svg{width:1em;height:1em;vertical-align:-.125em;stroke-width:2.5}
.mark.good{color:var(--good-ink)}
.mark.warn{color:var(--warn-ink);margin-inline-start:.5rem}
.rows .meta .mono{font-size:inherit}
.act>.btn.small,.really>.btn.small{width:fit-content}
.rows .address{display:block;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;font-size:.8125rem}
.rows.folded summary{padding:.5rem .875rem;border-radius:0}
.rows.folded summary:focus-visible{outline-offset:-3px}
.rows.folded .cells{flex:1;display:grid;grid-template-columns:minmax(0,1fr) auto;gap:.125rem .75rem;align-items:baseline;font-weight:400;min-width:0}
.rows.folded .inner{padding:0 .875rem .875rem}
.code{font-size:.8125rem;line-height:1.5}
.said>.code{margin-top:.25rem}
.rows .inner a{padding:0;gap:.375rem;text-decoration:underline;font-size:.8125rem}
.stack>[type=hidden]:first-child+*{margin-top:0}
ul.plain{list-style:none;padding:0}
ul.plain li+li{margin-top:.25rem}
.ways{display:flex;flex-wrap:wrap;gap:.5rem}
p.ways{margin-top:.5rem;gap:.25rem 1.25rem;align-items:center}
p.ways a,.rows .inner a{display:inline-flex;align-items:center;min-height:2.75rem}
.note.good{background:var(--good);color:var(--good-ink)}
.act form>.btn+.btn{margin-top:.5rem}
.field .wrong{color:var(--bad-ink);font-size:.875rem;font-weight:560;margin-top:.25rem}
.field .soft{margin-top:.25rem}
input[aria-invalid],select[aria-invalid]{border-color:var(--bad-ink)!important}
.copy>div{display:flex;gap:.5rem}
.copy input{flex:1;min-width:0;text-overflow:ellipsis;font-family:var(--mono);font-size:.875rem}
.copy .btn{display:none;flex:none}
@media (scripting:enabled){.copy .btn{display:flex}}
.finer summary{color:var(--soft);font-size:.875rem}
.finer form{display:flex;flex-wrap:wrap;gap:.5rem .75rem;align-items:flex-end;padding-bottom:.5rem}
.finer .field{flex:1 1 9rem}
.finer[open]{flex-basis:100%}
.really{max-width:36rem}
.really h1{display:flex;gap:.5rem;align-items:center}
.really h1 svg{flex:none;width:1.5rem;height:1.5rem;color:var(--warn-ink)}
.tag{font-size:.75rem;font-weight:600;line-height:1.25rem;padding:0 .375rem;border:1px solid var(--edge);border-radius:.375rem;color:var(--soft);
  margin-inline-start:.5rem;white-space:nowrap;letter-spacing:0}
.headed .tag{margin-inline-start:0}
.steps{margin:0;padding-inline-start:1.25rem;color:var(--soft);font-size:.9375rem}
.steps li+li{margin-top:.25rem}
.checks label{display:flex;gap:.625rem;align-items:baseline;min-height:2.75rem;padding:.5rem 0;margin:0;color:inherit;cursor:pointer}
.checks .soft{display:block}
input[type=checkbox]:not([type=hidden]){flex:none;width:1.125rem;height:1.125rem;min-height:0;margin:0;accent-color:var(--yes);transform:translateY(.1875rem)}
textarea.mono{font-size:.8125rem;line-height:1.5;min-height:8rem;tab-size:2}
textarea[aria-invalid]{border-color:var(--bad-ink)}
blockquote{margin:.5rem 0 0}
details.card{padding-block:.25rem}
details.card>pre{margin:0 0 .75rem}
.uses dd+dt{margin-top:.5rem}
code.mono{overflow-wrap:anywhere}
.laws{list-style:none;padding:0;counter-reset:law;background:var(--card);border:1px solid var(--line);border-radius:.75rem;margin:0}
.laws>li{counter-increment:law;display:grid;grid-template-columns:1.5rem minmax(0,1fr) auto;gap:.125rem .5rem;padding:.625rem .875rem;align-items:baseline}
.laws>li+li{border-top:1px solid var(--line)}
.laws>li::before{content:counter(law);color:var(--soft);font-size:.8125rem;font-variant-numeric:tabular-nums}
.laws>.rest::before{content:""}
.laws>.not{color:var(--soft)}
.laws .meta{grid-column:2/-1;color:var(--soft);font-size:.8125rem;line-height:1.45}
.laws>.decides{background:var(--calm)}
.rows.entries a{grid-template-columns:auto minmax(0,1fr) auto;column-gap:.5rem}
.rows.entries .seq{font-size:.8125rem;font-variant-numeric:tabular-nums}
.rows.entries .what{font-size:.875rem}
.rows.entries .meta:empty{display:none}
.rows.entries .meta:last-child{grid-area:1/3;text-align:end}
.rows.entries .chip{margin-inline-end:.5rem}
.quota+.quota{border-top:1px solid var(--line);margin-top:.875rem;padding-top:.875rem}
.quotas>.note{margin-bottom:.875rem}
.quota .line{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.125rem 1rem;align-items:baseline;font-variant-numeric:tabular-nums}
.gauge{display:block;width:100%;height:.5rem;margin:.5rem 0;border-radius:.25rem;background:var(--calm)}
.gauge .part{fill:var(--yes)}
.gauge .near{fill:var(--warn-line)}
.gauge .full{fill:var(--no)}
@media (max-width:40rem){
  .laws>li{grid-template-columns:1.5rem minmax(0,1fr)}
  .laws .chip{grid-column:2;justify-self:start;order:1}
  .uses{grid-template-columns:minmax(0,1fr)}
  .facts dd a{display:inline-flex;align-items:center;min-height:2.75rem}
  .rows.folded .cells{grid-template-columns:minmax(0,1fr)}
  .finer{flex-basis:100%}
  .rows a{grid-template-columns:minmax(0,1fr)}
  .rows .chip{justify-self:start;order:1}
  .filters{margin-inline-start:-.5rem}
  .note a{display:inline-flex;align-items:center;min-height:2.75rem}
  .who{display:none}
  table,tbody,tr,td{display:block}
  thead{display:none}
  tr{padding:.5rem .875rem;border-top:1px solid var(--line)}
  tbody tr:first-child{border-top:0}
  td,td.numeric{display:grid;grid-template-columns:7rem minmax(0,1fr);gap:.5rem;padding:.125rem 0;border:0;text-align:start}
  td::before{content:attr(data-label);color:var(--soft);font-size:.8125rem}
}
@media (min-width:56rem){
  .bar{padding-top:.75rem}
  h1{font-size:1.5rem}
  main{padding-top:1.25rem}
  main.two:has(>.whole)>.act{grid-row:2/span 2}
  .rows a{padding:.5rem 1rem}
  .rows.entries a{grid-template-columns:3.5rem minmax(0,1fr) minmax(0,1.1fr) minmax(0,1.3fr) 14rem;padding-block:.25rem;
    min-height:2.25rem;align-items:center}
  .rows.entries .what,.rows.entries .meta{grid-column:auto;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
  .rows.entries .agent{white-space:nowrap}
  .rows.entries .meta:empty{display:block}
  .rows.entries .meta:last-child{grid-area:auto;white-space:normal}
}
@media (pointer:fine){.filters a,.pager a,.btn.small{min-height:2rem}}
@media (forced-colors:active){.chip,.count,.rows,dialog{border:1px solid}}
`;

export const UI_STYLE = STYLE + MORE;

export const STYLE_VERSION = createHash('sha256').update(UI_STYLE).digest('hex').slice(0, 12);
