import { randomUUID } from 'node:crypto';
import { chmod, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../shared/lib/clock.ts';
import { makeFolder } from '../../shared/host/make-folder.ts';
import { errorCode } from '../../shared/lib/guards.ts';
import { listing, syncFile } from '../lib/durable-files.ts';
import { composeMail, type ComposedMail } from './compose.ts';
import { heldBack, later, type Mailer, type MailSent, type OutgoingMail } from './mailer.ts';

const FILES_MAX = 1000;
const MAIL = '.eml';
const UNFINISHED = '.tmp';

interface OutboxOptions {
  readonly folder: string;
  readonly clock: Clock;
  /** The oldest mails make room beyond so many. */
  readonly filesMax?: number;
}

/**
 * Keeps mail in a folder instead of sending it: one file a mail, named by its id, there whole or not at all. No other
 * process may write to the folder.
 */
export class OutboxMailer implements Mailer {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #filesMax: number;
  /** One after another, so that two mails do not make room for one. */
  #last: Promise<unknown> = Promise.resolve();
  #isReady = false;
  #isClosed = false;

  constructor({ folder, clock, filesMax = FILES_MAX }: OutboxOptions) {
    this.#folder = folder;
    this.#clock = clock;
    this.#filesMax = filesMax;
  }

  async send(mail: OutgoingMail): Promise<MailSent> {
    if (this.#isClosed) return later('The service is stopping.');
    const turn = this.#last.then(() => this.#keep(mail));
    this.#last = turn;
    return turn;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
  }

  async #keep(mail: OutgoingMail): Promise<MailSent> {
    try {
      const composed = await composeMail(mail, this.#clock.now());
      await this.#prepare();
      if (!(await mayGo(mail))) return heldBack();
      await this.#write(mail.id, composed);
      return { outcome: 'sent', messageId: composed.messageId };
    } catch (error) {
      const code = errorCode(error) ?? (error instanceof Error ? error.name : 'unknown');
      return later(`The outbox folder could not be written (${code}).`);
    }
  }

  /** The folder with the rights it must have, and without what a process that died had begun. */
  async #prepare(): Promise<void> {
    // Each time: whoever tidies up may take the folder away too.
    makeFolder(this.#folder);
    if (this.#isReady) return;
    await chmod(this.#folder, 0o700);
    const names = await listing(this.#folder);
    await this.#remove(names.filter((name) => name.endsWith(UNFINISHED)));
    this.#isReady = true;
  }

  async #write(id: string, { raw }: ComposedMail): Promise<void> {
    const names = (await listing(this.#folder)).filter((name) => name.endsWith(MAIL));
    if (!names.includes(id + MAIL)) {
      const temporary = join(this.#folder, `${randomUUID()}${UNFINISHED}`);
      await this.#writeOrNothing(temporary, raw);
      await this.#remove(await this.#oldest(names, names.length + 1 - this.#filesMax));
      await rename(temporary, join(this.#folder, id + MAIL));
    }
    // Also for a file that was there: who wrote it may have died before its name was durable.
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

async function mayGo({ beforeData }: OutgoingMail): Promise<boolean> {
  try {
    await beforeData?.();
    return true;
  } catch {
    return false;
  }
}
