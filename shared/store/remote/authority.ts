import { randomBytes } from 'node:crypto';
import type { Client, InStatement } from '@libsql/client/http';
import { unavailable } from '../../lib/errors.ts';
import { LAST_GROUP_QUERY, LAST_GROUP_SQL, POSITION_QUERY } from '../meta.ts';
import { CommitUncertain, MirrorOutdated, type Authority, type LoggedGroup } from '../mirror.ts';
import {
  failedIndex,
  isAnswer,
  isOfStatement,
  mayPass,
  neverConnected,
  wrongSetting,
} from './failure.ts';
import { decodeStatements, encodeStatements, LOG_TABLE } from './group-log.ts';
import { RetryBudget } from './retry-budget.ts';
import { toStatement } from './values.ts';

/** Larger groups aren't kept in the log. */
const LOGGED_MAX_BYTES = 1024 * 1024;
/** About how many bytes of groups the log keeps, and at most how many groups. */
const LOG_MAX_BYTES = 32 * 1024 * 1024;
const LOG_MAX_GROUPS = 4096;
/** Groups have what was deleted since, so none stays longer than this. How often to look for older ones. */
const LOG_MAX_AGE_MS = 86_400_000;
const PRUNE_EVERY_MS = 3_600_000;
/** At most this many groups travel in one answer. */
const GROUPS_PER_ANSWER = 64;

/** Increments the position, but only from the expected one: NOT NULL makes it fail otherwise. */
const GUARD_SQL =
  "UPDATE meta SET value = CASE value WHEN ? THEN value + 1 END WHERE name = 'commit_seq'";
const LOG_SQL = `INSERT INTO ${LOG_TABLE} (position, token, follows, logged_at, statements)
  VALUES (?, ?, (SELECT value FROM meta WHERE name = 'last_group'), ?, ?)`;
const PRUNE_SQL = `DELETE FROM ${LOG_TABLE} WHERE position <= ?`;
const PRUNE_OLD_SQL = `DELETE FROM ${LOG_TABLE} WHERE logged_at < ?`;
const AFTER_SQL = `SELECT token, follows, statements FROM ${LOG_TABLE}
  WHERE position > ? ORDER BY position LIMIT ${GROUPS_PER_ANSWER}`;
const TOKEN_SQL = `SELECT token FROM ${LOG_TABLE} WHERE position = ?`;

/**
 * A database on a libSQL server, as the authority of its mirrors. A group travels as one batch that checks the position
 * first, so no transaction is open between two requests, and a gateway that dies or hangs holds no lock.
 */
export class RemoteAuthority implements Authority {
  readonly #client: Client;
  /** Sizes of the newest logged groups of this process, and the position of the first one. */
  readonly #sizes: number[] = [];
  #loggedBytes = 0;
  readonly #now: () => number;
  #prunedAt = Number.NEGATIVE_INFINITY;

  /** The tables exist. It closes the client. `now`: Unix time in milliseconds. */
  constructor(client: Client, now: () => number = () => Date.now()) {
    this.#client = client;
    this.#now = now;
  }

  async accept(position: number, group: LoggedGroup): Promise<'accepted' | 'overtaken'> {
    const batch = this.#batchOf(position, group);
    const budget = new RetryBudget();
    let mayBeUnderWay = false;
    for (;;) {
      try {
        await this.#client.batch(batch, 'write');
        return 'accepted';
      } catch (error) {
        if (isGuard(error)) return await this.#fate(position, group, budget, error);
        // The mirror could run all of them.
        if (isOfStatement(error)) throw unavailable(5, new MirrorOutdated('', { cause: error }));
        if (!mayPass(error)) throw unavailable(5, wrongSetting(error));
        mayBeUnderWay ||= !isAnswer(error) && !neverConnected(error);
        // If a request is still under way, the guard lets only one of them in.
        if (await budget.lasts()) continue;
        if (!mayBeUnderWay) throw unavailable(5, error);
        return this.#settle(position, group, error);
      }
    }
  }

  async newest(): Promise<{ readonly position: number; readonly token: string | null }> {
    const [seq, last] = await this.#patiently(() =>
      this.#client.batch([POSITION_QUERY, LAST_GROUP_QUERY], 'read'),
    );
    const token = last?.rows[0]?.['value'];
    return {
      position: Number(seq?.rows[0]?.['value']),
      token: typeof token === 'string' ? token : null,
    };
  }

  async after(position: number, token: string | null): Promise<readonly LoggedGroup[] | null> {
    const { rows } = await this.#patiently(() =>
      this.#client.execute({ sql: AFTER_SQL, args: [position] }),
    );
    const groups: LoggedGroup[] = [];
    let previous = token;
    for (const { token: own, follows, statements } of rows) {
      if (follows !== previous || typeof own !== 'string') break;
      if (!(statements instanceof ArrayBuffer)) break;
      groups.push({ token: own, statements: decodeStatements(new Uint8Array(statements)) });
      previous = own;
    }
    return groups.length > 0 ? groups : null;
  }

  close(): void {
    this.#client.close();
  }

  #batchOf(position: number, { token, statements }: LoggedGroup): InStatement[] {
    const bytes = encodeStatements(statements);
    const kept = bytes.length <= LOGGED_MAX_BYTES ? bytes : null;
    const now = this.#now();
    const log = toStatement(LOG_SQL, [position + 1, token, now, kept]);
    const until = this.#prunedAfter(position, bytes.length);
    return [
      toStatement(GUARD_SQL, [position]),
      ...statements.map(({ sql, params }) => toStatement(sql, params)),
      log,
      toStatement(LAST_GROUP_SQL, [token]),
      ...(until === null ? [] : [toStatement(PRUNE_SQL, [until])]),
      ...(this.#mayHaveOld(now) ? [toStatement(PRUNE_OLD_SQL, [now - LOG_MAX_AGE_MS])] : []),
    ];
  }

  /** The last position to drop from the log once this group is in it; null to drop none. */
  #prunedAfter(position: number, bytes: number): number | null {
    this.#sizes.push(bytes);
    this.#loggedBytes += bytes;
    let dropped = 0;
    while (this.#loggedBytes > LOG_MAX_BYTES || this.#sizes.length > LOG_MAX_GROUPS) {
      this.#loggedBytes -= this.#sizes.shift() ?? 0;
      dropped += 1;
    }
    return dropped > 0 ? position + 1 - this.#sizes.length : null;
  }

  #mayHaveOld(now: number): boolean {
    if (now - this.#prunedAt < PRUNE_EVERY_MS) return false;
    this.#prunedAt = now;
    return true;
  }

  /** The guard has refused the group, or an earlier try of the same request was let in. */
  async #fate(
    position: number,
    { token }: LoggedGroup,
    budget: RetryBudget,
    cause: unknown,
  ): Promise<'accepted' | 'overtaken'> {
    for (;;) {
      try {
        const { rows } = await this.#client.execute(toStatement(TOKEN_SQL, [position + 1]));
        return rows[0]?.['token'] === token ? 'accepted' : 'overtaken';
      } catch {
        if (!(await budget.lasts())) throw new CommitUncertain(cause);
      }
    }
  }

  /** Commits an empty group in its place, so that a request still under way can't be let in any more. */
  async #settle(
    position: number,
    group: LoggedGroup,
    cause: unknown,
  ): Promise<'accepted' | 'overtaken'> {
    const fence = { token: randomBytes(12).toString('base64url'), statements: [] };
    const budget = new RetryBudget();
    for (;;) {
      try {
        await this.#client.batch(this.#batchOf(position, fence), 'write');
        // It is in the log like any other group, and the caller's group can be tried after it.
        return 'overtaken';
      } catch (error) {
        if (isGuard(error)) return this.#fate(position, group, budget, cause);
        if (!(await budget.lasts())) throw new CommitUncertain(cause);
      }
    }
  }

  async #patiently<T>(work: () => Promise<T>): Promise<T> {
    const budget = new RetryBudget();
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const isTemporary = mayPass(error) && !isOfStatement(error);
        if (isTemporary && (await budget.lasts())) continue;
        throw unavailable(5, wrongSetting(error) ?? error);
      }
    }
  }
}

/** The first statement of a batch failed: another group stands at this position. */
function isGuard(error: unknown): boolean {
  return failedIndex(error) === 0 && isOfStatement(error);
}
