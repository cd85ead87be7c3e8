import type * as z from 'zod';
import { senderOf } from '../../../../../shared/senders/registry.ts';
import { sourceList } from '../../../../../shared/operations/source/list.ts';
import type { sourceWithActivity } from '../../../../../shared/operations/source/view.ts';
import { allItems } from '../../../ui/all-items.ts';
import type { Tone } from '../../../ui/parts.tsx';

/** A source as `source_list` returns it, including its secret URL. */
export type Source = z.output<typeof sourceWithActivity>;

export const { all: sourcesOf, one: sourceOf } = allItems(sourceList, ({ name }) => name);

/** How we verify senders. */
export function checkOf({ type, verification }: Source): readonly [text: string, tone: Tone] {
  if (type === 'email') return ['DKIM', 'good'];
  if (verification === 'none') return ['not signed', 'warn'];
  const { title, proof } = senderOf(verification);
  if (proof.kind === 'none') return [`${title}, not signed`, 'warn'];
  return [proof.kind === 'shared_secret' ? `${title}, by a secret` : title, 'good'];
}

/** Where to send: for mail, the address that people write to. */
export function addressOf({ address, url }: Source): string {
  return address ?? url ?? '';
}
