import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RemoteStore } from '../../gateway/store/databases.ts';
import { startHrana, type HranaOptions, type HranaServer } from './hrana/server.ts';
import { SqldNamespaces } from './sqld-namespaces.ts';

/** A libSQL server for the gateways of a test. */
export interface Store {
  /** What a gateway is opened with. */
  readonly store: RemoteStore;
  stop(): Promise<void>;
}

/** On libSQL's own server if one runs for the tests, and on the tests' otherwise. */
export async function anyStore(folder: string): Promise<Store> {
  const namespaces = SqldNamespaces.onRunning();
  if (!namespaces) return SharedStore.start(folder);
  const { url, createUrl } = namespaces;
  return {
    store: { url, token: null, maker: { url: createUrl, token: null } },
    stop: () => Promise.resolve(),
  };
}

/** On a busy machine, gateways that come back after 5 or 10 seconds have been no more away than others. */
export const PATIENT = { streamIdleMs: 240_000, transactionMaxMs: 120_000 };

/** A libSQL server with its data in a folder of the test, for gateways that share it. */
export class SharedStore implements Store {
  server: HranaServer;
  /** Of all gateways that share it; made by the first. */
  readonly masterKeyFile: string;
  readonly #options: HranaOptions;

  private constructor(server: HranaServer, options: HranaOptions, masterKeyFile: string) {
    this.server = server;
    this.#options = options;
    this.masterKeyFile = masterKeyFile;
  }

  static async start(
    folder: string,
    options: Pick<HranaOptions, 'replication' | 'token'> = {},
  ): Promise<SharedStore> {
    const own = join(folder, 'libsql-server');
    mkdirSync(own, { recursive: true });
    const all = { ...PATIENT, ...options, folder: own };
    return new SharedStore(await startHrana(all), all, join(folder, 'shared.key'));
  }

  /** Stops the server and starts it again at the same address. */
  async restart(meanwhile: () => void): Promise<void> {
    const port = Number(new URL(this.server.url).port);
    await this.server.stop();
    meanwhile();
    this.server = await startHrana({ ...this.#options, port });
  }

  /** What a gateway is opened with. */
  get store(): RemoteStore {
    return { url: `${this.server.url}/{project}/`, token: null, maker: null };
  }

  async stop(): Promise<void> {
    await this.server.stop();
  }
}
