import type * as z from 'zod';
import { ServiceError } from '../../../shared/lib/errors.ts';
import { sourceList } from '../../../shared/operations/source/list.ts';
import type { sourceWithActivity } from '../../../shared/operations/source/view.ts';
import type { Tone } from './parts.tsx';
import type { PageContext } from './page-context.ts';

/** A source as `source_list` returns it, including its secret URL. */
export type Source = z.output<typeof sourceWithActivity>;

export async function sourcesOf(context: PageContext): Promise<readonly Source[]> {
  return ((await context.call(sourceList, {})) as { items: Source[] }).items;
}

/** NOT_FOUND. */
export async function sourceOf(context: PageContext, name: string): Promise<Source> {
  const source = (await sourcesOf(context)).find((one) => one.name === name);
  if (!source) throw new ServiceError('NOT_FOUND');
  return source;
}

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
