import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { resolveHome } from '../../../daemon/home.ts';
import { askStatus } from '../../../daemon/probe.ts';
import { shimEnvironment, type Faults } from './shim.ts';

const DAEMON = resolve('dist/daemon.js');
const PATIENCE_MS = 60_000;
/** As `svc up` starts it. */
const NODE_FLAGS = ['--max-semi-space-size=8', '--expose-gc'];

export interface Running {
  readonly base: string;
  readonly key: string;
  readonly project: string;
}

/** The daemon of the bundle, with or without the shim in it. */
export class ShimmedDaemon {
  readonly #child: ChildProcess;
  readonly #home: string;
  /** Resolves with the exit code, or null after a signal. */
  readonly ended: Promise<number | null>;
  output = '';

  private constructor(child: ChildProcess, home: string) {
    this.#child = child;
    this.#home = home;
    this.ended = once(child, 'exit').then(([code]: (number | null)[]) => code ?? null);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString('utf8')));
    }
  }

  /** Without a shim nothing is logged and nothing fails. */
  static start(
    home: string,
    shim: { readonly library: string; readonly log: string; readonly faults?: Faults } | null,
    env: Record<string, string> = {},
  ): ShimmedDaemon {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const args = ['--port', '0', '--owner', 'owner@example.com'];
    const child = spawn(process.execPath, [...NODE_FLAGS, DAEMON, ...args], {
      env: {
        PATH: process.env['PATH'] ?? '',
        SVC_HOME: home,
        SVC_CALLBACK_ALLOW: '127.0.0.0/8',
        ...env,
        ...(shim && shimEnvironment(shim.library, { folder: home, log: shim.log }, shim.faults)),
      },
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new ShimmedDaemon(child, home);
  }

  /** Null when it ended before it answered. */
  async ready(): Promise<Running | null> {
    const { socketPath, credentialsFile } = resolveHome({ SVC_HOME: this.#home });
    for (const endsAt = performance.now() + PATIENCE_MS; performance.now() < endsAt;) {
      if (this.hasEnded) return null;
      const status = existsSync(socketPath) ? await askStatus(socketPath) : null;
      if (status?.state === 'ready' && status.pid === this.#child.pid) {
        const text = readFileSync(credentialsFile, 'utf8');
        const { profiles } = JSON.parse(text) as { profiles: { default: { api_key: string } } };
        const { api_key: key } = profiles.default;
        return { base: status.base_url, key, project: status.project ?? '' };
      }
      await sleep(5);
    }
    throw new Error(`The daemon does not answer: ${this.output}`);
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.#child.kill(signal);
    return this.ended;
  }
}
