import type { ServerInfo } from '../../shared/kernel/context.ts';
import type { Effect } from './job.ts';
import type { PlainError } from './plain-error.ts';
import type { CommandName } from './commands.ts';
import type { WritableProject } from './writers.ts';

/** What the writer's thread is started with. */
export interface ThreadData {
  readonly masterKey: Uint8Array;
  readonly server: ServerInfo;
}

/** One thing asked of the writer's thread. They travel in batches, and each gets a reply. */
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
      readonly kind: 'follow' | 'copyBase' | 'rotate' | 'close';
      readonly projectId: string;
    };

/** What came of requests since the last batch. Pairs, because names would travel with each object. */
export interface Batch {
  /** By project. They come before the answers to what had them. */
  readonly effects: [projectId: string, effect: Effect][];
  readonly done: [id: number, value: unknown][];
  readonly failed: [id: number, error: PlainError][];
  /** Set when nothing more can be written. */
  fatal: PlainError | null;
}
