/** Styles of the list of events and of one event. */
export const EVENTS_STYLE = `
.search{display:flex;flex-wrap:wrap;gap:.25rem .75rem;align-items:end;margin-bottom:.25rem}
.search>.field{flex:1 1 10rem;margin:0}
.search details{order:1;flex-basis:100%}
.search details .field{flex:1 1 10rem;margin:0}
.search summary{color:var(--soft);font-size:.875rem}
.pick{display:flex}
.pick>a{flex:1;min-width:0}
.pick>label{display:grid;place-items:center;min-width:2.75rem;min-height:2.75rem;margin-inline-end:-.875rem;cursor:pointer}
.pick input{width:1.125rem;min-height:0;height:1.125rem;margin:0;accent-color:var(--yes)}
.pick:has(input:checked){box-shadow:inset .25rem 0 var(--yes)}
.rows .gist{grid-column:1/-1;font-size:.875rem;white-space:nowrap;text-overflow:ellipsis}
.fresh{position:sticky;top:.5rem;z-index:1;display:grid;justify-items:center;margin:0;height:0}
.fresh .btn{background:var(--yes);color:var(--on-yes);border:0}
.bulkbar{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;padding:.5rem .875rem;margin-top:.5rem;font-size:.875rem;
  background:var(--card);border:1px solid var(--line);border-radius:.75rem}
.bulkbar span{margin-inline-end:auto}
.bulkbar [data-pick-all]{display:none}
@media (scripting:enabled){.bulkbar [data-pick-all]{display:block}}
.bulk:has(.pick input:checked) .bulkbar{position:sticky;bottom:.5rem;border-color:var(--edge);z-index:1}
.tree{font-size:.8125rem;line-height:1.5;overflow-wrap:anywhere}
.tree ul{list-style:none;margin:0;padding-inline-start:1.125rem;border-inline-start:1px solid var(--said-line)}
.tree>ul{padding-inline-start:0;border:0}
.tree li{padding-block:.0625rem}
.tree details>summary{min-height:1.75rem;font-weight:400;margin:0;color:inherit}
.tree summary{flex-wrap:wrap;gap:0 .5rem}
.tree .k{font-weight:600;unicode-bidi:isolate}
.tree .k::after{content:":";font-weight:400}
.tree .v{white-space:pre-wrap;unicode-bidi:isolate;margin-inline-start:.375rem}
.tree .n{color:var(--calm-ink)}
.tree a{margin-inline-start:.5rem;display:inline-flex;align-items:center;min-height:1.75rem}
.tree .chosen>.k,.tree .chosen>details>summary>.k{outline:2px solid var(--yes);outline-offset:1px;border-radius:.125rem}
.tree .hit>.k,.tree .hit>details>summary>.k{background:var(--warn);color:var(--warn-ink)}
.treetools{display:none;flex-wrap:wrap;gap:.375rem .5rem;align-items:center;margin-block:.375rem .75rem}
@media (scripting:enabled){.treetools{display:flex}}
.treetools input{flex:1 1 10rem;width:auto;min-width:0;font-size:.875rem}
.treetools #tree-path{font-family:var(--mono);text-overflow:ellipsis}
.way{display:flex;flex-wrap:wrap;gap:.25rem;align-items:center;font-size:.875rem}
.way a{display:inline-flex;align-items:center;min-height:2.75rem}
.timeline{list-style:none;margin:0;padding:0;border-inline-start:2px solid var(--line)}
.timeline li{position:relative;padding:0 0 .75rem 1rem;min-width:0;overflow-wrap:anywhere}
.timeline li::before{content:"";position:absolute;inset-inline-start:-.4375rem;top:.4375rem;width:.75rem;height:.75rem;border-radius:50%;
  background:var(--soft);border:2px solid var(--ground)}
.timeline .good::before{background:var(--good-ink)}
.timeline .bad::before{background:var(--bad-ink)}
.timeline .soft{font-size:.8125rem}
.timeline .soft .agent{font-size:inherit}
.timeline a{display:inline-flex;align-items:center;min-height:1.5rem}
.copy textarea{flex:1;min-width:0;font-size:.8125rem}
.copy:has(textarea) .btn{align-self:start}
@media (max-width:40rem){
  .tree details>summary,.tree a,.timeline a,.timeline summary{min-height:2.75rem}
  .tree a{min-width:2.75rem}
  .bulkbar span{flex:1 1 60%}
  .bulkbar .btn{flex:1 1 auto;padding-inline:.5rem;overflow-wrap:normal;white-space:nowrap}
}
`;
