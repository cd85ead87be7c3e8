import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { link, lstat, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../shared/lib/guards.ts';
import { fileExists, onFile } from './faults.ts';
import { writeAll } from './write-all.ts';

const PART_NAME = /^\.svc-[0-9a-f]{12}\.part$/;
/** Errors from file systems without hard links. */
const NO_LINKS: ReadonlySet<string> = new Set([
  'EPERM',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EMLINK',
  'EINVAL',
]);

/** Whether this is the name of an unfinished download. */
export function isPartName(name: string): boolean {
  return PART_NAME.test(name);
}

/** Where a download is saved. */
export interface LocalTarget {
  readonly target: string;
  /** The name the user knows. */
  readonly name: string;
  /** The replaced file's permission bits; null if no file may be replaced. */
  readonly replacedMode: number | null;
}

/** A temporary file next to its target. It takes the target's name once it's complete; otherwise it's removed. */
export class PartFile {
  readonly #path: string;
  readonly #file: FileHandle;
  #isOpen = true;
  /** A second Ctrl-C exits the process at once. */
  readonly #onExit = (): void => rmSync(this.#path, { force: true });

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
    process.once('exit', this.#onExit);
  }

  static async in(folder: string, name: string): Promise<PartFile> {
    const path = join(folder, `.svc-${randomBytes(6).toString('hex')}.part`);
    return new PartFile(path, await onFile(name, 'written', open(path, 'wx', 0o666)));
  }

  write(bytes: Uint8Array): Promise<void> {
    return writeAll(this.#file, bytes, this.#path);
  }

  /** Completes the file: now the target is the new file. */
  async become({ target, name, replacedMode }: LocalTarget): Promise<void> {
    if (replacedMode !== null) {
      await onFile(name, 'written', this.#file.chmod(replacedMode & 0o777));
    }
    await onFile(name, 'written', this.#file.sync());
    await this.#close();
    if (replacedMode === null) await onFile(name, 'written', this.#takeFreeName(target, name));
    else await onFile(name, 'written', rename(this.#path, target));
    await this.discard();
  }

  /** Removes the temporary file if it still exists. */
  async discard(): Promise<void> {
    await this.#close();
    await rm(this.#path, { force: true });
    process.off('exit', this.#onExit);
  }

  /** Uses a hard link, because a rename would replace a file that appeared meanwhile. */
  async #takeFreeName(target: string, name: string): Promise<void> {
    try {
      await link(this.#path, target);
    } catch (error) {
      const code = errorCode(error) ?? '';
      if (code === 'EEXIST') throw fileExists(name, null);
      if (!NO_LINKS.has(code)) throw error;
      if (await isThere(target)) throw fileExists(name, null);
      await rename(this.#path, target);
    }
  }

  async #close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#file.close();
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}
