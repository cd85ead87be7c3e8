import type { Work } from '../../../cli/commands/inbox/work.ts';
import type { WorkResult } from '../../../cli/work/work-event.ts';
import type { FakeClient } from './fakes.ts';

/** A worker of a fake inbox, and what it finished. */
export function workerOf(client: FakeClient, command: string, given: Partial<Work> = {}) {
  const finished: WorkResult[] = [];
  const notes: string[] = [];
  const options: Work = {
    client,
    command,
    env: process.env,
    leaseSeconds: 300,
    source: undefined,
    type: undefined,
    mine: false,
    concurrency: 1,
    max: Infinity,
    drain: true,
    signal: new AbortController().signal,
    kill: new AbortController().signal,
    note: (text) => void notes.push(text),
    onPrinted: () => undefined,
    onFinished: (one) => void finished.push(one),
    ...given,
  };
  return { options, finished, notes };
}
