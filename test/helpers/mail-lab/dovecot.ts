import { execFileSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../../shared/lib/guards.ts';

export interface DovecotConfig {
  readonly folder: string;
  readonly imapPort: number;
  readonly imapsPort: number;
  /** For example `INBOX.`; empty if folders aren't below the inbox. */
  readonly prefix: string;
  /** What the server says it can do; null for everything. */
  readonly capability: string | null;
}

/** The password of every user. */
export const PASSWORD = 'a-password-of-the-lab';

/** Where Postfix delivers to. */
export function lmtpSocket(folder: string): string {
  return join(folder, 'lmtp');
}

/** Settings of Dovecot 2.3: any user is let in with the one password, and has a Maildir. */
export function dovecotSettings(place: DovecotConfig): string {
  const { folder, imapPort, imapsPort, prefix, capability } = place;
  return `
base_dir = ${folder}/dovecot-run
state_dir = ${folder}/dovecot-run
log_path = ${folder}/dovecot.log
protocols = imap lmtp
listen = 127.0.0.1
first_valid_uid = 1
mail_location = maildir:${folder}/vmail/%u
mail_fsync = never
disable_plaintext_auth = no
auth_mechanisms = plain
ssl = yes
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem
${capability === null ? '' : `imap_capability = ${capability}`}
passdb {
  driver = static
  args = password=${PASSWORD}
}
userdb {
  driver = static
  args = uid=mail gid=mail home=${folder}/vmail/%u allow_all_users=yes
}
namespace inbox {
  inbox = yes
  separator = .
  prefix = ${prefix}
}
service imap-login {
  inet_listener imap {
    port = ${imapPort}
  }
  inet_listener imaps {
    port = ${imapsPort}
    ssl = yes
  }
}
service lmtp {
  unix_listener ${lmtpSocket(folder)} {
    mode = 0666
  }
}
`;
}

/** A user's Maildir on disk. */
export class Maildir {
  readonly #path: string;
  readonly #owner: { readonly uid: number; readonly gid: number };
  #added = 0;

  constructor(path: string) {
    this.#path = path;
    this.#owner = { uid: idOfMail('-u'), gid: idOfMail('-g') };
    for (const folder of [path, ...['cur', 'new', 'tmp'].map((name) => join(path, name))]) {
      mkdirSync(folder, { recursive: true });
      this.#own(folder);
    }
  }

  add(raw: string): void {
    this.#added += 1;
    const name = `${Math.floor(Date.now() / 1000)}.M${this.#added}P${process.pid}.lab`;
    const unfinished = join(this.#path, 'tmp', name);
    writeFileSync(unfinished, raw);
    this.#own(unfinished);
    renameSync(unfinished, join(this.#path, 'new', name));
  }

  /** The mails of a folder, in no order; the inbox has the empty name. */
  mails(folder: string): string[] {
    for (;;) {
      try {
        return this.#filesOf(folder).map((path) => readFileSync(path, 'latin1'));
      } catch (error) {
        // The server moved or renamed a file meanwhile: read again, so that all files are from one moment.
        if (errorCode(error) !== 'ENOENT') throw error;
      }
    }
  }

  /** By their names without flags: one that is moved from `new` to `cur` meanwhile is one mail. */
  #filesOf(folder: string): string[] {
    const base = folder === '' ? this.#path : join(this.#path, `.${folder}`);
    const found = new Map<string, string>();
    for (const path of ['new', 'cur'].map((name) => join(base, name))) {
      if (!existsSync(path)) continue;
      for (const file of readdirSync(path))
        found.set(file.split(':', 1)[0] ?? '', join(path, file));
    }
    return [...found.values()];
  }

  /** A file where the folder would be: no server can make it now. */
  obstruct(folder: string): void {
    writeFileSync(join(this.#path, `.${folder}`), '');
  }

  /** Call it only while nobody has the mailbox open. */
  forgetUids(): void {
    const index = /^dovecot[.-]/;
    for (const name of readdirSync(this.#path)) {
      if (index.test(name) && !name.startsWith('dovecot-uidvalidity')) {
        rmSync(join(this.#path, name));
      }
    }
  }

  #own(path: string): void {
    chownSync(path, this.#owner.uid, this.#owner.gid);
  }
}

function idOfMail(which: '-u' | '-g'): number {
  return Number(execFileSync('id', [which, 'mail'], { encoding: 'utf8' }));
}
