import type * as z from 'zod';
import { sourceList } from '../../../shared/operations/source/list.ts';
import type { sourceWithActivity } from '../../../shared/operations/source/view.ts';
import { allItems } from './all-items.ts';
import type { Tone } from './parts.tsx';

/** A source as `source_list` returns it, including its secret URL. */
export type Source = z.output<typeof sourceWithActivity>;

export const { all: sourcesOf, one: sourceOf } = allItems<Source>(sourceList, ({ name }) => name);

/** The signature scheme's name, as senders know it. */
export const SIGNED_BY: Readonly<Record<Source['verification'], string>> = {
  stripe: 'Stripe',
  github: 'GitHub',
  standard_webhooks: 'Standard Webhooks',
  hmac_sha256: 'HMAC-SHA256',
  none: 'not signed',
};

/** How we verify senders. */
export function checkOf({ type, verification }: Source): readonly [text: string, tone: Tone] {
  if (type === 'email') return ['DKIM', 'good'];
  return [SIGNED_BY[verification], verification === 'none' ? 'warn' : 'good'];
}

/** Where to send: for mail, the address that people write to. */
export function addressOf({ address, url }: Source): string {
  return address ?? url ?? '';
}
