/** Lists of links, what filters them, and what leads on. */
export const LISTS_STYLE = `
.rows{list-style:none;padding:0;background:var(--card);border:1px solid var(--line);border-radius:.75rem;overflow:hidden}
.rows li+li{border-top:1px solid var(--line)}
.rows a{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:.125rem .75rem;align-items:baseline;padding:.625rem .875rem;
  text-decoration:none;min-height:2.75rem}
.rows a:hover{background:var(--calm)}
.rows a:focus-visible{outline-offset:-3px;border-radius:.75rem}
.rows .what{font-weight:560;overflow:hidden;display:-webkit-box;-webkit-line-clamp:2;-webkit-box-orient:vertical}
.rows .meta{grid-column:1/-1;color:var(--soft);font-size:.8125rem;line-height:1.45}
.rows .meta .risk.high{font-weight:620}
.nothing{color:var(--soft);background:var(--card);border:1px dashed var(--line);border-radius:.75rem;padding:1.25rem 1rem;text-align:center}
.sections>section{break-inside:avoid;padding-bottom:1.25rem}
.listhead{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.25rem 1rem;margin-bottom:.375rem}
/* The text of the first link stands above that of the list, or that of the last one. */
.filters{margin-inline-start:-.5rem}
.listhead>.filters{margin-inline:0 -.5rem}
.filters,.pager{display:flex;flex-wrap:wrap;gap:.125rem;font-size:.875rem}
.filters a,.pager a{display:flex;align-items:center;justify-content:center;min-height:2.75rem;min-width:2.75rem;padding:0 .5rem;
  text-decoration:none;color:var(--soft);border-radius:.5rem}
.filters a[aria-current]{color:var(--ink);font-weight:620;text-decoration:underline;text-decoration-thickness:2px;text-underline-offset:.4em}
.pager{justify-content:space-between;margin-top:.5rem}
.pager a{color:var(--ink);text-decoration:underline;text-underline-offset:.15em}
.rows .chip{justify-self:end}
.rows .chip+.chip{grid-column:2}
.rows .meta .exact{font-weight:400}
.rows .meta .mono{font-size:inherit}
.rows .address{display:block;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;font-size:.8125rem}
.rows.folded summary{padding:.5rem .875rem;border-radius:0}
.rows.folded summary:focus-visible{outline-offset:-3px}
.rows.folded .cells{flex:1;display:grid;grid-template-columns:minmax(0,1fr) auto;gap:.125rem .75rem;align-items:baseline;font-weight:400;min-width:0}
.rows.folded .inner{padding:0 .875rem .875rem}
.rows .inner a{padding:0;gap:.375rem;text-decoration:underline;font-size:.8125rem}
.rows .inner a{display:inline-flex;align-items:center;min-height:2.75rem}
.finer summary{color:var(--soft);font-size:.875rem;font-weight:450}
.finer form{display:flex;flex-wrap:wrap;gap:.5rem .75rem;align-items:flex-end;padding-bottom:.5rem}
.finer .field{flex:1 1 9rem}
.finer[open]{flex-basis:100%}
@media (max-width:40rem){
  .finer{flex-basis:100%}
  .rows a,.rows.folded .cells{grid-template-columns:minmax(0,1fr) fit-content(8.5rem)}
  .rows .what{-webkit-line-clamp:3}
  .rows .chip{white-space:normal;text-align:center}
  .listhead>.filters{margin-inline:-.5rem}
}
@media (min-width:56rem){
  .sections{columns:2;column-gap:1.5rem}
  .rows a{padding:.5rem 1rem}
}
@media (pointer:fine){.filters a,.pager a{min-height:2rem}}
@media (forced-colors:active){.rows{border:1px solid}}
`;
