import type { Look } from './table.ts';

/** The color of each state, the same for events, requests, mail and deliveries. */
const COLORS: Readonly<Record<string, 'green' | 'red' | 'yellow' | 'faint'>> = {
  active: 'green',
  answered: 'green',
  approved: 'green',
  delivered: 'green',
  done: 'green',
  modified: 'green',
  ok: 'green',
  sent: 'green',
  verified: 'green',
  bounced: 'red',
  dead: 'red',
  denied: 'red',
  failed: 'red',
  refused: 'red',
  claimed: 'yellow',
  needs_context: 'yellow',
  pending: 'yellow',
  queued: 'yellow',
  waiting: 'yellow',
  cancelled: 'faint',
  expired: 'faint',
  removed: 'faint',
};

/** Colors a field's text if the field holds a state. */
export function stateText(field: string, text: string, look: Look): string {
  const isState = field === 'status' || field === 'outcome';
  const color = isState && Object.hasOwn(COLORS, text) ? COLORS[text] : undefined;
  return color === undefined ? text : look[color](text);
}
