import { hash } from 'node:crypto';
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Answer } from '../../kernel/executor.ts';
import type { Operation } from '../../kernel/operation.ts';
import { asServiceError, type ErrorCode } from '../../lib/errors.ts';
import { isObject } from '../../lib/guards.ts';
import { IDEMPOTENCY_MS } from '../../lib/limits.ts';
import { fileUrl } from '../../operations/file/url.ts';
import { inboxNext } from '../../operations/inbox/next.ts';
import { inboxWait } from '../../operations/inbox/wait.ts';
import { answerOf, resultWith } from './call.ts';
import { withMarks } from './fence.ts';
import type { CallSite, Task, TaskAccess } from './tables.ts';
import { openCallOf } from './task-id.ts';
import { paceOf } from './task-pace.ts';

type Fields = Record<string, unknown>;

/** A call that goes on under one Idempotency-Key: whoever reads its task makes it again, and its effect comes once. */
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
  inbox_wait: {
    tool: inboxWait,
    operation: inboxNext,
    field: 'timeout_seconds',
    least: 1,
    isOpen: ({ items }) => Array.isArray(items) && items.length === 0,
    show: asWait,
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

/** The task after a look that waits as long as it may; without any look if that's no time at all. Null for a foreign id. */
export async function readCallTask(id: string, access: TaskAccess): Promise<Task | null> {
  const { site, tools, holdMs } = access;
  const open = openCallOf(id);
  const call = open && callOf(open.tool);
  if (!open || !call || open.keyId !== site.caller.keyId || !tools.find(open.tool)) return null;
  const at = new Date(open.at).toISOString();
  const ageMs = Date.now() - open.at;
  const task = { taskId: id, createdAt: at, lastUpdatedAt: at, ttlMs: IDEMPOTENCY_MS };
  const working = { ...task, status: 'working', pollIntervalMs: paceOf(ageMs) } as const;
  if (holdMs === 0) return working;
  const seconds = Math.max(call.least, Math.floor(holdMs / 1000));
  const result = await lookAt(call, { id, input: { ...open.input, [call.field]: seconds } }, site);
  if (result === null) return null;
  if (result === 'busy') return working;
  if (result === 'open' && ageMs < IDEMPOTENCY_MS) return working;
  return { ...task, status: 'completed', result: result === 'open' ? NOTHING : result };
}

const NOTHING: CallToolResult = resultWith(inboxWait, { value: { event: null } });

/** The result of the call, or why there is none; null if the caller may not call. Any other refusal is a result, which the model reads. */
async function lookAt(
  { tool, operation, isOpen, show }: GoingOn,
  { id, input }: { readonly id: string; readonly input: Fields },
  site: CallSite,
): Promise<CallToolResult | 'open' | 'busy' | null> {
  const { executor, caller, signal } = site;
  const idempotencyKey = `task ${hash('sha256', id)}`;
  let answer: Answer;
  try {
    answer = await executor.execute(operation, input, { ...caller, idempotencyKey }, signal);
  } catch (error) {
    const { code, status } = asServiceError(error);
    if (BUSY.has(code)) return 'busy';
    if (code === 'SCOPE_MISSING') return null;
    if (status >= 500 || status === 429) throw error;
    return answerOf(tool, site, () => Promise.reject(error));
  }
  const { value } = answer;
  if (isObject(value) && isOpen(value)) return 'open';
  const result = resultWith(tool, { value: isObject(value) ? show(value) : value });
  const marks = hash('sha256', `marks ${id}`);
  const content = result.content.map((one) =>
    one.type === 'text' ? { ...one, text: withMarks(one.text, marks) } : one,
  );
  return { ...result, content };
}

function callOf(name: string): GoingOn | undefined {
  return Object.hasOwn(CALLS, name) ? CALLS[name] : undefined;
}

/** The answer of `inbox_next` in the form of `inbox_wait`. */
export function asWait(value: unknown): Fields {
  const { items, ...rest } = isObject(value) ? value : {};
  const [event = null]: unknown[] = Array.isArray(items) ? items : [];
  return { event, ...rest };
}
