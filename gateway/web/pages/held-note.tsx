import type { JSX } from 'hono/jsx/jsx-runtime';

/** Where `browser/hold.js` says to those who can't see it why a button did nothing, and when it works. */
export function HeldNote(): JSX.Element {
  return <p id="held" class="unseen" role="status" />;
}
