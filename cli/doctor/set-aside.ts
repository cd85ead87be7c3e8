import { pluralize } from '../../shared/lib/pluralize.ts';
import type { Client } from '../call/client.ts';
import { warning, type Finding } from './checks.ts';

const ANSWERS_WITHIN_MS = 5000;

/** Warns of mails that came under another mail's Message-ID. No finding without one, or without an answer. */
export async function checkSetAside(client: Client): Promise<Finding[]> {
  const options = { timeoutMs: ANSWERS_WITHIN_MS };
  const answer = await client.call('usage', {}, options).catch(() => null);
  const count = answer?.events?.set_aside ?? 0;
  if (count === 0) return [];
  const many = pluralize(count, 'mail has', 'mails have');
  const detail = `${many} the Message-ID of another mail, but another From, Date or Subject`;
  const fix =
    'Look: svc inbox list --status dead --type email.received. To take one in: svc inbox requeue evt_…';
  return [warning('mail', detail, fix)];
}
