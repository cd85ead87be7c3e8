import { writeTrouble } from '../../shared/host/writable.ts';

/** Frequent probes reuse a result for this long, to spare the disk. */
const FRESH_MS = 10_000;

/** Checks whether a data folder is writable, by a small file in it and only on request. */
export class DiskProbe {
  readonly #folder: string;
  #checked: { readonly at: number; readonly result: Promise<string | null> } | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Null if the folder is writable, otherwise the reason: `ENOENT`, or `EACCES: …` with the place. */
  check(): Promise<string | null> {
    const now = performance.now();
    if (!this.#checked || now - this.#checked.at > FRESH_MS) {
      this.#checked = { at: now, result: reasonAt(this.#folder) };
    }
    return this.#checked.result;
  }
}

async function reasonAt(folder: string): Promise<string | null> {
  const trouble = await writeTrouble(folder);
  if (trouble === null) return null;
  const { code, text } = trouble;
  return code in PLAIN ? code : `${code}: ${text.replace(` (${code})`, '')}`;
}

/** The folder is gone or is something else: there's nothing more to say. */
const PLAIN = { ENOENT: true, ENOTDIR: true, EISDIR: true } as const;
