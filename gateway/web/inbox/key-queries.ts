import type * as z from 'zod';
import { ServiceError } from '../../../shared/lib/errors.ts';
import { LIST_MAX } from '../../../shared/lib/limits.ts';
import { keyList } from '../../../shared/operations/key/list.ts';
import type { Scope } from '../../../shared/lib/scopes.ts';
import type { keyView } from '../../../shared/operations/key/view.ts';
import type { Tone } from './parts.tsx';
import type { PageContext } from './page-context.ts';

/** A key as `key_list` returns it. */
export type Key = z.output<typeof keyView>;

/** The answer that contains the secret. */
export interface NewKey extends Key {
  readonly api_key: string;
}

/** What each scope lets a key do. */
export const SCOPE_LINES: Readonly<Record<Scope, string>> = {
  admin: 'Create and revoke keys, change sources and routes. Agents rarely need it.',
  'ledger:read': 'Read and verify the ledger.',
  'inbox:read': 'List events, wait for them, and see routes.',
  'inbox:write': 'Claim events, finish them or give them back.',
  approvals: 'Ask people, see requests and propose a policy. It can’t decide anything.',
  disk: 'Read and write keys, files and state.',
  'disk:read': 'Only read keys, files and state.',
  send: 'Send email, within the policy and the limits.',
};

/** Such as `…a1b2`: the only part of the secret that we keep. */
export function endOfKey({ last4 }: Key): string {
  return `…${last4}`;
}

export function isWorking({ revoked_at: revoked, expires_at: expires }: Key, now: number): boolean {
  return revoked === null && (expires === null || Date.parse(expires) > now);
}

/** The state of a key in one word. */
export function keyState(key: Key, now: number): readonly [text: string, tone: Tone] {
  if (key.revoked_at !== null) return ['Revoked', 'calm'];
  return isWorking(key, now) ? ['Active', 'good'] : ['Expired', 'calm'];
}

interface Listed {
  readonly items: readonly Key[];
  readonly next_cursor: string | null;
}

/** Oldest first; all keys for a visitor with `admin`, otherwise only the visitor's own. */
export async function keysOf(context: PageContext, cursor?: string): Promise<Listed> {
  const input = { limit: LIST_MAX, ...(cursor !== undefined && { cursor }) };
  return (await context.call(keyList, input)) as Listed;
}

/** NOT_FOUND. */
export async function keyOf(context: PageContext, id: string): Promise<Key> {
  let page = await keysOf(context);
  for (;;) {
    const key = page.items.find((one) => one.id === id);
    if (key) return key;
    if (page.next_cursor === null) throw new ServiceError('NOT_FOUND');
    page = await keysOf(context, page.next_cursor);
  }
}
