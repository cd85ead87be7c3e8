import { randomUUID } from 'node:crypto';
import { chmod, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../shared/lib/clock.ts';
import { makeFolder } from '../../shared/host/make-folder.ts';
import { errorCode } from '../../shared/lib/guards.ts';
import { listing, syncFile } from '../lib/durable-files.ts';
import { composeMail } from './compose.ts';
import { heldBack, later, type Mailer, type MailResult, type OutgoingMail } from './mailer.ts';

const FILES_MAX = 1000;
const MAIL = '.eml';
const UNFINISHED = '.tmp';

interface OutboxOptions {
  readonly folder: string;
  readonly clock: Clock;
  /** How many mails to keep; the oldest are deleted. */
  readonly filesMax?: number;
}

/**
 * Writes mail to a folder instead of sending it: one file per mail, named by its id, written completely or not at all. No
 * other process may write to the folder.
 */
export class OutboxMailer implements Mailer {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #filesMax: number;
  /** Mails are written one by one, so that two of them don't take the same free slot. */
  #last: Promise<unknown> = Promise.resolve();
  #isReady = false;
  #isClosed = false;

  constructor({ folder, clock, filesMax = FILES_MAX }: OutboxOptions) {
    this.#folder = folder;
    this.#clock = clock;
    this.#filesMax = filesMax;
  }

  async send(mail: OutgoingMail): Promise<MailResult> {
    if (this.#isClosed) return later('The service is stopping.');
    const turn = this.#last.then(() => this.#keep(mail));
    this.#last = turn;
    return turn;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
  }

  async #keep(mail: OutgoingMail): Promise<MailResult> {
    try {
      const composed = await composeMail(mail, this.#clock.now());
      await this.#prepare();
      if (!(await mayGo(mail))) return heldBack();
      await this.#write(mail.id, Buffer.concat([...trace(mail), composed.raw]));
      return { outcome: 'sent', messageId: composed.messageId };
    } catch (error) {
      const code = errorCode(error) ?? (error instanceof Error ? error.name : 'unknown');
      return later(`The outbox folder could not be written (${code}).`);
    }
  }

  /** Creates the folder, sets its permissions, and removes files that a dead process left unfinished. */
  async #prepare(): Promise<void> {
    // Every time, because someone may delete the folder.
    makeFolder(this.#folder);
    if (this.#isReady) return;
    await chmod(this.#folder, 0o700);
    const names = await listing(this.#folder);
    await this.#remove(names.filter((name) => name.endsWith(UNFINISHED)));
    this.#isReady = true;
  }

  async #write(id: string, raw: Uint8Array): Promise<void> {
    const names = (await listing(this.#folder)).filter((name) => name.endsWith(MAIL));
    if (!names.includes(id + MAIL)) {
      const temporary = join(this.#folder, `${randomUUID()}${UNFINISHED}`);
      await this.#writeOrNothing(temporary, raw);
      await this.#remove(await this.#oldest(names, names.length + 1 - this.#filesMax));
      await rename(temporary, join(this.#folder, id + MAIL));
    }
    // Even if the file was there: its writer may have died before its name was durable.
    await syncFile(this.#folder);
  }

  async #writeOrNothing(path: string, bytes: Uint8Array): Promise<void> {
    try {
      await writeFile(path, bytes, { flag: 'wx', mode: 0o600, flush: true });
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  }

  async #oldest(names: readonly string[], count: number): Promise<string[]> {
    if (count <= 0) return [];
    const ages = await Promise.all(
      names.map(async (name) => {
        const found = await stat(join(this.#folder, name)).catch(() => null);
        return { name, at: found?.mtimeMs ?? 0 };
      }),
    );
    return ages
      .toSorted((a, b) => a.at - b.at || (a.name < b.name ? -1 : 1))
      .slice(0, count)
      .map(({ name }) => name);
  }

  async #remove(names: readonly string[]): Promise<void> {
    await Promise.all(names.map((name) => rm(join(this.#folder, name), { force: true })));
  }
}

/** Who gets this copy, as a server records it, if To doesn't say so. Nobody but this machine's owner reads it. */
function trace({ to, shown }: OutgoingMail): Buffer[] {
  const [only, ...others] = shown?.to ?? [to];
  return only === to && others.length === 0 ? [] : [Buffer.from(`Delivered-To: ${to}\r\n`)];
}

async function mayGo({ beforeData }: OutgoingMail): Promise<boolean> {
  try {
    await beforeData?.();
    return true;
  } catch {
    return false;
  }
}
