import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { openDatabase, withRawDatabase } from '../../helpers/database.ts';

const READERS = 2;
const ACCOUNTS = 20;
/** Each commit brings a page or two for each account it touches, and this much more. */
const FILL = Buffer.alloc(8 * 1024, 7);
/** Jobs queued together, which may share a commit. */
const GROUP = 4;
const ROTATE_EVERY = 40;
const CHECK_EVERY = 500;

export interface SoakResult {
  readonly commits: number;
  readonly rotations: number;
  readonly checks: number;
  /** That the readers took, in all. */
  readonly snapshots: number;
  /** States that readers saw but no commit made, and faults that a check of the file found. */
  readonly wrong: readonly string[];
}

/** What a reader says at its end. */
export interface ReaderReport {
  readonly snapshots: number;
  readonly wrong: readonly string[];
}

/**
 * One writer moves amounts between accounts and folds its log into the file again and again, while processes of readers
 * look whether the sum ever differs, or time goes back. The file is checked whole now and then and at the end.
 */
export async function soakReaders(
  isOver: (commits: number) => boolean,
  progress: (text: string) => void = () => undefined,
): Promise<SoakResult> {
  const open = openDatabase();
  const wrong: string[] = [];
  let commits = 0;
  let rotations = 0;
  let checks = 0;
  const check = (): void => {
    checks += 1;
    const row = withRawDatabase(open.path, (raw) => raw.get('PRAGMA integrity_check'));
    if (row?.['integrity_check'] !== 'ok') wrong.push(`integrity: ${JSON.stringify(row)}`);
  };
  await open.database.write(async (tx) => {
    for (let n = 0; n < ACCOUNTS; n += 1) {
      await tx.run('INSERT INTO item VALUES (?, ?)', [`account ${n}`, 1000]);
    }
    await tx.run('INSERT INTO item VALUES (?, ?)', ['turn', 0]);
  });
  const readers = Array.from({ length: READERS }, () => startReader(open.path));
  await Promise.all(readers.map(({ ready }) => ready));
  while (!isOver(commits) && wrong.length === 0) {
    const moves = Array.from({ length: GROUP }, (_, n) => move(open.database, commits + n));
    await Promise.all(moves);
    commits += GROUP;
    if (commits % ROTATE_EVERY === 0) {
      await open.database.rotate();
      rotations += 1;
    }
    if (commits % CHECK_EVERY !== 0) continue;
    check();
    progress(`${commits} commits, ${rotations} rotations, ${checks} checks`);
  }
  const reports = await Promise.all(readers.map(({ end }) => end()));
  await open.database.close();
  check();
  wrong.push(...open.fatal.map(String), ...reports.flatMap((report) => report.wrong));
  const snapshots = reports.reduce((sum, report) => sum + report.snapshots, 0);
  await open.remove();
  return { commits, rotations, checks, snapshots, wrong };
}

type Database = ReturnType<typeof openDatabase>['database'];

function move(database: Database, turn: number): Promise<unknown> {
  const [from, to] = [turn % ACCOUNTS, (turn * 7 + 3) % ACCOUNTS];
  return database.write(async (tx) => {
    const add = 'UPDATE item SET value = value + ? WHERE name = ?';
    await tx.run(add, [-1, `account ${from}`]);
    await tx.run(add, [1, `account ${to}`]);
    await tx.run('INSERT OR REPLACE INTO item VALUES (?, ?)', [`fill ${turn % 64}`, FILL]);
    await tx.run(add, [1, 'turn']);
  });
}

function startReader(path: string): { ready: Promise<unknown>; end: () => Promise<ReaderReport> } {
  const child: ChildProcess = fork(resolve('test/fault/readers/reader-program.ts'), [path], {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const gone = once(child, 'exit');
  return {
    ready: once(child, 'message'),
    async end() {
      child.send('end');
      const died = gone.then(([code]) => [{ snapshots: 0, wrong: [`A reader died (${code}).`] }]);
      const [report] = (await Promise.race([once(child, 'message'), died])) as [ReaderReport];
      child.disconnect();
      await gone;
      return report;
    },
  };
}
