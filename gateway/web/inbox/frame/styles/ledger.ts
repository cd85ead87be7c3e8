/** The entries of the ledger. */
export const LEDGER_STYLE = `
.rows.entries a{grid-template-columns:auto minmax(0,1fr) auto;column-gap:.5rem}
.rows.entries .seq{font-size:.8125rem;font-variant-numeric:tabular-nums}
.rows.entries .what{font-size:.875rem}
.rows.entries .meta:empty{display:none}
.rows.entries .meta:last-child{grid-area:1/3;text-align:end}
.rows.entries .chip{margin-inline-end:.5rem}
@media (min-width:56rem){
  .rows.entries a{grid-template-columns:3.5rem minmax(0,1fr) minmax(0,.8fr) minmax(0,1.5fr) 12.5rem;padding-block:.25rem;
    min-height:2.25rem;align-items:center}
  .rows.entries .what,.rows.entries .meta{grid-column:auto;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
  .rows.entries .agent{white-space:nowrap}
  .rows.entries .meta:empty{display:block}
  .rows.entries .meta:last-child{grid-area:auto;white-space:normal}
}
`;
