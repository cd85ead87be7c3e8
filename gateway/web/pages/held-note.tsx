import type { JSX } from 'hono/jsx/jsx-runtime';
import { HELD_NOTE } from './hold-script.ts';

/** Where the script says to those who can't see it why a button did nothing, and when it works. */
export function HeldNote(): JSX.Element {
  return <p id={HELD_NOTE} class="unseen" role="status" />;
}
