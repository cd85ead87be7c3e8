import { setTimeout as sleep } from 'node:timers/promises';
import Libsql from 'libsql';
import { readOnlyAddress } from '../../shared/store/engine/connection.ts';

/** How often the files of the replicas are looked at. */
const LOOK_MS = 5;

/** A commit that a writer was told of. */
export interface Sent {
  readonly position: number;
  /** When the answer arrived, in milliseconds since 1970. */
  readonly at: number;
}

/** Milliseconds from each answer until each replica had it; infinite where one never had it. */
export function lags(
  sent: readonly Sent[],
  all: readonly (readonly (number | null)[])[],
): number[] {
  return all.flatMap((reached) =>
    sent.map(({ at }, index) => (reached[index] ?? Number.POSITIVE_INFINITY) - at),
  );
}

/** Milliseconds since 1970, with fractions. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

/** Notes when each replica's file had which position. */
export class Watch {
  readonly #ended = new AbortController();
  readonly #files: Watched[];
  readonly #looking: Promise<void>;

  constructor(paths: readonly string[]) {
    this.#files = paths.map((path) => new Watched(path));
    this.#looking = this.#look();
  }

  async #look(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      for (const file of this.#files) file.look();
      await sleep(LOOK_MS);
    }
  }

  async end(): Promise<readonly Watched[]> {
    this.#ended.abort();
    await this.#looking;
    for (const file of this.#files) file.close();
    return this.#files;
  }
}

class Watched {
  readonly #file: Libsql.Database;
  readonly #position: Libsql.Statement;
  readonly #seen: [position: number, at: number][] = [];

  constructor(path: string) {
    this.#file = new Libsql(readOnlyAddress(path));
    this.#position = this.#file.prepare("SELECT value FROM meta WHERE name = 'commit_seq'");
  }

  look(): void {
    const { value } = this.#position.get([]) as { value: number };
    if (value === this.#seen.at(-1)?.[0]) return;
    this.#seen.push([value, nowMs()]);
  }

  close(): void {
    this.#file.close();
  }

  reachedAt(positions: readonly number[]): (number | null)[] {
    return positions.map((wanted) => this.#seen.find(([at]) => at >= wanted)?.[1] ?? null);
  }
}
