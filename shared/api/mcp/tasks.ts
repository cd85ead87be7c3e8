import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Operation } from '../../kernel/operation.ts';
import { asServiceError, type ErrorCode } from '../../lib/errors.ts';
import { stringifyExact } from '../../lib/exact-json.ts';
import { withdrawnBecause } from '../../rules/request-state.ts';
import { askApproval } from '../../operations/ask/approval.ts';
import { askHuman } from '../../operations/ask/human.ts';
import type { RequestRecord } from '../../operations/request/record.ts';
import { requestStatus } from '../../operations/request/status.ts';
import { requestWithdraw } from '../../operations/request/withdraw.ts';
import { policySet } from '../../operations/policy/set.ts';
import { resultWith } from './call.ts';
import { readCallTask } from './call-task.ts';
import type { Task, TaskAccess, TaskTable } from './tables.ts';
import { isCallTask } from './task-id.ts';
import { paceOf } from './task-pace.ts';

/** The operation whose call a request answers. The other kinds of requests are no tasks. */
const ASKING: Readonly<Record<string, Operation>> = {
  approval: askApproval,
  question: askHuman,
  policy: policySet,
};

/** Nobody may learn from an error that there is such a request. */
const UNKNOWN_CODES: ReadonlySet<ErrorCode> = new Set([
  'NOT_FOUND',
  'SCOPE_MISSING',
  'VALIDATION_FAILED',
]);
const CANCELLED = 'the agent cancelled its task.';

/**
 * The questions to people as tasks (SEP-2663): a task's id is its request's, so a task needs nothing of its own. Calls
 * that go on have ids that say with what.
 */
export class RequestTasks implements TaskTable {
  async get(id: string, access: TaskAccess): Promise<Task | null> {
    if (isCallTask(id)) return readCallTask(id, access);
    const look = async () => taskOf(await recordOf(id, access));
    const first = await look();
    if (!first || isEnded(first) || access.holdMs === 0) return first;
    const news = await News.of(id, access);
    // It may have ended before the news began. Without news, the client asks again.
    let latest = await look();
    while (latest && !isEnded(latest) && (await news?.next())) latest = await look();
    news?.end();
    return latest;
  }

  async cancel(id: string, access: TaskAccess): Promise<boolean> {
    const task = await this.get(id, { ...access, holdMs: 0 });
    if (!task) return false;
    // What nobody reads claims nothing.
    if (isCallTask(id)) return true;
    const { executor, caller, signal } = access.site;
    const input = { request_id: id, reason: CANCELLED };
    if (!isEnded(task)) await executor.execute(requestWithdraw, input, caller, signal);
    return true;
  }

  /** Our tasks ask their client nothing, and answers to unknown questions are ignored. */
  async update(id: string, _answers: unknown, access: TaskAccess): Promise<boolean> {
    return (await this.get(id, { ...access, holdMs: 0 })) !== null;
  }
}

export function isEnded({ status }: Task): boolean {
  return status !== 'working' && status !== 'input_required';
}

/** The request behind a task; null if there's none that the caller may read, or that this connection may ask. */
async function recordOf(id: string, { site, tools }: TaskAccess): Promise<RequestRecord | null> {
  const { executor, caller, signal } = site;
  try {
    const { value } = await executor.execute(requestStatus, { request_id: id }, caller, signal);
    const record = value as RequestRecord;
    const asking = ASKING[record.kind];
    return asking && tools.find(asking.name) ? record : null;
  } catch (error) {
    if (UNKNOWN_CODES.has(asServiceError(error).code)) return null;
    throw error;
  }
}

function taskOf(record: RequestRecord | null): Task | null {
  if (!record) return null;
  const { request_id: taskId, status, created_at: createdAt, decided_at: decidedAt } = record;
  const askedAt = Date.parse(createdAt);
  const ttlMs = Math.max(1, Date.parse(record.expires_at) - askedAt);
  const task = { taskId, createdAt, lastUpdatedAt: decidedAt ?? createdAt, ttlMs };
  if (status === 'pending') {
    const ageMs = Date.now() - askedAt;
    return { ...task, status: 'working', pollIntervalMs: paceOf(ageMs) };
  }
  if (withdrawnBecause(record.hint) === CANCELLED) return { ...task, status: 'cancelled' };
  return { ...task, status: 'completed', result: resultOf(record) };
}

/** The answer of the call that asked, had it waited. It's the same at each reading, whichever copy gives it. */
function resultOf(record: RequestRecord): CallToolResult {
  const { request_id, status, decision, comment, hint, decided_by, state_ref, expires_at } = record;
  const value = {
    request_id,
    status,
    decision,
    comment,
    hint: hint ?? nextStep(record),
    decided_by,
    state_ref,
    expires_at,
    poll_after_seconds: null,
    // A proposal with warnings is no task.
    ...(record.kind === 'policy' && { warnings: [] }),
  };
  return resultWith(ASKING[record.kind] ?? askApproval, { value });
}

/** What an agent does that may have forgotten its question. */
function nextStep({ kind, status, summary, decision, bind }: RequestRecord): string {
  const asked = JSON.stringify(summary);
  if (kind === 'question') return `This is the answer to ${asked}: go on with it.`;
  if (kind === 'policy' && status === 'approved') return 'The new policy is in force.';
  if (status === 'denied') return `${asked} was denied: don't do it.`;
  const choice = status === 'modified' ? ` with the option ${JSON.stringify(decision)}` : '';
  const values = bind === null ? '' : `, with exactly these values: ${stringifyExact(bind)}`;
  return `${asked} was approved${choice}: do it now${values}.`;
}

/** Waits for changes of a request, as long as a task may be held. */
class News {
  readonly #over = new AbortController();
  readonly #until: AbortSignal;
  #leave: () => void = () => undefined;
  #hasNews = false;
  #wake: () => void = () => undefined;

  private constructor({ site, holdMs }: TaskAccess) {
    this.#until = AbortSignal.any([site.signal, this.#over.signal, AbortSignal.timeout(holdMs)]);
    this.#until.addEventListener('abort', () => this.#wake(), { once: true });
  }

  /** Null if this caller can't follow the project now. */
  static async of(id: string, access: TaskAccess): Promise<News | null> {
    const news = new News(access);
    const { executor, caller } = access.site;
    try {
      news.#leave = await executor.follow(caller, {
        changed: (change) => {
          if (change === null || (change.kind === 'request' && change.id === id)) news.#tell();
        },
        ended: () => news.#over.abort(),
      });
      return news;
    } catch {
      return null;
    }
  }

  /** False once it has been held for long enough. */
  async next(): Promise<boolean> {
    if (!this.#hasNews && !this.#until.aborted) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    const { aborted } = this.#until;
    this.#hasNews = false;
    return !aborted;
  }

  end(): void {
    this.#leave();
  }

  #tell(): void {
    this.#hasNews = true;
    this.#wake();
  }
}
