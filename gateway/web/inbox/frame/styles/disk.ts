/** Styles of the pages about the disk. */
export const DISK_STYLE = `
.crumbs{display:flex;flex-wrap:wrap;align-items:center;gap:0 .125rem}
.crumbs a{display:inline-flex;align-items:center;min-height:2.75rem;min-width:2.75rem;padding-inline:.25rem}
.prefix{display:flex;flex-wrap:wrap;gap:.5rem;align-items:flex-end}
.prefix .field{flex:1 1 14rem;max-width:28rem}
.picture{display:block;max-width:100%;height:auto;max-height:40rem;border-radius:.5rem;background:var(--card)}
.versions{list-style:none;padding:0;margin:.75rem 0 0}
.versions li{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 .75rem;padding:.25rem 0}
.versions li+li{border-top:1px solid var(--line)}
.versions a{display:inline-flex;align-items:center;min-height:2.75rem}
.versions a[aria-current]{font-weight:620;text-decoration:none}
.versions .remark{flex-basis:100%}
.go{display:inline-flex;align-items:center;min-height:2.75rem;min-width:2.75rem}
@media (pointer:fine){.versions a,.crumbs a,.go{min-height:2rem;min-width:0}}
`;
