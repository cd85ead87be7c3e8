import type { ServerInfo } from '../../../shared/kernel/context.ts';
import type { Effect } from '../context/job.ts';
import type { PlainError } from './plain-error.ts';
import type { CommandName } from '../commands.ts';
import type { WritableProject } from './writers.ts';

/** The start data of the writer thread. */
export interface ThreadData {
  readonly masterKey: Uint8Array;
  readonly server: ServerInfo;
}

/** A call of `Writers`, for the writer thread. Requests travel in batches, and each gets a reply. */
export type Request =
  | { readonly id: number; readonly kind: 'open'; readonly project: WritableProject }
  | {
      readonly id: number;
      readonly kind: 'run';
      readonly projectId: string;
      readonly name: CommandName;
      readonly input: unknown;
    }
  | {
      readonly id: number;
      readonly kind: 'follow' | 'copyBase' | 'catchUp' | 'rotate' | 'closeProject';
      readonly projectId: string;
    };

/** The results since the last batch. They are pairs, because objects would send their property names each time. */
export interface Batch {
  /** By project. The receiver applies them before it settles the requests that caused them. */
  readonly effects: [projectId: string, effect: Effect][];
  readonly done: [id: number, value: unknown][];
  readonly failed: [id: number, error: PlainError][];
  /** Set if the thread can't write any more. */
  fatal: PlainError | null;
}
