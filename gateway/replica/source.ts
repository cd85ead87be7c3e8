import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '../../shared/lib/errors.ts';
import type { Project } from '../projects/project.ts';
import type { FrameRange } from './log-file.ts';

/** The most frames in one answer; the client asks for half as many. */
export const FRAMES_MAX = 256;

/** A project's current position. */
export interface SourcePosition {
  /** Names one history of the log. */
  readonly epoch: string;
  /** The current generation, from 1. */
  readonly generation: number;
  /** A commit number that is at least the newest one at the time of the call. */
  readonly position: number;
}

/** The frames that a replica asks for, in a generation of one history. */
export interface WantedFrames extends FrameRange {
  readonly epoch: string;
  readonly generation: number;
}

/** The frames found. */
export type FoundFrames =
  | { readonly frames: Buffer; readonly release: () => void }
  /** No frames yet; the current generation. */
  | { readonly newest: number };

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** A database file to send once. */
export interface Copy {
  readonly sizeBytes: number;
  /** Sends the whole answer, headers included, as fast as the client reads it. */
  readonly send: (
    exchange: Exchange,
    status: number,
    headers: Readonly<Record<string, string>>,
  ) => Promise<void>;
}

/**
 * The data that replicas are built from: the file at the start of a generation, and the log's frames. Every method may reject
 * with UNAVAILABLE.
 */
export interface ReplicaSource {
  /** The log's position; from now on the log is kept. */
  position(project: Project): Promise<SourcePosition>;
  /** The current generation. NOT_FOUND in another history. */
  generation(project: Project, epoch: string): Promise<number>;
  /**
   * The file as of the start of a generation. NOT_FOUND for a generation that is neither current nor still kept. UNAVAILABLE
   * while many copies are being sent.
   */
  copy(project: Project, epoch: string, generation: number): Promise<Copy>;
  /**
   * At least one frame, starting with the first wanted one. Call `release` once they are sent. NOT_FOUND for a replica of
   * another history, or one that was away too long and must copy the project again.
   */
  frames(project: Project, wanted: WantedFrames): Promise<FoundFrames>;
}

/** The error for a position that isn't in the log. */
export function elsewhere(): ServiceError {
  return new ServiceError('NOT_FOUND', {
    hint: "This position isn't in the log. Call GET /v1/replica and copy the project again.",
  });
}
