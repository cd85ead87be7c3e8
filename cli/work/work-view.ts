import { isObject } from '../../shared/lib/guards.ts';
import type { Output } from '../view/output.ts';
import { plainText, safeJson } from '../view/terminal-text.ts';
import type { FeedEvent } from '../../clients/typescript/core/event-feed.ts';
import type { WorkResult } from './work-event.ts';

const INDENT = '  ';

/** Shows the work: on a terminal each command's output and result, otherwise one line of JSON per event. */
export class WorkView {
  readonly #output: Output;
  /** The event whose output was shown last. */
  #shown: string | null = null;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Prints one line of a command's output, with a heading if the last output was another event's. */
  printed({ id, type }: FeedEvent, line: string): void {
    // In JSON, the output is in the result.
    if (this.#output.json) return;
    if (this.#shown !== id) this.#output.line(`${clock()}  ${id}  ${type}`);
    this.#shown = id;
    this.#output.line((INDENT + line).trimEnd());
  }

  finished(event: WorkResult): void {
    this.#shown = null;
    this.#output.line(this.#output.json ? safeJson(event, 0) : readable(event));
  }
}

function readable(event: WorkResult): string {
  const { event_id, type, duration_ms } = event;
  return `${clock()}  ${event_id}  ${type}  ${outcomeText(event)}  ${duration_ms} ms`;
}

function outcomeText({ outcome, exit_code, signal, waiting_for }: WorkResult): string {
  const how = signal ?? (exit_code === null ? 'not started' : `exit ${exit_code}`);
  switch (outcome) {
    case 'acked':
      return 'done';
    case 'retry':
      return `failed (${how}), will be retried`;
    case 'dead':
      return `dead (${how})`;
    case 'lost':
      return `lost (${how})`;
    case 'parked':
      return waitText(waiting_for);
    case 'returned':
      return `returned (${how}), not counted as a failure`;
  }
}

/** `parked, waits for req_…` */
function waitText(waitingFor: unknown): string {
  const all = (Array.isArray(waitingFor) ? waitingFor : []).filter(isObject);
  const open = all.filter(({ status }) => status === 'pending');
  const ids = open.map(({ id }) => plainText(id)).join(', ');
  return ids === '' ? 'parked' : `parked, waits for ${ids}`;
}

function clock(): string {
  return new Date().toTimeString().slice(0, 8);
}
