import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere, writePrivateFile } from '../../daemon/files.ts';
import { isObject, parseObject } from '../../shared/lib/guards.ts';
import type { LoginUse } from './calls.ts';

/** A sign-in that has begun but hasn't produced a key yet. */
export interface PendingLogin {
  readonly login_id: string;
  readonly user_code: string;
  readonly email_masked: string;
  readonly interval_seconds: number;
  /** The gateway has no mail server and keeps the mail. */
  readonly is_kept?: boolean;
  /** When it expires, in milliseconds by this machine's clock. */
  readonly until: number;
  /** The call that used it, stored just before sending, because its answer may get lost. */
  readonly use?: LoginUse;
  /** The wish at that time. */
  readonly wish?: string;
}

/**
 * Interrupted sign-ins, each in a private file named after gateway and email address, so that the same command finds
 * its own and two at once don't collide.
 */
export class PendingLogins {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A sign-in that can still be confirmed, or null. */
  find(gateway: string, email: string): PendingLogin | null {
    return this.#read(this.#path(gateway, email));
  }

  /** Stores a sign-in and removes expired ones. */
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

/** svc wrote the file, so checking only the essential fields is enough. */
function isLogin(value: unknown): value is PendingLogin {
  return (
    isObject(value) && typeof value['login_id'] === 'string' && typeof value['until'] === 'number'
  );
}
