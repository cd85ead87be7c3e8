import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { pino } from 'pino';
import { Daemon } from '../../daemon/daemon.ts';
import { resolveHome, type Home } from '../../daemon/home.ts';
import { askStatus } from '../../daemon/probe.ts';
import type { ReplicaReport } from '../../daemon/record.ts';
import { temporaryFolder } from './gateway.ts';

interface Project {
  readonly projectId: string;
  readonly apiKey: string;
}

interface Answered<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

/** A daemon in this process with a replica of a gateway's project and its own home. */
export class ReplicaDaemon {
  readonly home: Home;
  readonly folder: string;
  readonly apiKey: string;
  readonly #remove: () => void;
  #daemon: Daemon | null = null;

  private constructor(folder: { path: string; remove: () => void }, apiKey: string) {
    this.folder = folder.path;
    this.home = resolveHome({ SVC_HOME: folder.path });
    this.apiKey = apiKey;
    this.#remove = folder.remove;
  }

  /** Signed in at `gateway`, and started. */
  static async start(gateway: string, { projectId, apiKey }: Project): Promise<ReplicaDaemon> {
    const daemon = new ReplicaDaemon(temporaryFolder(), apiKey);
    daemon.store(gateway, projectId, apiKey);
    await daemon.up();
    return daemon;
  }

  /** Stores a key as signing in does. */
  store(gateway: string, project: string, apiKey: string): void {
    const profiles = { team: { gateway, api_key: apiKey, project } };
    mkdirSync(dirname(this.home.credentialsFile), { recursive: true });
    writeFileSync(this.home.credentialsFile, JSON.stringify({ profiles, current: 'team' }));
  }

  async up(): Promise<void> {
    this.#daemon = await Daemon.start({
      home: this.home,
      env: {},
      port: 0,
      ratePerMinute: 0,
      createLog: () => pino({ level: process.env['SVC_TEST_LOG'] ?? 'silent' }),
      onEnd: () => undefined,
    });
  }

  get url(): string {
    return this.#daemon?.record.base_url ?? '';
  }

  async replica(): Promise<ReplicaReport> {
    const status = await askStatus(this.home.socketPath);
    if (!status?.replica) throw new Error('The daemon tells nothing of a replica.');
    return status.replica;
  }

  /** Resolves when reads come from there. */
  async until(reads: ReplicaReport['reads'], withinMs = 60_000): Promise<void> {
    const endsAt = performance.now() + withinMs;
    for (;;) {
      // A busy machine may not answer in time.
      const status = await askStatus(this.home.socketPath);
      if (status?.replica?.reads === reads) return;
      if (performance.now() > endsAt) throw new Error(`Never ${reads}: ${JSON.stringify(status)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async call<T = Record<string, unknown>>(
    method: string,
    path: string,
    options: { body?: unknown; key?: string; headers?: Record<string, string> } = {},
  ): Promise<Answered<T>> {
    const { body, key = this.apiKey, headers } = options;
    const response = await fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as T,
    };
  }

  /** Ends it and leaves its folder. */
  async down(): Promise<void> {
    await this.#daemon?.stop();
    this.#daemon = null;
  }

  async stop(): Promise<void> {
    await this.down();
    this.#remove();
  }
}
