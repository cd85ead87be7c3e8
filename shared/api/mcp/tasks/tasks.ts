import type { Change } from '../../../kernel/context.ts';
import { emailSend } from '../../../operations/email/send.ts';
import { fileUrl } from '../../../operations/file/url.ts';
import { CallTasks, concernsCall, isReady } from './call-task.ts';
import { readMailTask } from './mail-task.ts';
import { News } from './news.ts';
import { readRequestTask, withdrawRequest } from './request-task.ts';
import type { Task, TaskAccess, TaskTable } from '../tables.ts';
import { isCallTask, openCallOf, type OpenCall } from './task-id.ts';

/** In milliseconds: at once, whatever a client takes a zero for. */
const AT_ONCE_MS = 1;

/**
 * Calls that wait as tasks (SEP-2663). The task of a question has the id of its request, so it needs nothing of its own.
 * Calls that go on have ids that say with what.
 */
export class ServiceTasks implements TaskTable {
  readonly #calls = new CallTasks();

  async get(id: string, access: TaskAccess): Promise<Task | null> {
    const open = openCallOf(id);
    if (open && !isMail(open)) return this.#calls.read(id, open, access);
    const look = () => this.#look(id, open, access);
    const first = await look();
    if (!first || isEnded(first) || access.holdMs === 0) return first;
    const news = await News.of(access, (change) => this.concerns(id, change));
    // It may have ended before the news began. Without news, the client asks again.
    let latest = await look();
    while (latest && !isEnded(latest) && (await news?.next())) latest = await look();
    news?.end();
    return latest;
  }

  async news(id: string, access: Omit<TaskAccess, 'holdMs'>): Promise<Task | null> {
    const task = await this.get(id, { ...access, holdMs: 0 });
    if (!task || isEnded(task)) return task;
    const open = openCallOf(id);
    const hasAnswer = open && !isMail(open) && (await isReady(open, access.site));
    return hasAnswer ? { ...task, statusMessage: READY, pollIntervalMs: AT_ONCE_MS } : null;
  }

  concerns(id: string, change: Change | null): boolean {
    if (change === null) return true;
    const open = openCallOf(id);
    if (open && !isMail(open)) return concernsCall(open, change);
    return change.kind === 'request' && change.id === (open?.input['request_id'] ?? id);
  }

  async cancel(id: string, access: TaskAccess): Promise<boolean> {
    const task = await this.get(id, { ...access, holdMs: 0 });
    if (!task || isEnded(task)) return task !== null;
    const open = openCallOf(id);
    const request = open ? requestIn(open) : id;
    if (request !== null) await withdrawRequest(request, access.site);
    else if (open) await this.#calls.leave(id, open, access);
    return true;
  }

  /** Our tasks ask their client nothing, and answers to unknown questions are ignored. */
  async update(id: string, _answers: unknown, access: TaskAccess): Promise<boolean> {
    return (await this.get(id, { ...access, holdMs: 0 })) !== null;
  }

  async #look(id: string, open: OpenCall | null, access: TaskAccess): Promise<Task | null> {
    if (open) return readMailTask(id, open, access);
    return isCallTask(id) ? null : readRequestTask(id, access);
  }
}

const READY = 'tasks/get has the answer.';

export function isEnded({ status }: Task): boolean {
  return status !== 'working' && status !== 'input_required';
}

function isMail({ tool }: OpenCall): boolean {
  return tool === emailSend.name;
}

/** The request that the answer of a call depends on; null for a wait. */
function requestIn({ tool, input }: OpenCall): string | null {
  const given = { [emailSend.name]: input['request_id'], [fileUrl.name]: input['approval'] };
  const request = given[tool];
  return typeof request === 'string' ? request : null;
}
