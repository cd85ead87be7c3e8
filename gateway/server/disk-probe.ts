import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../shared/lib/guards.ts';

/** Frequent probes reuse a result for this long, to spare the disk. */
const FRESH_MS = 10_000;
const ANSWERS_WITHIN_MS = 2000;

/** Checks whether a folder is writable, by a small file in it and only on request. */
export class DiskProbe {
  readonly #file: string;
  #checked: { readonly at: number; readonly result: Promise<string | null> } | null = null;

  constructor(folder: string) {
    this.#file = join(folder, '.probe');
  }

  /** Null if the folder is writable, otherwise the reason, such as `ENOSPC`. */
  check(): Promise<string | null> {
    const now = performance.now();
    if (!this.#checked || now - this.#checked.at > FRESH_MS) {
      this.#checked = { at: now, result: within(writeSmall(this.#file), ANSWERS_WITHIN_MS) };
    }
    return this.#checked.result;
  }
}

async function writeSmall(path: string): Promise<string | null> {
  try {
    const file = await open(path, 'w', 0o600);
    try {
      await file.writeFile(String(process.pid));
      await file.sync();
    } finally {
      await file.close();
    }
    return null;
  } catch (error) {
    return errorCode(error) ?? 'unknown';
  }
}

async function within(work: Promise<string | null>, ms: number): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, ms, `no answer in ${ms} ms`);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
