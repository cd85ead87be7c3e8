import { json } from 'node:stream/consumers';
import { isObject } from '../../shared/lib/guards.ts';
import type { Client } from '../call/client.ts';
import type { CommandContext } from '../command.ts';
import { age } from '../view/table.ts';
import { safeLine } from '../view/terminal-text.ts';
import { ok, warning, type Finding } from './checks.ts';
import { checkSetAside } from './set-aside.ts';

const APART_WARNS_MS = 60_000;
const ANSWERS_WITHIN_MS = 5000;

/**
 * Compares a server's clock with this machine's and with its newest ledger entry, because a clock that was ahead left a
 * future timestamp there. No finding if the server doesn't answer: another check reports that.
 */
export async function checkClock(client: Client): Promise<Finding[]> {
  const query = { limit: 1 };
  const seen = await client
    .raw('GET', '/v1/ledger', { query, timeoutMs: ANSWERS_WITHIN_MS })
    .then(async (answer) => ({ date: answer.headers.date, newest: newestAt(await json(answer)) }))
    .catch(() => null);
  const now = Date.parse(seen?.date ?? '');
  if (!seen || Number.isNaN(now)) return [];
  const apartMs = Math.abs(now - Date.now());
  if (apartMs > APART_WARNS_MS) {
    const fix = 'Sync both clocks with a time service (NTP).';
    return [warning('clock', `${Math.round(apartMs / 1000)} s apart`, fix)];
  }
  const { newest } = seen;
  if (newest === null || Date.parse(newest) - now <= APART_WARNS_MS) return [ok('clock', 'agrees')];
  return [
    warning(
      'clock',
      `was ahead: the newest ledger entry says ${safeLine(newest)} (${age(newest, now)})`,
      "If the clock is right now, do nothing: until it passes that time, new entries and events get that time, in the right order. If it's wrong, sync it with a time service (NTP).",
    ),
  ];
}

/** What only a call can tell of this machine's daemon, if there is a key to ask with. */
export async function checkLocalProject({ client }: CommandContext): Promise<Finding[]> {
  try {
    const local = client();
    if (local.gateway !== null) return [];
    return [...(await checkClock(local)), ...(await checkSetAside(local))];
  } catch {
    return [];
  }
}

/** Null also if the key may not read the ledger. */
function newestAt(page: unknown): string | null {
  const items: unknown = isObject(page) ? page['items'] : null;
  const [newest]: unknown[] = Array.isArray(items) ? items : [];
  const at = isObject(newest) ? newest['at'] : null;
  return typeof at === 'string' ? at : null;
}
