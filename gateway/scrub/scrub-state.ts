import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseObject } from '../../shared/lib/guards.ts';
import { isoTime, parseIso } from '../../shared/lib/clock.ts';
import { writeDurably } from '../../shared/store/log/log-files.ts';

/** How far a scrub of a data folder is. */
export interface ScrubState {
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** When all of it had been looked at; null while it's under way. */
  readonly finishedAt: number | null;
  /** The file that is being looked at, relative to the data folder, and how much of it was; null before the first. */
  readonly file: string | null;
  readonly doneBytes: number;
}

const STATE_FILE = 'scrub.json';

/** Null if there was none yet, or nothing readable of it. */
export function readScrubState(dataFolder: string): ScrubState | null {
  let text: string;
  try {
    text = readFileSync(join(dataFolder, STATE_FILE), 'utf8');
  } catch {
    return null;
  }
  const { started_at, finished_at, file, done_bytes } = parseObject(text) ?? {};
  const startedAt = timeOf(started_at);
  if (startedAt === null) return null;
  return {
    startedAt,
    finishedAt: timeOf(finished_at),
    file: typeof file === 'string' ? file : null,
    doneBytes: typeof done_bytes === 'number' ? done_bytes : 0,
  };
}

export function writeScrubState(dataFolder: string, state: ScrubState): void {
  const { startedAt, finishedAt, file, doneBytes } = state;
  const stored = {
    started_at: isoTime(startedAt),
    finished_at: finishedAt === null ? null : isoTime(finishedAt),
    file,
    done_bytes: doneBytes,
  };
  writeDurably(join(dataFolder, STATE_FILE), `${JSON.stringify(stored)}\n`);
}

function timeOf(value: unknown): number | null {
  return typeof value === 'string' ? parseIso(value) : null;
}
