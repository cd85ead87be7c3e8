/** The rules of the policy. */
export const POLICY_STYLE = `
.laws{list-style:none;padding:0;counter-reset:law;background:var(--card);border:1px solid var(--line);border-radius:.75rem;margin:0}
.laws>li{counter-increment:law;display:grid;grid-template-columns:1.5rem minmax(0,1fr) auto;gap:.125rem .5rem;padding:.625rem .875rem;align-items:baseline}
.laws>li+li{border-top:1px solid var(--line)}
.laws>li::before{content:counter(law);color:var(--soft);font-size:.8125rem;font-variant-numeric:tabular-nums}
.laws>.rest::before{content:""}
.laws>.not{color:var(--soft)}
.laws .meta{grid-column:2/-1;color:var(--soft);font-size:.8125rem;line-height:1.45}
.laws>.decides{background:var(--calm)}
@media (max-width:40rem){
  .laws>li{grid-template-columns:1.5rem minmax(0,1fr)}
  .laws .chip{grid-column:2;justify-self:start;order:1}
}
main.two>.reference{position:static}
.reference .facts{grid-template-columns:minmax(0,1fr);gap:0;font-size:.9375rem}
.reference dd+dt{margin-top:.5rem}
`;
