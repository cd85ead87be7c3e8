import { appendFileSync, readFileSync, rmSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { isObject, parseObject } from '../../lib/guards.ts';

/** An object on the disk that isn't as it was written. */
export interface Damage {
  /** The project whose object it is; null for the gateway's own. */
  readonly project: string | null;
  /** Relative to the data folder; absolute if it's elsewhere, `s3://bucket/key` in a bucket. */
  readonly file: string;
  /** The part of the file: `page 17`, `blob`, `event evt_…`. */
  readonly what: string;
  /** Milliseconds since 1970. */
  readonly foundAt: number;
}

/** Damage as its finder reports it. */
export type DamageReport = Omit<Damage, 'foundAt'>;

/** The file in the data folder that keeps the damage, a JSON object a line: a report, or the end of one. */
const DAMAGE_FILE = 'damage.jsonl';
/** Reports beyond this many are dropped, so that a disk that fails doesn't fill the rest. */
const DAMAGE_MAX = 1000;
const FILE_MAX_BYTES = 1024 ** 2;

/** A read met damage, so it has no answer: INTERNAL to callers, and the object's name in the log. */
export class DamageError extends Error {
  readonly project: string | null;
  readonly file: string;
  readonly what: string;

  /** `how`: what is wrong with it, after its name. */
  constructor({ project, file, what }: DamageReport, how = 'is damaged') {
    super(`${file} (${what}) ${how}.`);
    this.name = 'DamageError';
    // The object's name says what to do; where it was noticed doesn't.
    this.stack = `${this.name}: ${this.message}`;
    this.project = project;
    this.file = file;
    this.what = what;
  }
}

const NO_FILE = { file: '', bytes: 0 };

type Listener = (damage: Damage) => void;

/**
 * The damage that is known in a data folder. It's kept in a file, and processes that use the folder at the same time
 * see each other's reports there: each appends whole lines, and reads again when the file has changed.
 */
export class DamageRegister {
  readonly #folder: string;
  readonly #path: string;
  readonly #now: () => number;
  readonly #listeners = new Set<Listener>();
  #known = new Map<string, Damage>();
  /** It had a file, so if there's none any more, nothing is damaged. */
  #hasWritten = false;
  /** Which file was read, and how many bytes of it; a file that isn't there is the empty one. */
  #seen = NO_FILE;

  constructor(dataFolder: string, now: () => number = () => Date.now()) {
    this.#folder = dataFolder;
    this.#path = join(dataFolder, DAMAGE_FILE);
    this.#now = now;
  }

  /** What the register calls a file. */
  nameOf(path: string): string {
    const inside = relative(this.#folder, path);
    return inside.startsWith(`..${sep}`) || isAbsolute(inside) ? path : inside;
  }

  /** Keeps a report and tells the listeners; does nothing if the object is known to be damaged. */
  report({ project, file, what }: DamageReport): void {
    this.#refresh();
    const damage = { project, file, what, foundAt: this.#now() };
    if (this.#known.has(keyOf(damage)) || this.#known.size >= DAMAGE_MAX) return;
    this.#append(damage);
    this.#known.set(keyOf(damage), damage);
    this.#tell(damage);
  }

  /** Oldest first. */
  list(): readonly Damage[] {
    this.#refresh();
    return [...this.#known.values()];
  }

  has(file: string, what: string): boolean {
    this.#refresh();
    return this.#known.has(keyOf({ file, what }));
  }

  /** The object is as it should be again, or is gone. Without `what`: the whole file. */
  resolve(file: string, what?: string): void {
    this.#refresh();
    if (!forget(this.#known, file, what)) return;
    if (this.#known.size > 0) this.#append({ resolved: file, ...(what !== undefined && { what }) });
    else rmSync(this.#path, { force: true });
  }

  /** Calls the listener for each damage that this process learns of from now on; returns how to stop. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #append(line: object): void {
    try {
      if ((statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0) > FILE_MAX_BYTES) return;
      // One system call, so lines of two processes never mix.
      appendFileSync(this.#path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
      this.#hasWritten = true;
    } catch {
      // A disk that can't be written has said so elsewhere, and this process knows the damage all the same.
    }
  }

  /** Reads what this process and others have added to the file; all of it, if it's another file. */
  #refresh(): void {
    const { file, bytes } = fileAt(this.#path);
    const isOther = file !== this.#seen.file || (file === '' && this.#hasWritten);
    if (!isOther && bytes === this.#seen.bytes) return;
    const before = this.#known;
    const from = isOther ? 0 : this.#seen.bytes;
    if (isOther) this.#known = new Map();
    this.#hasWritten = false;
    this.#seen = { file, bytes };
    for (const line of bytes > from ? linesOf(this.#path, from) : []) this.#apply(line, before);
  }

  #apply(line: Damage | Resolution, before: ReadonlyMap<string, Damage>): void {
    if ('resolved' in line) return void forget(this.#known, line.resolved, line.what);
    const isNews = !before.has(keyOf(line)) && !this.#known.has(keyOf(line));
    this.#known.set(keyOf(line), line);
    if (isNews) this.#tell(line);
  }

  #tell(damage: Damage): void {
    for (const listener of this.#listeners) listener(damage);
  }
}

interface Resolution {
  readonly resolved: string;
  /** Absent: the whole file. */
  readonly what?: string;
}

function keyOf({ file, what }: Pick<Damage, 'file' | 'what'>): string {
  return `${file}\n${what}`;
}

function forget(known: Map<string, Damage>, file: string, what: string | undefined): boolean {
  const gone = [...known].filter(
    ([, damage]) => damage.file === file && (what ?? damage.what) === damage.what,
  );
  for (const [key] of gone) known.delete(key);
  return gone.length > 0;
}

/** Which file is there, and its size. */
function fileAt(path: string): { readonly file: string; readonly bytes: number } {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? { file: `${stat.ino} ${stat.birthtimeMs}`, bytes: stat.size } : NO_FILE;
}

/** What else is in the file isn't ours, or was cut off by a power cut. */
function linesOf(path: string, from: number): (Damage | Resolution)[] {
  const lines = readFileSync(path).subarray(from).toString('utf8').split('\n').map(parseObject);
  return lines.filter((line) => isObject(line) && (isDamage(line) || isResolved(line))) as never[];
}

function isDamage(line: Readonly<Record<string, unknown>>): boolean {
  const { project, file, what, foundAt } = line;
  const isNamed = typeof file === 'string' && typeof what === 'string';
  return (
    isNamed && typeof foundAt === 'number' && (project === null || typeof project === 'string')
  );
}

function isResolved({ resolved, what }: Readonly<Record<string, unknown>>): boolean {
  return typeof resolved === 'string' && (what === undefined || typeof what === 'string');
}
