import type * as z from 'zod';
import type { AnswerOf } from '../../../../../shared/kernel/operation.ts';
import { ServiceError } from '../../../../../shared/lib/errors.ts';
import { LIST_MAX } from '../../../../../shared/lib/limits.ts';
import { keyGet } from '../../../../../shared/operations/key/get.ts';
import { keyList } from '../../../../../shared/operations/key/list.ts';
import type { Scope } from '../../../../../shared/lib/scopes.ts';
import type { keyView } from '../../../../../shared/operations/key/view.ts';
import type { Tone } from '../../../ui/parts.tsx';
import type { PageContext } from '../../page-context.ts';

/** A key as `key_list` returns it. */
export type Key = z.output<typeof keyView>;

/** A key as `key_get` returns it. */
export type SeenKey = AnswerOf<typeof keyGet>;

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

export function isWorking({ status }: Key): boolean {
  return status === 'active';
}

const STATES: Readonly<Record<Key['status'], readonly [text: string, tone: Tone]>> = {
  active: ['Active', 'good'],
  expired: ['Expired', 'calm'],
  revoked: ['Revoked', 'calm'],
};

/** The state of a key in one word. */
export function keyState({ status }: Key): readonly [text: string, tone: Tone] {
  return STATES[status];
}

/** Oldest first; all keys for a visitor with `admin`, otherwise only the visitor's own. */
export function keysOf(context: PageContext, cursor?: string): Promise<AnswerOf<typeof keyList>> {
  const input = { limit: LIST_MAX, ...(cursor !== undefined && { cursor }) };
  return context.call(keyList, input);
}

/** A key with what it made. NOT_FOUND, also for one that the visitor may not see. */
export async function keyOf(context: PageContext, id: string): Promise<SeenKey> {
  try {
    return await context.call(keyGet, { key_id: id });
  } catch (error) {
    throw error instanceof ServiceError ? new ServiceError('NOT_FOUND') : error;
  }
}
