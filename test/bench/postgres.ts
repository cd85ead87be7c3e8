import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { plainEnvironment } from './children.ts';

const execute = promisify(execFile);
const USER = 'bench';
const READY_WITHIN_MS = 20_000;
const END_WITHIN_MS = 10_000;

interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

/** A PostgreSQL of the bench alone: a data folder that goes with it, a socket and no port, commits synced to disk. */
export class Postgres {
  readonly socketFolder: string;
  readonly user = USER;
  readonly #process: ChildProcess;
  readonly #programs: string;

  private constructor(process: ChildProcess, socketFolder: string, programs: string) {
    this.#process = process;
    this.#programs = programs;
    this.socketFolder = socketFolder;
  }

  /** `postgres` is the path of the server; `folder` is empty and its own. */
  static async start(postgres: string, folder: string): Promise<Postgres> {
    const owner = serverOwner();
    const data = join(folder, 'data');
    const socketFolder = join(folder, 'socket');
    openTo(owner, folder);
    mkdirSync(socketFolder);
    openTo(owner, socketFolder);
    const options = { ...owner, cwd: folder, env: { ...plainEnvironment(), LC_ALL: 'C' } };
    const initdb = join(dirname(postgres), 'initdb');
    await execute(
      initdb,
      ['-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--no-sync'],
      options,
    );
    const settings = [
      'fsync=on',
      'synchronous_commit=on',
      'listen_addresses=',
      'shared_buffers=256MB',
      'max_wal_size=4GB',
    ];
    const server = spawn(
      postgres,
      ['-D', data, '-k', socketFolder, ...settings.flatMap((setting) => ['-c', setting])],
      { ...options, stdio: ['ignore', 'ignore', 'ignore'] },
    );
    const started = new Postgres(server, socketFolder, dirname(postgres));
    await started.#whenReady();
    return started;
  }

  /** What its own housekeeping would do sooner or later: without it, queries after a bulk load are planned blindly. */
  async analyze(): Promise<void> {
    const { socketFolder, user } = this;
    await execute(this.#program('psql'), [
      '-h',
      socketFolder,
      '-U',
      user,
      '-d',
      'postgres',
      '-c',
      'VACUUM ANALYZE',
    ]);
  }

  async end(): Promise<void> {
    const { pid } = this.#process;
    if (this.#process.exitCode !== null || pid === undefined) return;
    const ended = once(this.#process, 'exit');
    process.kill(pid, 'SIGINT');
    const cutOff = setTimeout(() => process.kill(pid, 'SIGQUIT'), END_WITHIN_MS);
    await ended;
    clearTimeout(cutOff);
  }

  #program(name: string): string {
    return join(this.#programs, name);
  }

  async #whenReady(): Promise<void> {
    const deadline = performance.now() + READY_WITHIN_MS;
    for (;;) {
      try {
        await execute(this.#program('pg_isready'), ['-h', this.socketFolder, '-U', USER]);
        return;
      } catch (error) {
        if (this.#process.exitCode !== null || performance.now() > deadline) {
          await this.end();
          throw new Error('PostgreSQL does not start.', { cause: error });
        }
        await sleep(100);
      }
    }
  }
}

/** PostgreSQL refuses to run as root: then it is given a user who owns little. */
function serverOwner(): Owner {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((text) => text.startsWith(`${name}:`));
    const [, , uid, gid] = line?.split(':') ?? [];
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('There is no user but root to run PostgreSQL as.');
}

function openTo(owner: Owner, folder: string): void {
  if (owner.uid === undefined || owner.gid === undefined) return;
  chownSync(folder, owner.uid, owner.gid);
  // The way there lies through a folder of root.
  chmodSync(dirname(folder), 0o711);
}
