import { randomBytes } from 'node:crypto';
import { isObject, parseObject } from '../../../lib/guards.ts';
import type { CallSite } from '../tables.ts';

type Fields = Readonly<Record<string, unknown>>;

const PREFIX = 'call_';
const TIME_MAX = 8.64e15;

/** What the id of a task says that goes on with a call. */
export interface OpenCall {
  readonly tool: string;
  /** Only the key that called may go on. */
  readonly keyId: string;
  /** When it began, in milliseconds. */
  readonly at: number;
  readonly input: Fields;
}

/** The id of a task that goes on with a call. Nobody else can guess it. */
export function callTaskId(tool: string, input: Fields, { caller }: CallSite): string {
  const nonce = randomBytes(16).toString('base64url');
  const open = { tool, keyId: caller.keyId, at: Date.now(), input, nonce };
  return PREFIX + Buffer.from(JSON.stringify(open)).toString('base64url');
}

/** Whether a task goes on with a call; the others have the id of their request. */
export function isCallTask(id: string): boolean {
  return id.startsWith(PREFIX);
}

/** The call that an id goes on with; null for any other text. */
export function openCallOf(id: string): OpenCall | null {
  if (!isCallTask(id)) return null;
  const json = Buffer.from(id.slice(PREFIX.length), 'base64url').toString('utf8');
  const { tool, keyId, at, input } = parseObject(json) ?? {};
  if (typeof tool !== 'string' || typeof keyId !== 'string' || !isObject(input)) return null;
  return typeof at === 'number' && Math.abs(at) < TIME_MAX ? { tool, keyId, at, input } : null;
}
