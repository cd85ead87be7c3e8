import { randomBytes } from 'node:crypto';
import { ServiceError } from '../../lib/errors.ts';
import type { Commits } from '../engine/commits.ts';
import { isDamage, isDiskFailure, isDiskFull, type Connection } from '../engine/connection.ts';
import type { Query } from '../engine/driver.ts';
import type { WriterOptions } from '../engine/writer.ts';
import { LAST_GROUP_QUERY, LAST_GROUP_SQL, POSITION_SQL } from '../tables/meta.ts';

/** A group of jobs, as another process that has the same rows can repeat it. */
export interface LoggedGroup {
  /** A random name. */
  readonly token: string;
  readonly statements: readonly Query[];
}

/** Names the newest group of a database. Two histories may have the same number, but not the same token. */
export interface GroupPosition {
  readonly position: number;
  /** Null before the first group. */
  readonly token: string | null;
}

/**
 * A server that decides which groups are committed, for a file that mirrors its database. Several processes may have a
 * mirror, and the server accepts a group only from one that has all earlier groups.
 */
export interface Authority {
  /**
   * Commits a group at the server, as the first one after this place. `overtaken`: the server's newest group is another
   * one, and nothing of this group is there. Throws UNAVAILABLE if it wasn't committed, and UncertainCommitError if nobody
   * knows.
   */
  accept(after: GroupPosition, group: LoggedGroup): Promise<'accepted' | 'overtaken'>;
  newest(): Promise<GroupPosition>;
  /**
   * Some groups after this place, oldest first. Null if the server doesn't keep them any more, or if the mirror has
   * another history.
   */
  after(position: GroupPosition): Promise<readonly LoggedGroup[] | null>;
  close(): void;
}

export interface MirrorOptions {
  readonly authority: Authority;
  /** Called once groups of other processes have been taken in, before anything else runs. */
  readonly onForeign: () => void;
  /** Called if a group was undone, before its jobs run again or are refused. */
  readonly onUndone: () => void;
  /** Called if nobody knows whether a group was committed, after its jobs were told so. */
  readonly onUncertain: () => void;
  /** Called if the mirror must be copied again: close it, and open it anew. */
  readonly onOutdated: () => void;
}

/** The mirror can't be brought up to date, so it must be copied again. */
export class OutdatedMirrorError extends Error {}

/** UNAVAILABLE for a write that may have succeeded. */
export class UncertainCommitError extends ServiceError {
  constructor(cause: unknown) {
    super('UNAVAILABLE', {
      hint: 'It may have happened all the same. A repeat with the same idempotency key is safe; without one, look first.',
      details: { retry_after: 5 },
      cause,
    });
  }
}

/** Options for a writer whose file mirrors a database on a server. It needs no sums: in doubt, it's copied again. */
export function mirroring(options: MirrorOptions): Pick<WriterOptions, 'commits' | 'isCopy'> {
  return { commits: (connection) => new Mirror(connection, options), isCopy: true };
}

/** Keeps a file the same as the database on a server, which decides which groups are committed. */
class Mirror implements Commits {
  readonly needsStatements = true;
  readonly #options: MirrorOptions;
  readonly #connection: Connection;
  #looking: Promise<number> | null = null;

  constructor(connection: Connection, options: MirrorOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /** Asks the server to commit the group. False if another process was faster. */
  async accepts(position: number, statements: readonly Query[]): Promise<boolean> {
    const { authority, onUndone } = this.#options;
    const after = { position, token: this.#token };
    const token = randomBytes(12).toString('base64url');
    this.#connection.run(LAST_GROUP_SQL, [token]);
    if ((await authority.accept(after, { token, statements })) === 'accepted') return true;
    this.#connection.run('ROLLBACK');
    onUndone();
    return false;
  }

  async refresh(position: number): Promise<number> {
    const groups = await this.#options.authority.after({ position, token: this.#token });
    if (groups === null || groups.length === 0) throw new OutdatedMirrorError('Copy it again.');
    this.#connection.run('BEGIN IMMEDIATE');
    try {
      for (const group of groups) this.#repeat(group);
    } catch (error) {
      if (isDiskFailure(error) || isDiskFull(error)) throw error;
      // What the server could run fails here, so the rows must differ.
      throw new OutdatedMirrorError('It differs.', { cause: error });
    }
    return groups.length;
  }

  #repeat({ token, statements }: LoggedGroup): void {
    for (const { sql, params } of statements) this.#connection.run(sql, params);
    this.#connection.run(POSITION_SQL);
    this.#connection.run(LAST_GROUP_SQL, [token]);
  }

  /** Throws a OutdatedMirrorError if the mirror has other groups than the server. */
  async resumeAt(position: number): Promise<number> {
    const newest = await this.#options.authority.newest();
    const isAhead = position > newest.position;
    const differs = position === newest.position && newest.token !== this.#token;
    if (isAhead || differs) throw new OutdatedMirrorError('The server has another history.');
    return newest.position;
  }

  refuseLost(position: number, newest: number): void {
    if (!(newest >= position)) throw new OutdatedMirrorError('The server has lost groups.');
  }

  tookIn(): void {
    this.#options.onForeign();
  }

  undone(): void {
    this.#options.onUndone();
  }

  /** The server has it, so the next group finds it there. */
  failureOf(error: unknown): UncertainCommitError {
    return new UncertainCommitError(error);
  }

  /** A mirror that is damaged is copied again, after a restart. */
  failed(error: unknown, cause: unknown): boolean {
    if (error instanceof UncertainCommitError) this.#options.onUncertain();
    return cause instanceof OutdatedMirrorError || isDamage(cause);
  }

  stopped(cause: unknown): boolean {
    if (!(cause instanceof OutdatedMirrorError)) return false;
    this.#invalidate();
    this.#options.onOutdated();
    return true;
  }

  /** Makes sure that the mirror is copied again when it is next opened. */
  #invalidate(): void {
    try {
      this.#connection.run(LAST_GROUP_SQL, ['outdated']);
    } catch {
      // The disk may be full. Then the mirror looks sound when it's next opened, until a write fails again.
    }
  }

  /** The server's position. Calls of one turn of the event loop share a request. */
  newest(): Promise<number> {
    this.#looking ??= new Promise((resolve) => setImmediate(resolve)).then(() => {
      this.#looking = null;
      return this.#options.authority.newest().then(({ position }) => position);
    });
    return this.#looking;
  }

  get #token(): string | null {
    const token = this.#connection.get(LAST_GROUP_QUERY)?.['value'];
    return typeof token === 'string' ? token : null;
  }

  close(): void {
    this.#options.authority.close();
  }
}
