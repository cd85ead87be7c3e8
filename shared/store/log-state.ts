import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isoTime, parseIso } from '../lib/clock.ts';
import { newEpoch } from '../lib/ids.ts';
import { parseObject } from '../lib/guards.ts';
import { syncFolder, writeDurably } from './log-files.ts';

/** What must be known of a followed log when its database is opened again. */
export interface LogState {
  /** Names this history of the file. */
  readonly epoch: string;
  /** The one that is being written, from 1. */
  readonly generation: number;
  /** Salts of the generation's frames, as hex; null while nobody was told of a frame. */
  readonly salts: string | null;
  /** When `follow` was last called, in milliseconds. */
  readonly followedAt: number;
  /** The database file may have frames of this generation already: a copy of it is no base. */
  readonly isFoldedIn: boolean;
  /** Marks of the database file, which must not change while nobody was told of a frame. Null from then on. */
  readonly fileMarks: string | null;
}

const STATE_FILE = 'state.json';

/** The state, or null when there is none or it cannot be read as one. */
export function readState(folder: string): LogState | null {
  try {
    return parseState(readFileSync(join(folder, STATE_FILE), 'utf8'));
  } catch {
    // Whatever the reason: what cannot be read cannot be gone on with.
    return null;
  }
}

function parseState(text: string): LogState | null {
  const { epoch, generation, salts, followed_at, folded_in, file } = parseObject(text) ?? {};
  const followedAt = typeof followed_at === 'string' ? parseIso(followed_at) : null;
  if (typeof epoch !== 'string' || !/^[0-9A-Za-z]{22}$/.test(epoch)) return null;
  if (!Number.isSafeInteger(generation) || Number(generation) < 1) return null;
  if (followedAt === null || typeof folded_in !== 'boolean') return null;
  if (!isTextOrNull(salts) || !isTextOrNull(file) || (salts === null) === (file === null)) {
    return null;
  }
  return {
    epoch,
    generation: Number(generation),
    salts,
    followedAt,
    isFoldedIn: folded_in,
    fileMarks: file,
  };
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

/** Durable when it returns. */
export function writeState(folder: string, state: LogState): void {
  const { epoch, generation, salts, followedAt, isFoldedIn, fileMarks } = state;
  const stored = {
    epoch,
    generation,
    salts,
    followed_at: isoTime(followedAt),
    folded_in: isFoldedIn,
    file: fileMarks,
  };
  writeDurably(join(folder, STATE_FILE), `${JSON.stringify(stored)}\n`);
}

/** Begins a history in a folder that is made for it. Durable when it returns. */
export function writeFirstState(
  folder: string,
  first: Pick<LogState, 'followedAt' | 'fileMarks'>,
): LogState {
  // What may be left there belongs to another history, whose generations have the same numbers.
  endHistory(folder);
  mkdirSync(folder, { mode: 0o700 });
  const state = { epoch: newEpoch(), generation: 1, salts: null, isFoldedIn: false, ...first };
  writeState(folder, state);
  syncFolder(dirname(folder));
  return state;
}

/** Deletes all there is of a history: the state first, since what lies beside it means nothing without. */
export function endHistory(folder: string): void {
  if (!statSync(folder, { throwIfNoEntry: false })) return;
  rmSync(join(folder, STATE_FILE), { force: true });
  syncFolder(folder);
  rmSync(folder, { recursive: true, force: true });
}

/** Changes whenever something is written to the file; null when there is none. */
export function marksOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? `${found.size}-${found.mtimeNs}` : null;
}

/** What is found beside the state when a database is opened. */
export interface Found {
  /** Of the log; null when there is nothing in it. */
  readonly salts: string | null;
  readonly hasArchive: boolean;
  readonly fileMarks: string | null;
}

/**
 * What the state has become by what happened since it was written; null when that is unexplained. An archive under its
 * own name is complete: the next generation may have begun, and certainly has when the log is another one.
 */
export function resume(state: LogState, found: Found): LogState | null {
  if (state.salts === null) return state.fileMarks === found.fileMarks ? state : null;
  if (state.salts === found.salts) {
    return found.hasArchive ? { ...state, isFoldedIn: true } : state;
  }
  if (!found.hasArchive) return null;
  return nextState(state, { salts: null, fileMarks: found.fileMarks });
}

/** The state when the generation after this one begins. */
export function nextState(state: LogState, begun: Pick<LogState, 'salts' | 'fileMarks'>): LogState {
  return { ...state, ...begun, generation: state.generation + 1, isFoldedIn: false };
}
