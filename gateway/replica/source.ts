import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '../../shared/lib/errors.ts';
import type { Project } from '../projects/project.ts';
import type { FrameRange } from './log-file.ts';

/** What one answer carries at most; the client asks for half of it. */
export const FRAMES_MAX = 256;

/** Where a project stands. */
export interface SourcePosition {
  /** Names one history of the log. */
  readonly epoch: string;
  /** The one that is being written, from 1. */
  readonly generation: number;
  /** The number of a commit that was the newest one, or came after it, when it was asked for. */
  readonly position: number;
}

/** Frames that a replica asks for: of a generation in a history of the log. */
export interface WantedFrames extends FrameRange {
  readonly epoch: string;
  readonly generation: number;
}

/** What there is of them. */
export type FoundFrames =
  | { readonly frames: Buffer; readonly release: () => void }
  /** None yet; and the generation that is being written. */
  | { readonly newest: number };

export interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** A database file to be sent, once. */
export interface Copy {
  readonly sizeBytes: number;
  /** Answers with it, from the headers to the end, as fast as the client takes it. */
  readonly send: (
    exchange: Exchange,
    status: number,
    headers: Readonly<Record<string, string>>,
  ) => Promise<void>;
}

/**
 * What replicas are made of: the copy of the file that a generation of the log begins with, and the frames of the log.
 * Everything may reject with UNAVAILABLE, and where there are no replicas at all with NOT_FOUND (`no_replica`).
 */
export interface ReplicaSource {
  /** Where the log stands, which is kept from here on. */
  place(project: Project): Promise<SourcePosition>;
  /** The generation that is being written. NOT_FOUND in another history. */
  generation(project: Project, epoch: string): Promise<number>;
  /**
   * The file as it stood when the generation began. NOT_FOUND for another than that at hand, unless it is still there.
   * UNAVAILABLE while many others are being sent.
   */
  copy(project: Project, epoch: string, generation: number): Promise<Copy>;
  /**
   * Frames from the first wanted one on, at least one of them. Whoever gets them calls `release` when they are sent.
   * NOT_FOUND for a replica of another history, or one that was away for too long: it has to be copied anew.
   */
  frames(project: Project, wanted: WantedFrames): Promise<FoundFrames>;
}

/** For whoever asks for what is not in the log. */
export function elsewhere(): ServiceError {
  return new ServiceError('NOT_FOUND', {
    hint: 'The log has no such position. Call GET /v1/replica and copy the project again.',
  });
}

/** For whoever asks where nobody may have a replica. */
export function noReplicas(): ServiceError {
  return new ServiceError('NOT_FOUND', {
    details: { reason: 'no_replica' },
    hint: "This gateway's store offers no replicas. Send every call to the gateway.",
  });
}
