/** The frame of every page: its bar, navigation, notices and keyboard help. */
export const FRAME_STYLE = `
.skip{position:absolute;left:-99rem;top:.5rem;z-index:2;padding:.75rem 1rem;border-radius:.5rem;background:var(--card)}
.skip:focus{left:.5rem}
.bar,#nav,.refused,main{max-width:72rem;margin-inline:auto;padding-inline:1rem}
.bar{display:flex;justify-content:space-between;align-items:center;gap:1rem;padding-block:.375rem 0}
.bar form{display:flex;align-items:center;gap:.75rem;font-size:.875rem;min-width:0;flex:none}
.bar.plain{max-width:40rem;padding-top:.875rem}
.brand{display:flex;align-items:center;gap:.5rem;min-height:2.75rem;min-width:0;font-weight:620;line-height:1.25;text-decoration:none}
.brand svg{flex:none;width:1.5rem;height:1.5rem;color:var(--yes)}
.brand .mono{font-weight:400;font-size:.8125rem}
.project{min-width:0}
.link{font:inherit;color:inherit;background:none;border:0;min-height:2.75rem;min-width:2.75rem;padding:0 .25rem;cursor:pointer;
  text-decoration:underline;text-underline-offset:.15em;border-radius:.375rem}
#nav{border-bottom:1px solid var(--line)}
#nav ul{display:flex;flex-wrap:wrap;gap:0 .25rem;list-style:none;padding:0}
#nav a{display:flex;align-items:center;justify-content:center;gap:.375rem;min-height:2.75rem;min-width:2.75rem;padding:0 .625rem;
  text-decoration:none;color:var(--soft);font-size:.9375rem;white-space:nowrap;border-bottom:2px solid transparent;margin-bottom:-1px;position:relative}
#nav a:hover,#side a:hover{color:var(--ink)}
#nav a[aria-current]{color:var(--ink);font-weight:620;border-color:var(--yes)}
#nav a:focus-visible{outline-offset:-3px}
#nav .second{border-top:1px solid var(--line)}
@media (min-width:40.0625rem){#nav ul{margin-inline:-.625rem}}
#nav .second a[aria-current]{border-color:transparent}
#side{display:none}
#side ul{list-style:none;padding:0;margin-bottom:1rem}
#side p{padding:.25rem .75rem;font-size:.8125rem}
#side a{display:flex;align-items:center;min-height:2.25rem;padding:.25rem .75rem;text-decoration:none;color:var(--soft);
  font-size:.9375rem;border-radius:.5rem}
#side a[aria-current]{color:var(--ink);font-weight:620;background:var(--calm)}
.count{background:var(--yes);color:var(--on-yes);font-size:.75rem;font-weight:650;line-height:1.25rem;min-width:1.25rem;
  padding:0 .375rem;border-radius:.625rem;text-align:center;font-variant-numeric:tabular-nums}
main{padding-top:1rem}
.refused{padding-top:1rem}
main:focus{outline:none}
main.narrow{max-width:40rem}
h1{font-size:1.375rem}
main>.note{font-size:.9375rem}
.up{display:inline-flex;align-items:center;min-height:2.75rem;margin-block:-.625rem -.375rem;color:var(--soft);font-size:.875rem}
.notices{position:fixed;inset:auto 1rem .75rem;display:grid;gap:.5rem;justify-items:center;pointer-events:none}
.stale{background:var(--warn);color:var(--warn-ink);border-radius:.625rem;padding:.5rem .875rem}
.stale:empty{display:none}
dialog{color:inherit;background:var(--card);border:1px solid var(--line);border-radius:.875rem;padding:1.25rem 1.5rem;max-width:26rem}
dialog::backdrop{background:rgb(0 0 0/.45)}
dialog .facts{margin-block:.75rem 1rem}
kbd{font:600 .8125rem var(--mono);white-space:pre}
@media (max-width:40rem){
  .who{display:none}
  #nav{padding-inline:.5rem}
  #nav ul{gap:0}
  #nav ul:first-child{justify-content:space-between}
  #nav a{padding:0 .125rem;font-size:.8125rem}
  #nav .second a{padding:0 .5rem}
  #nav .count{position:absolute;top:0;inset-inline-end:-.375rem;font-size:.6875rem;line-height:1rem;min-width:1rem;padding:0 .25rem}
}
@media (min-width:56rem){
  .bar{padding-top:.75rem}
  h1{font-size:1.5rem}
  main{padding-top:1.25rem}
  main.two:has(>.whole)>.act{grid-row:2/span 2}
}
@media (min-width:64rem){
  .sided{display:grid;grid-template-columns:11rem minmax(0,1fr);max-width:72rem;margin-inline:auto}
  #side{display:block;padding:1.25rem 0 1rem 1rem}
  .sided>main{width:100%;align-content:start}
}
@media (forced-colors:active){.count,dialog{border:1px solid}}
`;
