import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { daemonCommand } from '../../daemon/launch.ts';

export const REPOSITORY = resolve(import.meta.dirname, '../..');
const END_WITHIN_MS = 5000;

const ROLES = [
  'gateway',
  'store',
  'pg-boss',
  'receiver',
  'readers',
  'mail-sender',
  'flooder',
] as const;

type Role = (typeof ROLES)[number];

interface Answer {
  readonly ready?: true;
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** A process of the bench, called over its IPC channel. */
export class Child {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #calls = 0;

  private constructor(process: ChildProcess) {
    this.#process = process;
    process.on('message', (answer: Answer) => {
      if (answer.id !== undefined) this.#waiting.get(answer.id)?.(answer);
    });
    process.on('exit', (code, signal) => {
      for (const settle of this.#waiting.values()) {
        settle({ error: `The child ended (${signal ?? code}).` });
      }
    });
  }

  static async start(program: string, flags: readonly string[]): Promise<Child> {
    const child = spawn(process.execPath, [...flags, program], {
      stdio: ['ignore', 2, 2, 'ipc'],
      env: plainEnvironment(),
    });
    await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => Promise.reject(new Error(`${program} did not start.`))),
    ]);
    return new Child(child);
  }

  call<T>(method: string, params: unknown = null): Promise<T> {
    const id = (this.#calls += 1);
    return new Promise<T>((settle, reject) => {
      this.#waiting.set(id, (answer) => {
        this.#waiting.delete(id);
        if (answer.error === undefined) settle(answer.result as T);
        else reject(new Error(answer.error));
      });
      this.#process.send({ id, method, params });
    });
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  async end(): Promise<void> {
    const { pid, connected } = this.#process;
    if (!connected || pid === undefined) return;
    const ended = once(this.#process, 'exit');
    // It ends by itself when its parent leaves, and so can still write a profile.
    this.#process.disconnect();
    const cutOff = setTimeout(() => process.kill(pid, 'SIGKILL'), END_WITHIN_MS);
    await ended;
    clearTimeout(cutOff);
  }
}

/** Loaders of the bench's own runner would slow down what is measured. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, NODE_V8_COVERAGE: __, ...rest } = process.env;
  return rest;
}

/** What the product passes to Node when it starts its daemon: what stands for the daemon here gets the same. */
function productFlags(): string[] {
  const { args } = daemonCommand();
  return args.slice(process.execArgv.length).filter((arg) => arg.startsWith('--'));
}

/** A folder of the run, its child program in it, and what it must end and remove. */
export class Workshop {
  readonly folder = mkdtempSync(join(process.env['SVC_BENCH_TMP'] ?? tmpdir(), 'svc-bench-'));
  readonly #owned: { end(): Promise<void> }[] = [];
  #programs: Promise<string> | null = null;

  /** Starts a process of the bench; ended at the latest with the workshop. */
  async child(role: Role, flags: readonly string[] = []): Promise<Child> {
    this.#programs ??= bundleChildren(join(this.folder, 'programs'));
    const profile = process.env['SVC_BENCH_PROF'];
    const more = profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : [];
    const child = await Child.start(join(await this.#programs, `${role}.js`), [
      ...productFlags(),
      ...flags,
      ...more,
    ]);
    return this.own(child);
  }

  /** What is ended with the workshop, also when the run is broken off; ending it before does no harm. */
  own<T extends { end(): Promise<void> }>(one: T): T {
    this.#owned.push(one);
    return one;
  }

  /** A fresh folder. */
  place(name: string): string {
    return mkdtempSync(join(this.folder, `${name}-`));
  }

  async close(): Promise<void> {
    await Promise.all(this.#owned.map((one) => one.end()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Bundled as the daemon is: packages stay outside, SQL files lie beside. */
async function bundleChildren(folder: string): Promise<string> {
  await build({
    entryPoints: {
      ...Object.fromEntries(ROLES.map((role) => [role, `test/bench/child/${role}.ts`])),
      writer: 'gateway/commit/thread/thread-main.ts',
    },
    absWorkingDir: REPOSITORY,
    outdir: folder,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    splitting: true,
    packages: 'external',
    sourcemap: true,
    logLevel: 'warning',
  });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  symlinkSync(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'));
  cpSync(join(REPOSITORY, 'shared/store/migrations'), join(folder, 'migrations'), {
    recursive: true,
  });
  return folder;
}
