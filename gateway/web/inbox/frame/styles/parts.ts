/** Headings, chips, notes, steps and other parts inside a page. */
export const PARTS_STYLE = `
.heading{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:flex-end;gap:.5rem 1rem}
.heading>div:first-child{flex:1 1 18rem;min-width:0}
section>h2{margin-bottom:.5rem}
.chip{font-size:.75rem;font-weight:600;line-height:1.25rem;padding:.0625rem .5rem;border-radius:.625rem;white-space:nowrap}
.chip.good{background:var(--good);color:var(--good-ink)}
.chip.bad{background:var(--bad);color:var(--bad-ink)}
.chip.calm{background:var(--calm);color:var(--calm-ink)}
.chip.warn{background:var(--warn);color:var(--warn-ink)}
.whole{grid-column:1/-1;grid-row:1}
.headed{display:flex;flex-wrap:wrap;align-items:center;gap:.375rem .625rem}
.mark svg{width:1em;height:1em;vertical-align:-.125em;stroke-width:2.5}
.mark.good{color:var(--good-ink)}
.mark.warn{color:var(--warn-ink);margin-inline-start:.5rem}
.act>.btn.small,.really>.btn.small{width:fit-content}
.act>a.btn.small{display:inline-flex;margin-inline-end:.375rem}
.code{font-size:.8125rem;line-height:1.5}
.said>.code{margin-top:.25rem}
.stack>[type=hidden]:first-child+*{margin-top:0}
ul.plain{list-style:none;padding:0}
ul.plain li+li{margin-top:.25rem}
.ways{display:flex;flex-wrap:wrap;gap:.5rem}
p.ways{margin-top:.5rem;gap:.25rem 1.25rem;align-items:center}
p.ways a{display:inline-flex;align-items:center;min-height:2.75rem}
.note.good{background:var(--good);color:var(--good-ink)}
.really{max-width:36rem}
.really h1{display:flex;gap:.5rem;align-items:center}
.really h1 svg{flex:none;width:1.5rem;height:1.5rem;color:var(--warn-ink)}
.tag{font-size:.75rem;font-weight:600;line-height:1.25rem;padding:0 .375rem;border:1px solid var(--edge);border-radius:.375rem;color:var(--soft);
  margin-inline-start:.5rem;white-space:nowrap;letter-spacing:0}
.headed .tag{margin-inline-start:0}
.steps{margin:0;padding-inline-start:1.25rem;color:var(--soft);font-size:.9375rem}
.steps li+li{margin-top:.25rem}
blockquote{margin:.5rem 0 0}
main>.about.stack>*+*{margin-top:1.25rem}
details.card{padding-block:.25rem}
details.card>pre,details.card>.stack{margin:0 0 .75rem}
.uses dd+dt{margin-top:.5rem}
code.mono{overflow-wrap:anywhere}
@media (max-width:40rem){
  .facts .mono{font-size:.78125rem}
  .uses{grid-template-columns:minmax(0,1fr)}
  .facts dd a{display:inline-flex;align-items:center;min-height:2.75rem}
  .note a,.steps a,p.soft a{display:inline-flex;align-items:center;min-height:2.75rem}
}
@media (forced-colors:active){.chip{border:1px solid}}
`;
