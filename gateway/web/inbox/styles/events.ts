/** Styles of the list of events and of one event. */
export const EVENTS_STYLE = `
.search{display:flex;flex-wrap:wrap;gap:.25rem .75rem;align-items:end;margin-bottom:.25rem}
.search>.field{flex:1 1 16rem;margin:0}
.search details{order:1;flex-basis:100%}
.search details .field{flex:1 1 10rem;margin:0}
.search summary{color:var(--soft);font-size:.875rem}
.pick{display:flex}
.pick>a{flex:1;min-width:0}
.pick>label{display:grid;place-items:center;min-width:2.75rem;min-height:2.75rem;margin-inline-end:-.875rem;cursor:pointer}
.pick input{width:1.125rem;min-height:0;height:1.125rem;margin:0;accent-color:var(--yes)}
.pick:has(input:checked){background:var(--calm)}
.rows .gist{grid-column:1/-1;font-size:.875rem;white-space:nowrap;text-overflow:ellipsis}
.fresh{position:sticky;top:.5rem;z-index:1;display:grid;justify-items:center;margin:0}
.fresh .btn{background:var(--yes);color:var(--on-yes);border:0}
.bulkbar{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;padding:.5rem .875rem;margin-top:.5rem;font-size:.875rem;
  background:var(--card);border:1px solid var(--line);border-radius:.75rem}
.bulkbar span{margin-inline-end:auto}
.bulk:has(.pick input:checked) .bulkbar{position:sticky;bottom:.5rem;border-color:var(--edge);z-index:1}
`;
