/** The pictures of the overview. */
export const OVERVIEW_STYLE = `
:root{--c1:#2f6fb3;--c2:#b4631a;--c3:#6b4fa3;--c4:#0f7b7b;--c5:#77726a}
@media (prefers-color-scheme:dark){:root{--c1:#7ab0e8;--c2:#e3a15c;--c3:#b6a0ea;--c4:#5cc4c0;--c5:#a39d93}}
.charts{display:grid;gap:1rem;grid-template-columns:minmax(0,1fr)}
.listhead+.note{margin-bottom:.75rem}
.chart .line{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.125rem 1rem;align-items:baseline}
.chart .headline{color:var(--soft);font-size:.8125rem;font-variant-numeric:tabular-nums}
.chart .empty{display:grid;place-content:center;min-height:4rem;font-size:.875rem}
.plot{position:relative;margin-top:.75rem}
.plot>svg{display:block;width:100%;height:7rem;overflow:visible}
.plot .peak{position:absolute;top:-.125rem;left:0;font-size:.75rem;line-height:1;color:var(--soft);background:var(--card);padding-inline-end:.375rem;transform:translateY(-50%)}
.plot .times{display:flex;justify-content:space-between;gap:.5rem;color:var(--soft);font-size:.75rem;margin-top:.25rem;font-variant-numeric:tabular-nums}
.plot path{vector-effect:non-scaling-stroke}
.plot .grid{stroke:var(--line);fill:none}
.lines path{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.lines .grid{stroke-width:1}
.bars .c1,.ink .c1{fill:var(--c1)}.bars .c2,.ink .c2{fill:var(--c2)}.bars .c3,.ink .c3{fill:var(--c3)}
.bars .c4,.ink .c4{fill:var(--c4)}.bars .c5,.ink .c5{fill:var(--c5)}
.bars .good,.ink .good{fill:var(--yes)}.bars .warn,.ink .warn{fill:var(--warn-line)}.bars .bad,.ink .bad{fill:var(--no)}
.lines .c1{stroke:var(--c1)}.lines .c2{stroke:var(--c2)}.lines .c3{stroke:var(--c3)}.lines .c4{stroke:var(--c4)}
.legend{display:flex;flex-wrap:wrap;gap:.25rem 1rem;list-style:none;padding:0;margin-top:.5rem;font-size:.8125rem}
.legend li{display:flex;align-items:center;gap:.375rem;min-width:0;color:var(--soft)}
.legend strong{color:var(--ink);font-weight:620;font-variant-numeric:tabular-nums}
.legend .ink{flex:none;width:.625rem;height:.625rem;border-radius:.125rem}
.legend a{display:inline-flex;align-items:center;min-height:2.75rem;min-width:2.75rem}
.chart{display:flex;flex-direction:column}
.chart .empty{flex:1}
.numbers{margin:.25rem 0 -.5rem}
.numbers summary{color:var(--soft);font-size:.8125rem;font-weight:450;width:fit-content}
.numbers table{font-size:.8125rem}
.numbers td,.numbers th{white-space:nowrap;padding:.25rem .5rem}
@media (min-width:56rem){.charts{grid-template-columns:repeat(2,minmax(0,1fr))}.charts .numbers[open]{overflow-x:auto}}
@media (max-width:40rem){td>.chip{justify-self:start}}
@media (pointer:fine){.legend a{min-height:1.5rem}.numbers summary{min-height:2rem}}
`;
