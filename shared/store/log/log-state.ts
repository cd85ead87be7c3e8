import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isoTime, parseIso } from '../../lib/clock.ts';
import { newEpoch } from '../../lib/ids.ts';
import { parseObject } from '../../lib/guards.ts';
import { syncFolder, writeDurably } from './log-files.ts';

/** The state of a followed log that must survive until its database is opened again. */
export interface LogState {
  /** The name of this history of the file. */
  readonly epoch: string;
  /** The current generation, from 1. */
  readonly generation: number;
  /** The salts of the generation's frames in hex; null until we announce a frame. */
  readonly salts: string | null;
  /** When `follow` was last called, in milliseconds. */
  readonly followedAt: number;
  /** True if the database file may already contain frames of this generation; then a copy of it isn't a base. */
  readonly isCheckpointed: boolean;
  /** The database file's marks, which must not change until we announce a frame. Null after that. */
  readonly fileMarks: string | null;
}

const STATE_FILE = 'state.json';

/** The state, or null if it is missing or unreadable. */
export function readState(folder: string): LogState | null {
  try {
    return parseState(readFileSync(join(folder, STATE_FILE), 'utf8'));
  } catch {
    // For whatever reason it is unreadable, we can't continue from it.
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
    isCheckpointed: folded_in,
    fileMarks: file,
  };
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

/** Durable when it returns. */
export function writeState(folder: string, state: LogState): void {
  const { epoch, generation, salts, followedAt, isCheckpointed, fileMarks } = state;
  const stored = {
    epoch,
    generation,
    salts,
    followed_at: isoTime(followedAt),
    folded_in: isCheckpointed,
    file: fileMarks,
  };
  writeDurably(join(folder, STATE_FILE), `${JSON.stringify(stored)}\n`);
}

/** Starts a history in a new folder. Durable when it returns. */
export function writeFirstState(
  folder: string,
  first: Pick<LogState, 'followedAt' | 'fileMarks'>,
): LogState {
  // Any old files there belong to another history that uses the same generation numbers.
  endHistory(folder);
  mkdirSync(folder, { mode: 0o700 });
  const state = { epoch: newEpoch(), generation: 1, salts: null, isCheckpointed: false, ...first };
  writeState(folder, state);
  syncFolder(dirname(folder));
  return state;
}

/** Deletes a history, its state first, because the other files mean nothing without it. */
export function endHistory(folder: string): void {
  if (!statSync(folder, { throwIfNoEntry: false })) return;
  rmSync(join(folder, STATE_FILE), { force: true });
  syncFolder(folder);
  rmSync(folder, { recursive: true, force: true });
}

/** Changes with every write to the file; null if there is no file. */
export function marksOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? `${found.size}-${found.mtimeNs}` : null;
}

/** The facts on disk when a database is opened. */
export interface DiskState {
  /** The log's salts; null if the log is empty. */
  readonly salts: string | null;
  readonly hasArchive: boolean;
  readonly fileMarks: string | null;
}

/**
 * Derives the current state from the stored state and the facts on disk; null if they can't be explained. An archive
 * under its final name is complete, so the next generation may have begun; if the log has other salts, it certainly
 * has.
 */
export function resume(state: LogState, found: DiskState): LogState | null {
  if (state.salts === null) return state.fileMarks === found.fileMarks ? state : null;
  if (state.salts === found.salts) {
    return found.hasArchive ? { ...state, isCheckpointed: true } : state;
  }
  if (!found.hasArchive) return null;
  return nextState(state, { salts: null, fileMarks: found.fileMarks });
}

/** The state when the next generation begins. */
export function nextState(state: LogState, begun: Pick<LogState, 'salts' | 'fileMarks'>): LogState {
  return { ...state, ...begun, generation: state.generation + 1, isCheckpointed: false };
}
