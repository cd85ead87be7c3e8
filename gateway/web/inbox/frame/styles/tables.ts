/** Tables; on a phone each row becomes a card. */
export const TABLES_STYLE = `
table{width:100%;border-collapse:separate;border-spacing:0;font-size:.9375rem;background:var(--card);border:1px solid var(--line);
  border-radius:.75rem;overflow:hidden}
th,td{text-align:start;padding:.5rem .75rem;border-top:1px solid var(--line);vertical-align:baseline}
th{color:var(--soft);font-weight:500;font-size:.8125rem;border-top:0;white-space:nowrap}
.numeric{text-align:end;font-variant-numeric:tabular-nums}
@media (max-width:40rem){
  table,tbody,tr,td{display:block}
  thead{display:none}
  tr{padding:.5rem .875rem;border-top:1px solid var(--line)}
  tbody tr:first-child{border-top:0}
  td,td.numeric{display:grid;grid-template-columns:7rem minmax(0,1fr);gap:.5rem;padding:.125rem 0;border:0;text-align:start}
  td:empty{display:none}
  td::before{content:attr(data-label);color:var(--soft);font-size:.8125rem}
}
`;
