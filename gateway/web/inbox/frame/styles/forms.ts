/** Fields, buttons, and values to copy. */
export const FORMS_STYLE = `
input:not([type=hidden]),select{display:block;width:100%;min-height:2.75rem;font:inherit;color:inherit;background:var(--field);
  border:1px solid var(--edge);border-radius:.625rem;padding:.375rem .75rem}
.btn.small{width:auto;min-height:2.75rem;font-size:.9375rem;padding:.25rem .875rem;border-radius:.625rem}
.act form>.btn+.btn{margin-top:.5rem}
.field .wrong{color:var(--bad-ink);font-size:.875rem;font-weight:560;margin-top:.25rem}
.field .soft{margin-top:.25rem}
input[aria-invalid],select[aria-invalid]{border-color:var(--bad-ink)!important}
.copy>div{display:flex;gap:.5rem}
.copy input{flex:1;min-width:0;text-overflow:ellipsis;font-family:var(--mono);font-size:.875rem}
.copy .btn{display:none;flex:none}
@media (scripting:enabled){.copy .btn{display:flex}}
.checks label{display:flex;gap:.625rem;align-items:baseline;min-height:2.75rem;padding:.5rem 0;margin:0;color:inherit;cursor:pointer}
.checks .soft{display:block}
input[type=checkbox]:not([type=hidden]){flex:none;width:1.125rem;height:1.125rem;min-height:0;margin:0;accent-color:var(--yes);transform:translateY(.1875rem)}
textarea.mono{font-size:.8125rem;line-height:1.5;min-height:8rem;tab-size:2}
textarea[aria-invalid]{border-color:var(--bad-ink)}
@media (pointer:fine){
  .btn.small{min-height:2rem}
  .act>.btn:not(.small),.act>form>.btn:not(.small){min-height:2.5rem;font-size:.9375rem;padding-block:.375rem}
}
`;
