import { lookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { errorCode } from '../../shared/lib/guards.ts';

const CONNECT_MS = 5_000;
/** How long a look-up may take if we know the addresses from an earlier one. */
const LOOKUP_MS = 500;

/** As `dns.lookup` gives it to its callback. */
interface LookupResult {
  readonly address: string | LookupAddress[];
  readonly family: number | undefined;
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address?: LookupResult['address'],
  family?: number,
) => void;
type LookUp = (hostname: string, options: LookupOptions, done: LookupCallback) => void;

interface Name {
  /** The question that's open. */
  asking: Promise<LookupResult> | null;
  last: LookupResult | null;
}

/**
 * `dns.lookup` with one open question for each name, because a resolver that hangs would soon hold all threads, and files
 * are read on them too. While the resolver hangs or is away, a name has the addresses it had last.
 */
export class Names {
  readonly #lookUp: LookUp;
  /** By name and options: a daemon has one gateway. */
  readonly #names = new Map<string, Name>();

  constructor(lookUp: LookUp = lookup) {
    this.#lookUp = lookUp;
  }

  lookUp(hostname: string, options: LookupOptions, done: LookupCallback): void {
    void this.#tell(hostname, options, done);
  }

  async #tell(hostname: string, options: LookupOptions, done: LookupCallback): Promise<void> {
    const found = await this.#find(hostname, options).catch((error: unknown) => ({ error }));
    if ('error' in found) done(found.error as NodeJS.ErrnoException);
    else done(null, found.address, found.family);
  }

  async #find(hostname: string, options: LookupOptions): Promise<LookupResult> {
    const key = JSON.stringify([hostname, options]);
    const name = this.#names.get(key) ?? { asking: null, last: null };
    this.#names.set(key, name);
    name.asking ??= this.#ask(hostname, options).finally(() => (name.asking = null));
    const { asking, last } = name;
    const found = asking.then((now) => (name.last = now));
    if (!last) return found;
    return soon(found, last).catch((error: unknown) => {
      if (errorCode(error) === 'ENOTFOUND') throw error;
      return last;
    });
  }

  #ask(hostname: string, options: LookupOptions): Promise<LookupResult> {
    return new Promise((resolve, reject) => {
      this.#lookUp(hostname, options, (error, address, family) => {
        if (error || address === undefined) reject(error ?? new Error('Nothing was found.'));
        else resolve({ address, family });
      });
    });
  }
}

/** What is found within `LOOKUP_MS`, else what was found last. */
async function soon(found: Promise<LookupResult>, last: LookupResult): Promise<LookupResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<LookupResult>((resolve) => {
    timer = setTimeout(resolve, LOOKUP_MS, last);
  });
  // It may fail after everyone has stopped waiting for it.
  found.catch(() => undefined);
  try {
    return await Promise.race([found, late]);
  } finally {
    clearTimeout(timer);
  }
}

const names = new Names();

/** How the daemon connects to its gateway. */
export const CONNECT = {
  timeout: CONNECT_MS,
  lookup: (hostname: string, options: LookupOptions, done: LookupCallback): void =>
    names.lookUp(hostname, options, done),
};
