import { randomBytes } from 'node:crypto';
import type { Client, InStatement } from '@libsql/client/http';
import { beside } from '../../lib/beside.ts';
import { unavailable } from '../../lib/errors.ts';
import { LAST_GROUP_QUERY, LAST_GROUP_SQL, POSITION_QUERY } from '../tables/meta.ts';
import {
  UncertainCommitError,
  OutdatedMirrorError,
  type Authority,
  type GroupPosition,
  type LoggedGroup,
} from './mirror.ts';
import type { Afresh } from './client.ts';
import {
  failedIndex,
  isAnswer,
  isOfStatement,
  mayPass,
  neverConnected,
  wrongSetting,
} from './failure.ts';
import { decodeStatements, encodeStatements, LOG_TABLE } from './group-log.ts';
import { patiently, RetryBudget } from './retry.ts';
import { toStatement } from './values.ts';

/** Larger groups aren't kept in the log. */
const LOGGED_MAX_BYTES = 1024 * 1024;
/** About how many bytes of groups the log keeps, and at most how many groups. */
const LOG_MAX_BYTES = 32 * 1024 * 1024;
const LOG_MAX_GROUPS = 4096;
/** A request without an answer for this long is repeated over a new connection, if the server answers there. */
const ALONE_MS = 500;
/** Groups have what was deleted since, so none stays longer than this. How often to look for older ones. */
const LOG_MAX_AGE_MS = 86_400_000;
const PRUNE_EVERY_MS = 3_600_000;
/** How many groups travel in one answer, and about how many bytes: `sqld` refuses answers of more than 10 MB. */
const GROUPS_PER_ANSWER = 64;
const BYTES_PER_ANSWER = 4 * 1024 * 1024;

/** Increments the position, but only after the expected group: NOT NULL makes it fail otherwise. */
const GUARD_SQL = `UPDATE meta SET value =
  CASE WHEN value = ? AND (SELECT value FROM meta WHERE name = 'last_group') IS ? THEN value + 1 END
  WHERE name = 'commit_seq'`;
const LOG_SQL = `INSERT INTO ${LOG_TABLE} (position, token, follows, logged_at, statements)
  VALUES (?, ?, (SELECT value FROM meta WHERE name = 'last_group'), ?, ?)`;
const PRUNE_SQL = `DELETE FROM ${LOG_TABLE} WHERE position <= ?`;
const PRUNE_OLD_SQL = `DELETE FROM ${LOG_TABLE} WHERE logged_at < ?`;
const AFTER_SQL = `SELECT token, follows, statements FROM (
    SELECT position, token, follows, statements, sum(length(statements)) OVER (ORDER BY position) AS bytes
    FROM (SELECT * FROM ${LOG_TABLE} WHERE position > ? ORDER BY position LIMIT ${GROUPS_PER_ANSWER}))
  WHERE coalesce(bytes, 0) <= ${BYTES_PER_ANSWER} ORDER BY position`;
const TOKEN_SQL = `SELECT token FROM ${LOG_TABLE} WHERE position = ?`;

interface AuthorityOptions {
  readonly afresh?: Afresh | null;
  /** The database had an older schema until just before. */
  readonly hasMigrated?: boolean;
  /** Unix time in milliseconds. */
  readonly now?: () => number;
}

/**
 * A database on a libSQL server, as the authority of its mirrors. A group travels as one batch that checks the position
 * first, so no transaction is open between two requests, and a gateway that dies or hangs holds no lock.
 */
export class RemoteAuthority implements Authority {
  readonly #client: Client;
  readonly #afresh: Afresh | null;
  /** Sizes of the newest logged groups of this process, and the position of the first one. */
  readonly #sizes: number[] = [];
  #loggedBytes = 0;
  /** The database had an older schema until just before. */
  readonly hasMigrated: boolean;
  readonly #now: () => number;
  #prunedAt = Number.NEGATIVE_INFINITY;
  /** An empty group was committed in place of the last one. */
  #hasSettled = false;

  /** The tables exist. It closes the clients. Without `afresh`, silent requests aren't repeated. */
  constructor(
    client: Client,
    { afresh = null, hasMigrated = false, now = () => Date.now() }: AuthorityOptions = {},
  ) {
    this.#client = client;
    this.#afresh = afresh;
    this.hasMigrated = hasMigrated;
    this.#now = now;
  }

  async accept(after: GroupPosition, group: LoggedGroup): Promise<'accepted' | 'overtaken'> {
    const outcome = await this.#decide(after, group);
    if (outcome !== 'settled') {
      this.#hasSettled = false;
      return outcome;
    }
    // The caller's group can be tried again after the empty one, but only once, because the server may never take it.
    this.#hasSettled = !this.#hasSettled;
    if (this.#hasSettled) return 'overtaken';
    throw unavailable(
      5,
      new Error('The database server answers other requests, but not this one.'),
    );
  }

  async #decide(
    after: GroupPosition,
    group: LoggedGroup,
  ): Promise<'accepted' | 'overtaken' | 'settled'> {
    const batch = this.#batchOf(after, group);
    const budget = new RetryBudget();
    let mayBeUnderWay = false;
    for (;;) {
      try {
        await this.#ask(
          (client) => client.batch(batch, 'write'),
          () => (mayBeUnderWay = true),
        );
        return 'accepted';
      } catch (error) {
        const unsure = { after, group, cause: error, mayBeUnderWay };
        if (isGuard(error)) return await this.#fate(unsure, budget);
        // The mirror could run all of them.
        if (isOfStatement(error))
          throw unavailable(5, new OutdatedMirrorError('', { cause: error }));
        mayBeUnderWay ||= mayPass(error) && !isAnswer(error) && !neverConnected(error);
        // If a request is still under way, the guard lets only one of them in.
        if (mayPass(error) && (await budget.lasts())) continue;
        if (!mayBeUnderWay) throw unavailable(5, wrongSetting(error) ?? error);
        return this.#settle({ ...unsure, mayBeUnderWay });
      }
    }
  }

  async newest(): Promise<GroupPosition> {
    const [seq, last] = await patiently(() =>
      this.#ask((client) => client.batch([POSITION_QUERY, LAST_GROUP_QUERY], 'read')),
    );
    const token = last?.rows[0]?.['value'];
    return {
      position: Number(seq?.rows[0]?.['value']),
      token: typeof token === 'string' ? token : null,
    };
  }

  async after({ position, token }: GroupPosition): Promise<readonly LoggedGroup[] | null> {
    const { rows } = await patiently(() =>
      this.#ask((client) => client.execute({ sql: AFTER_SQL, args: [position] })),
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
    this.#afresh?.client.close();
  }

  /**
   * The server's answer to a request that has one effect however often it arrives: a read, or a group, of which the guard
   * lets one in. Repeats it over new connections while it stays unanswered, and calls `onRepeat` before.
   */
  async #ask<T>(
    run: (client: Client) => Promise<T>,
    onRepeat: () => void = () => undefined,
  ): Promise<T> {
    const afresh = this.#afresh;
    if (!afresh) return run(this.#client);
    const repeat = async (): Promise<T> => {
      onRepeat();
      return run(afresh.client);
    };
    const answer = await beside({
      send: (isAgain) =>
        answered(isAgain ? repeat() : run(this.#client), () => isAgain && afresh.renew()),
      isThere: () => afresh.isThere(),
      aloneMs: ALONE_MS,
    }).catch((error: unknown) => {
      throw error instanceof AggregateError ? (error.errors[0] as unknown) : error;
    });
    if ('refusal' in answer) throw answer.refusal;
    return answer.value;
  }

  #batchOf(after: GroupPosition, { token, statements }: LoggedGroup): InStatement[] {
    const { position } = after;
    const bytes = encodeStatements(statements);
    const kept = bytes.length <= LOGGED_MAX_BYTES ? bytes : null;
    const now = this.#now();
    const log = toStatement(LOG_SQL, [position + 1, token, now, kept]);
    const until = this.#prunedAfter(position, bytes.length);
    return [
      toStatement(GUARD_SQL, [position, after.token]),
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
    const isTooMuch = (): boolean =>
      this.#loggedBytes > LOG_MAX_BYTES || this.#sizes.length > LOG_MAX_GROUPS;
    // The newest one stays: it shows that the group was accepted.
    while (isTooMuch() && this.#sizes.length > 1) {
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

  /** The guard has refused the group: another one is there, or an earlier try of this one was let in. */
  async #fate(
    { after, group, cause, mayBeUnderWay }: Unsure,
    budget: RetryBudget,
  ): Promise<'accepted' | 'overtaken'> {
    for (;;) {
      try {
        const next = toStatement(TOKEN_SQL, [after.position + 1]);
        const { rows } = await this.#ask((client) => client.execute(next));
        if (rows[0]?.['token'] === group.token) return 'accepted';
        if (rows.length > 0 || !mayBeUnderWay) return 'overtaken';
      } catch {
        if (await budget.lasts()) continue;
      }
      // The server didn't answer, or its log no longer has the group after this place, which may have been this one.
      throw new UncertainCommitError(cause);
    }
  }

  /** Commits an empty group in its place, so that a request still under way can't be let in any more. */
  async #settle(unsure: Unsure): Promise<'accepted' | 'overtaken' | 'settled'> {
    const fence = { token: randomBytes(12).toString('base64url'), statements: [] };
    const batch = this.#batchOf(unsure.after, fence);
    const budget = new RetryBudget();
    for (;;) {
      try {
        await this.#ask((client) => client.batch(batch, 'write'));
        return 'settled';
      } catch (error) {
        if (isGuard(error)) return this.#fate(unsure, budget);
        if (!(await budget.lasts())) throw new UncertainCommitError(unsure.cause);
      }
    }
  }
}

type ServerAnswer<T> = { readonly value: T } | { readonly refusal: unknown };

/** What the server said, if only that it refuses; rejects if it said nothing. */
async function answered<T>(request: Promise<T>, onAnswer: () => void): Promise<ServerAnswer<T>> {
  const answer = await request.then(
    (value) => ({ value }),
    (error: unknown) => {
      if (isAnswer(error) || isOfStatement(error)) return { refusal: error };
      throw error;
    },
  );
  onAnswer();
  return answer;
}

/** A group that the server may have accepted. */
interface Unsure {
  readonly after: GroupPosition;
  readonly group: LoggedGroup;
  readonly cause: unknown;
  readonly mayBeUnderWay: boolean;
}

/** The first statement of a batch failed: another group stands at this position. */
function isGuard(error: unknown): boolean {
  return failedIndex(error) === 0 && isOfStatement(error);
}
