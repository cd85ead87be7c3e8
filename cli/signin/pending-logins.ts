import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere, writePrivateFile } from '../../daemon/files.ts';
import { isObject, parseObject } from '../../shared/lib/guards.ts';
import type { LoginUse } from './calls.ts';

/** A sign-in that was begun and has not led to a key yet. */
export interface PendingLogin {
  readonly login_id: string;
  readonly user_code: string;
  readonly email_masked: string;
  readonly interval_seconds: number;
  /** When it is too late, in milliseconds by the clock of this machine. */
  readonly until: number;
  /** How it was used, from just before that: the answer may have been lost. */
  readonly use?: LoginUse;
  /** What was wished for then. */
  readonly wish?: string;
}

/**
 * Sign-ins that were interrupted, a private file each, named by gateway and address: the same command finds its own, and
 * two that run side by side do not meet.
 */
export class PendingLogins {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** One that can still be confirmed, or null. */
  find(gateway: string, email: string): PendingLogin | null {
    return this.#read(this.#path(gateway, email));
  }

  /** Keeps one, and removes those whose time is over. */
  keep(gateway: string, email: string, login: PendingLogin): void {
    writePrivateFile(this.#path(gateway, email), `${JSON.stringify(login)}\n`);
    for (const name of readdirSync(this.#folder)) {
      const path = join(this.#folder, name);
      if (name.endsWith('.json') && this.#read(path) === null) rmSync(path, { force: true });
    }
  }

  drop(gateway: string, email: string): void {
    rmSync(this.#path(gateway, email), { force: true });
  }

  #path(gateway: string, email: string): string {
    const hash = createHash('sha256').update(`${gateway}\n${email.toLowerCase()}`).digest('hex');
    return join(this.#folder, `${hash.slice(0, 32)}.json`);
  }

  #read(path: string): PendingLogin | null {
    const text = readIfThere(path);
    const login: unknown = text === null ? null : parseObject(text);
    return isLogin(login) && login.until > Date.now() ? login : null;
  }
}

/** Our own writing, so a look at what a sign-in cannot go on without is enough. */
function isLogin(value: unknown): value is PendingLogin {
  return (
    isObject(value) && typeof value['login_id'] === 'string' && typeof value['until'] === 'number'
  );
}
