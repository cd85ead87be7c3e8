import { SourceError } from './source-error.ts';
import type { ReplicaState } from './status.ts';
import { SyncError } from './sync-failure.ts';

/** Gateway and daemon do not know the same tables. */
export class UnsupportedError extends Error {}

/** What an error in following the gateway means, and what is to be done. */
export interface BlockReason {
  readonly state: ReplicaState;
  /** For people. */
  readonly detail: string;
  readonly code: string | null;
  readonly remedy:
    /** Try again soon. */
    | 'connect'
    /** Try again later: more of the same would help nobody. */
    | 'repair'
    /** The copy is to be made anew, before long. */
    | 'copy'
    /** The copy is to be removed; ask now and then whether that has changed. */
    | 'remove'
    /** There is nothing to copy: a copy is to be removed. Ask seldom whether that has changed. */
    | 'do-without'
    /** Ask now and then whether that has changed. */
    | 'ask';
}

export function blockReasonOf(error: unknown): BlockReason {
  const detail = error instanceof Error ? error.message : String(error);
  if (error instanceof SourceError) return ofSource(error);
  if (error instanceof UnsupportedError) {
    return { state: 'unsupported', detail, code: null, remedy: 'ask' };
  }
  return { state: 'connecting', detail, code: null, remedy: remedyOf(error) };
}

function ofSource({ fault, message: detail, code }: SourceError): BlockReason {
  switch (fault) {
    case 'refused':
      return { state: 'refused', detail, code, remedy: 'remove' };
    case 'none': {
      const none = "This gateway's store doesn't support replicas.";
      return { state: 'none', detail: none, code: null, remedy: 'do-without' };
    }
    case 'missing': {
      const missing = 'This gateway is too old for replicas: update it.';
      return { state: 'unsupported', detail: missing, code: null, remedy: 'ask' };
    }
    case 'unreachable':
      return { state: 'offline', detail, code: null, remedy: 'connect' };
    default:
      return { state: 'connecting', detail, code: null, remedy: 'connect' };
  }
}

function remedyOf(error: unknown): BlockReason['remedy'] {
  if (!(error instanceof SyncError)) return 'repair';
  switch (error.failure) {
    case 'damaged':
    case 'lost':
      return 'copy';
    case 'refused':
      // Whether the key is still good is for the next first question to tell.
      return 'connect';
    default:
      return 'repair';
  }
}
