import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import type { Caller } from '../../kernel/context.ts';
import { cutUtf8 } from '../../lib/text.ts';
import type { HttpEnv } from '../http.ts';

export const SESSION_HEADER = 'Mcp-Session-Id';
const NAME_MAX_BYTES = 100;

/**
 * The id of a new session. The server stores nothing: the client repeats the id, which identifies the client and
 * contains the name that it gave once.
 */
export function newSession(clientName = ''): string {
  const name = Buffer.from(cutUtf8(clientName, NAME_MAX_BYTES)).toString('base64url');
  return `${randomUUID()}.${name}`;
}

/** The client name in an id from `newSession`, if it has one. */
export function sessionClient(session: string | undefined): string | undefined {
  const [, name = ''] = session?.split('.', 2) ?? [];
  return Buffer.from(name, 'base64url').toString('utf8') || undefined;
}

/**
 * Identifies one call among all running ones. Several clients of a key number their requests from the same start, so
 * the name includes the session; without a session it includes the client's address and headers.
 */
export function callName(c: Context<HttpEnv>, { keyId }: Caller, id: string | number): string {
  const { visit, incoming } = c.env;
  const session = c.req.header(SESSION_HEADER);
  const client = session ?? [
    visit?.clientAddress ?? incoming.socket.remoteAddress,
    c.req.header('user-agent'),
    c.req.header('x-service-agent'),
  ];
  return JSON.stringify([keyId, client, id]);
}

/** Calls that clients can cancel with `notifications/cancelled`. */
export class RunningCalls {
  readonly #byName = new Map<string, Set<AbortController>>();

  /** Runs a call until it ends, its client leaves, or it is cancelled; a cancelled call returns null. */
  async run<T>(
    name: string,
    gone: AbortSignal,
    call: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | null> {
    const cancelled = new AbortController();
    const sameName = this.#byName.get(name) ?? new Set();
    this.#byName.set(name, sameName.add(cancelled));
    try {
      const answer = await call(AbortSignal.any([gone, cancelled.signal]));
      return cancelled.signal.aborted ? null : answer;
    } finally {
      sameName.delete(cancelled);
      if (sameName.size === 0) this.#byName.delete(name);
    }
  }

  /** Does nothing if several calls have this name, because one of them may be another client's. */
  cancel(name: string): void {
    const [call, ...others] = this.#byName.get(name) ?? [];
    if (others.length === 0) call?.abort();
  }
}
