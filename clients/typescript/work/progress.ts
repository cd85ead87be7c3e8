import { messageOf } from '../core/errors.ts';
import type { EventFilter } from '../core/event-feed.ts';
import { isObject } from '../../../shared/lib/guards.ts';
import type { Finished } from './worker.ts';

/** What a worker says of its work, one line each. */
export interface Progress {
  readonly waiting: (filter: EventFilter) => void;
  readonly claimed: (event: EventName) => void;
  readonly finished: (finished: Finished) => void;
  /** Stopped while handlers run. */
  readonly stopping: (running: number) => void;
}

interface EventName {
  readonly id: string;
  readonly type: string;
  readonly source: string;
}

/** Says it to `log`, otherwise on standard error if that's a terminal. */
export function progress(log: ((line: string) => void) | undefined = terminalLog()): Progress {
  const say = (line: string): void => log?.(safeLine(line));
  return {
    waiting: ({ source, type }) => {
      const from = source === undefined ? '' : ` from ${source}`;
      say(`Waiting for ${type === undefined ? '' : `${type} `}events${from} …`);
    },
    claimed: ({ id, type, source }) => say(`${id} claimed: ${type} from ${source}`),
    finished: (finished) => say(`${finished.event.id} ${outcomeText(finished)}`),
    stopping: (running) =>
      say(
        running === 1
          ? 'Waiting for 1 running handler. Press Ctrl-C again to give its event back.'
          : `Waiting for ${running} running handlers. Press Ctrl-C again to give their events back.`,
      ),
  };
}

function terminalLog(): ((line: string) => void) | undefined {
  const stderr = globalThis.process?.stderr;
  return stderr?.isTTY ? (line) => void stderr.write(`svc: ${line}\n`) : undefined;
}

function outcomeText({ outcome, error, retry_at, waiting_for }: Finished): string {
  const because = error === undefined ? '' : `: ${messageOf(error)}`;
  switch (outcome) {
    case 'acked':
      return 'done';
    case 'parked':
      return `parked until ${namesOf(waiting_for)}`;
    case 'retry':
      return `failed, and is tried again${retry_at === null ? '' : ` at ${retry_at}`}${because}`;
    case 'dead':
      return `dead${because}`;
    case 'returned':
      return 'given back, not counted as a failure';
    case 'lost':
      return 'lost: its lease ended first';
  }
}

function namesOf(waitingFor: unknown): string {
  const ids = (Array.isArray(waitingFor) ? waitingFor : []).flatMap((one: unknown) =>
    isObject(one) && typeof one['id'] === 'string' ? [one['id']] : [],
  );
  return ids.length === 0 ? 'something ends' : ids.join(', ');
}

/** On one line, and without what a terminal would obey: outsiders write types and reasons. */
function safeLine(text: string): string {
  return text.replaceAll(/\s*[\r\n]+\s*/g, ' ').replaceAll(/\p{Cc}/gu, '�');
}
