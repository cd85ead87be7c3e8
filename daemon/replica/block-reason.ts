import { SourceError } from './sync/source-error.ts';
import type { ReplicaState } from './status.ts';
import { SyncError } from './sync/sync-failure.ts';

/** The gateway and the daemon use different database schemas. */
export class UnsupportedError extends Error {
  constructor(gateways: number, own: number) {
    const older = gateways > own ? 'svc here' : 'the gateway';
    super(`The gateway uses schema ${gateways}, this release ${own}: update ${older}.`);
  }
}

/** What a failure to follow the gateway means, and what to do about it. */
export interface BlockReason {
  readonly state: ReplicaState;
  /** For people. */
  readonly detail: string;
  readonly code: string | null;
  readonly remedy:
    /** Try again soon. */
    | 'connect'
    /** Try again later: an immediate retry wouldn't help. */
    | 'repair'
    /** Copy the database again soon. */
    | 'copy'
    /** Remove the replica; ask the gateway again now and then. */
    | 'remove'
    /** Ask the gateway again now and then. */
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
    case 'limited': {
      const limited =
        'This key is limited to prefixes of the disk; a replica is the whole project.';
      return { state: 'none', detail: limited, code, remedy: 'remove' };
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
      // The next connection's first call shows if the key is still valid.
      return 'connect';
    default:
      return 'repair';
  }
}
