import { existsSync } from 'node:fs';
import { structureProblems } from '../store/snapshot.ts';

/** What is wrong with a database. */
interface DatabaseFinding {
  /** A path. */
  readonly file: string;
  readonly what: string;
  readonly problem: string;
  /** Nothing can be read from it. */
  readonly isFatal: boolean;
}

/** Looks at a database that another process may use. */
export async function* databaseDamage(path: string): AsyncGenerator<DatabaseFinding> {
  const damaged = { file: path, what: 'database', isFatal: true };
  if (!existsSync(path)) {
    yield { ...damaged, problem: 'is missing' };
    return;
  }
  try {
    const [problem] = structureProblems(path);
    if (problem === undefined) return;
    yield { ...damaged, problem: `has a broken structure: ${problem}`, isFatal: false };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    yield { ...damaged, problem: `can't be read: ${reason}` };
  }
}
