import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RemoteStore } from '../../gateway/projects/databases.ts';
import { startHrana, type HranaOptions, type HranaServer } from './hrana/server.ts';

/** A libSQL server with its data in a folder of the test, for gateways that share it. */
export class SharedStore {
  readonly server: HranaServer;
  /** Of all gateways that share it; made by the first. */
  readonly masterKeyFile: string;

  private constructor(server: HranaServer, masterKeyFile: string) {
    this.server = server;
    this.masterKeyFile = masterKeyFile;
  }

  static async start(
    folder: string,
    options: Pick<HranaOptions, 'replication' | 'token'> = {},
  ): Promise<SharedStore> {
    const own = join(folder, 'libsql-server');
    mkdirSync(own, { recursive: true });
    return new SharedStore(
      await startHrana({ ...options, folder: own }),
      join(folder, 'shared.key'),
    );
  }

  /** What a gateway is opened with. */
  get store(): RemoteStore {
    return { url: `${this.server.url}/{project}/`, token: null, maker: null };
  }

  async stop(): Promise<void> {
    await this.server.stop();
  }
}
