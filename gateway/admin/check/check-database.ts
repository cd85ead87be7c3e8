import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { hasTables } from '../../../shared/store/engine/open.ts';
import { checkDatabase } from '../../store/check-database.ts';
import { structureProblems } from '../../store/snapshot.ts';

/** What is wrong with a database. */
export interface DatabaseFinding {
  /** A path. */
  readonly file: string;
  readonly what: string;
  readonly problem: string;
  /** Nothing can be read from it. */
  readonly isFatal: boolean;
}

interface DatabaseOwner {
  readonly dataFolder: string;
  /** Null for the control database. */
  readonly project: string | null;
}

/** Whether a file is made anew when it's missing, and so not copied: archived logs, which replicas use, and sums. */
export function isSpare(file: string): boolean {
  return /(\/generations\/[^/]+|-sums)$/.test(file);
}

/**
 * Looks at a database that another process may use: at its pages and logs, by their sums, and at its structure. This
 * process must not have it open.
 */
export async function* databaseDamage(
  path: string,
  owner: DatabaseOwner,
): AsyncGenerator<DatabaseFinding> {
  const damaged = { file: path, what: 'database', isFatal: true };
  if (!existsSync(path)) {
    yield { ...damaged, problem: 'is missing' };
    return;
  }
  if (!hasTables(path)) {
    yield { ...damaged, problem: 'is empty' };
    return;
  }
  try {
    for await (const step of checkDatabase(path, owner)) {
      if (!('what' in step)) continue;
      const file = join(owner.dataFolder, step.file);
      yield { file, what: step.what, problem: "doesn't match its sum", isFatal: false };
    }
    const [problem] = structureProblems(path);
    if (problem === undefined) return;
    yield { ...damaged, problem: `has a broken structure: ${problem}`, isFatal: false };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    yield { ...damaged, problem: `can't be read: ${reason}` };
  }
}

/** What keeps a database from being copied, as it continues its name; null if nothing does. */
export async function databaseProblem(
  path: string,
  owner: DatabaseOwner,
  onSpare: (found: DatabaseFinding) => void = () => undefined,
): Promise<string | null> {
  let first: string | null = null;
  for await (const found of databaseDamage(path, owner)) {
    const { file, what, problem } = found;
    if (isSpare(file)) onSpare(found);
    else first ??= what === 'database' ? problem : `is damaged: ${what} ${problem}`;
  }
  return first;
}
