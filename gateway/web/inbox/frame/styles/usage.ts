/** Shares of a limit. */
export const USAGE_STYLE = `
.quota+.quota{border-top:1px solid var(--line);margin-top:.875rem;padding-top:.875rem}
.quotas>.note{margin-bottom:.875rem}
.quota .line{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.125rem 1rem;align-items:baseline;font-variant-numeric:tabular-nums}
.gauge{display:block;width:100%;height:.5rem;margin:.5rem 0;border-radius:.25rem;background:var(--calm)}
.gauge .part{fill:var(--yes)}
.gauge .near{fill:var(--warn-line)}
.gauge .full{fill:var(--no)}
`;
