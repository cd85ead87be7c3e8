import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { link, lstat, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../shared/lib/guards.ts';
import { fileExists, onFile } from './faults.ts';
import { writeAll } from './write-all.ts';

const PART_NAME = /^\.svc-[0-9a-f]{12}\.part$/;
/** File systems without hard links answer so. */
const NO_LINKS: ReadonlySet<string> = new Set([
  'EPERM',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EMLINK',
  'EINVAL',
]);

/** Whether a name is one of ours for a file that is still on its way. */
export function isPartName(name: string): boolean {
  return PART_NAME.test(name);
}

/** Where a file goes. */
export interface LocalTarget {
  readonly target: string;
  /** As the person knows it. */
  readonly name: string;
  /** The bits of the file that is replaced; null where none may be. */
  readonly replacedMode: number | null;
}

/** A file beside its target, which takes the target's name once it is whole, and is removed otherwise. */
export class PartFile {
  readonly #path: string;
  readonly #file: FileHandle;
  #isOpen = true;
  /** A second Ctrl-C ends the process at once. */
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

  /** The last step: from here on the target is the new file. */
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

  /** Removes what is left of it; nothing once it became its target. */
  async discard(): Promise<void> {
    await this.#close();
    await rm(this.#path, { force: true });
    process.off('exit', this.#onExit);
  }

  /** A rename would replace what came there meanwhile; a second name for the same file cannot. */
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
