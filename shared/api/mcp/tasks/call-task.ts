import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Caller, Change } from '../../../kernel/context.ts';
import type { Answer } from '../../../kernel/executor.ts';
import type { Operation } from '../../../kernel/operation.ts';
import { asServiceError, type ErrorCode } from '../../../lib/errors.ts';
import { isObject } from '../../../lib/guards.ts';
import { IDEMPOTENCY_MS } from '../../../lib/limits.ts';
import { fileUrl } from '../../../operations/file/url.ts';
import { inboxList } from '../../../operations/inbox/list.ts';
import { inboxNext } from '../../../operations/inbox/next.ts';
import { inboxWait, isWanted } from '../../../operations/inbox/wait.ts';
import { answerOf, resultWith } from '../call.ts';
import { withMarks } from '../untrusted.ts';
import { fittingAnswer } from '../fit.ts';
import { isCancelled, requestOf } from './request-task.ts';
import type { CallSite, Task, TaskAccess } from '../tables.ts';
import type { OpenCall } from './task-id.ts';
import { paceOf } from './task-pace.ts';

type Fields = Record<string, unknown>;

/**
 * A call that whoever reads its task makes again. A write goes on under one Idempotency-Key, so that its effect comes
 * once; a wait that only reads finds the same event again.
 */
interface GoingOn {
  /** What the client called. */
  readonly tool: Operation;
  /** What runs for it. */
  readonly operation: Operation;
  /** The field that says how long a reading may wait, and the least of it. */
  readonly field: string;
  readonly least: number;
  /** Whether the answer is still to come. */
  readonly isOpen: (value: Fields) => boolean;
  readonly show: (value: Fields) => Fields;
}

const CALLS: Readonly<Record<string, GoingOn>> = {
  inbox_next: {
    tool: inboxWait,
    operation: inboxNext,
    field: 'timeout_seconds',
    least: 1,
    isOpen: ({ items }) => Array.isArray(items) && items.length === 0,
    show: asWait,
  },
  inbox_wait: {
    tool: inboxWait,
    operation: inboxWait,
    field: 'timeout_seconds',
    least: 1,
    isOpen: ({ event }) => event === null,
    show: (value) => value,
  },
  file_url: {
    tool: fileUrl,
    operation: fileUrl,
    field: 'wait_seconds',
    least: 0,
    isOpen: ({ status }) => status === 'pending',
    show: (value) => value,
  },
};

/** Another reading is under way, or there are too many: the client asks again. */
const BUSY: ReadonlySet<ErrorCode> = new Set(['IDEMPOTENCY_IN_PROGRESS', 'TOO_MANY_WAITS']);

/** What a reading finds: a result, or why there's none: none yet, others read, it was ended, or the caller may not call. */
type TaskState = CallToolResult | 'open' | 'busy' | 'left' | 'denied';

const NOTHING: CallToolResult = resultWith(inboxWait, { value: { event: null } });
/** How often to try to end a wait that others read, and how long apart. */
const LEAVE_TRIES = 100;
const LEAVE_PAUSE_MS = 50;
/** So many ended waits that claim nothing are remembered. */
const LEFT_MAX = 1_000;

/** The calls that go on, as tasks. */
export class CallTasks {
  /** The readings under way, by task. */
  readonly #readings = new Map<string, Set<AbortController>>();
  /** The tasks that are being ended. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** The ended waits that claim nothing: they take nothing from anyone, so no store needs to know. */
  readonly #left = new Set<string>();

  /** The task after a look that waits as long as it may; without any look if that's no time at all. Null for a foreign id. */
  async read(id: string, open: OpenCall, access: TaskAccess): Promise<Task | null> {
    const call = callOf(open, access);
    if (!call) return null;
    const at = new Date(open.at).toISOString();
    const ageMs = Date.now() - open.at;
    const task = { taskId: id, createdAt: at, lastUpdatedAt: at, ttlMs: IDEMPOTENCY_MS };
    const working = { ...task, status: 'working', pollIntervalMs: paceOf(ageMs) } as const;
    if (this.#left.has(id)) return { ...task, status: 'cancelled' };
    if (access.holdMs === 0) return working;
    const isOver = ageMs >= IDEMPOTENCY_MS && call.tool === inboxWait;
    const found = await this.#find(id, open, { call, access, isOver });
    if (found === 'denied') return null;
    if (found === 'left') return { ...task, status: 'cancelled' };
    if (typeof found !== 'string') return { ...task, status: 'completed', result: found };
    const isEmpty = found === 'open' && isOver;
    return isEmpty ? { ...task, status: 'completed', result: NOTHING } : working;
  }

  /** Ends a wait that has no event yet. After that, reading its task claims nothing. */
  async leave(id: string, open: OpenCall, { site }: TaskAccess): Promise<void> {
    if (open.tool === inboxNext.name) {
      const leaving = this.#close(id, site);
      this.#leaving.set(id, leaving);
      return leaving.finally(() => this.#leaving.delete(id));
    }
    this.#left.add(id);
    const [oldest] = this.#left;
    if (this.#left.size > LEFT_MAX && oldest !== undefined) this.#left.delete(oldest);
    this.#interrupt(id);
  }

  async #close(id: string, site: CallSite): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      this.#interrupt(id);
      try {
        await closeWait(id, site);
        return;
      } catch (error) {
        const { code } = asServiceError(error);
        if (code !== 'IDEMPOTENCY_IN_PROGRESS' || tries === LEAVE_TRIES) throw error;
        await sleep(LEAVE_PAUSE_MS);
      }
    }
  }

  #interrupt(id: string): void {
    for (const reading of this.#readings.get(id) ?? []) reading.abort();
  }

  async #find(id: string, open: OpenCall, reading: TaskQuery): Promise<TaskState> {
    const { call, access, isOver } = reading;
    const { site, holdMs } = access;
    // After its time, a wait claims nothing: who has no event by then gets none.
    if (isOver && call.operation === inboxNext && (await closeWait(id, site))) return 'open';
    const seconds = Math.max(call.least, Math.floor(holdMs / 1000));
    const input = { ...open.input, [call.field]: seconds };
    const interrupt = new AbortController();
    const all = this.#readings.get(id) ?? new Set();
    this.#readings.set(id, all.add(interrupt));
    try {
      const signal = AbortSignal.any([site.signal, interrupt.signal]);
      return await lookAt(call, { id, input }, { ...site, signal });
    } catch (error) {
      if (!interrupt.signal.aborted || site.signal.aborted) throw error;
    } finally {
      all.delete(interrupt);
      if (all.size === 0) this.#readings.delete(id);
    }
    if (this.#left.has(id)) return 'left';
    // It may have claimed before it was interrupted.
    await this.#leaving.get(id)?.catch(() => undefined);
    return this.#find(id, open, reading);
  }
}

interface TaskQuery {
  readonly call: GoingOn;
  readonly access: TaskAccess;
  /** The task's time is up. */
  readonly isOver: boolean;
}

/** The call of a task; null if the caller couldn't have begun it here: a connection that only reads begins none. */
function callOf({ tool, keyId }: OpenCall, { site, tools }: TaskAccess): GoingOn | null {
  const call = Object.hasOwn(CALLS, tool) ? CALLS[tool] : undefined;
  return call && keyId === site.caller.keyId && tools.find(call.tool.name)?.start ? call : null;
}

/** The result of the call, or why there is none. A refusal is a result, which the model reads. */
async function lookAt(
  call: GoingOn,
  { id, input }: { readonly id: string; readonly input: Fields },
  site: CallSite,
): Promise<TaskState> {
  const { tool, operation, isOpen, show } = call;
  const { executor, signal } = site;
  let answer: Answer;
  try {
    answer = await fittingAnswer(operation, input, (one) =>
      executor.execute(operation, one, underKey(id, call, site), signal),
    );
  } catch (error) {
    const { code, status } = asServiceError(error);
    if (signal.aborted) throw error;
    if (isTaken(error)) return 'left';
    if (BUSY.has(code)) return 'busy';
    if (code === 'SCOPE_MISSING') return 'denied';
    if (status >= 500 || status === 429) throw error;
    return answerOf(tool, site, () => Promise.reject(error));
  }
  const { value } = answer;
  if (!isObject(value)) throw new Error(`${operation.name} answered no object.`);
  if (isOpen(value)) return 'open';
  if (tool === fileUrl && (await wasCancelled(value, site))) return 'left';
  const result = resultWith(tool, { value: show(value) });
  const marks = hash('sha256', `marks ${id}`);
  const content = result.content.map((one) =>
    one.type === 'text' ? { ...one, text: withMarks(one.text, marks) } : one,
  );
  return { ...result, content };
}

function underKey(id: string, { operation }: GoingOn, { caller }: CallSite): Caller {
  return operation.effect === 'write' ? { ...caller, idempotencyKey: keyOf(id) } : caller;
}

function keyOf(id: string): string {
  return `task ${hash('sha256', id)}`;
}

/** Whether nobody has claimed for the task, and nobody will. */
async function closeWait(id: string, { executor, caller, signal }: CallSite): Promise<boolean> {
  try {
    const called = { ...caller, idempotencyKey: keyOf(id) };
    await executor.execute(inboxNext, { max: 0 }, called, signal);
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
}

/** Whether another call was made under the Idempotency-Key. */
function isTaken(error: unknown): boolean {
  const { code, details } = asServiceError(error);
  const [first]: unknown[] = Array.isArray(details?.['fields']) ? details['fields'] : [];
  return code === 'VALIDATION_FAILED' && isObject(first) && first['path'] === 'Idempotency-Key';
}

/** Whether the client itself has taken back the question for a link. */
async function wasCancelled({ status, request_id: id }: Fields, site: CallSite): Promise<boolean> {
  if (status !== 'expired') return false;
  const request = await requestOf(String(id), site);
  return request !== null && isCancelled(request);
}

/** Whether a change may be the answer of the call, or bring it. */
export function concernsCall({ tool, input }: OpenCall, change: Change): boolean {
  if (tool === fileUrl.name) return change.kind === 'request' && change.id === input['approval'];
  const { source, type } = input;
  return isWanted(change, { source: textOf(source), type: textOf(type) });
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Whether a reading may find the answer now, as far as can be told without one. */
export async function isReady({ tool, input }: OpenCall, site: CallSite): Promise<boolean> {
  if (tool === fileUrl.name) {
    return (await requestOf(String(input['approval']), site))?.status !== 'pending';
  }
  const { executor, caller, signal } = site;
  const { source, type, since, mine } = input;
  const filter = { source, type, since, mine, brief: true, limit: 1 };
  try {
    const { value } = await executor.execute(inboxList, filter, caller, signal);
    return isObject(value) && Array.isArray(value['items']) && value['items'].length > 0;
  } catch (error) {
    // A key that may claim needn't be one that may list.
    if (asServiceError(error).code === 'SCOPE_MISSING') return true;
    throw error;
  }
}

/** The answer of `inbox_next` in the form of `inbox_wait`. */
export function asWait(value: unknown): Fields {
  const { items, ...rest } = isObject(value) ? value : {};
  const [event = null]: unknown[] = Array.isArray(items) ? items : [];
  return { event, ...rest };
}
