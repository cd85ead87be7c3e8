import { join } from 'node:path';
import type { RemoteStore } from '../../../gateway/projects/databases.ts';
import { type FakeClock, TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
import { SharedStore } from '../../helpers/shared-store.ts';
import { PrimaryFront } from './primary-front.ts';

const TOKEN = 'token-of-the-database';

/** A gateway over a libSQL server that has replicas to offer, and others beside it. */
export class RemoteStage {
  readonly folder: string;
  readonly front: PrimaryFront;
  /** What the gateways show the server. */
  readonly token = TOKEN;
  readonly clock: FakeClock | undefined;
  readonly #remove: () => void;
  readonly #shared: SharedStore;
  readonly #gateways: TestGateway[] = [];

  private constructor(parts: {
    folder: { path: string; remove: () => void };
    front: PrimaryFront;
    shared: SharedStore;
    clock: FakeClock | undefined;
  }) {
    this.folder = parts.folder.path;
    this.#remove = parts.folder.remove;
    this.front = parts.front;
    this.#shared = parts.shared;
    this.clock = parts.clock;
  }

  static async open(
    options: { replication?: boolean; clock?: FakeClock } = {},
  ): Promise<RemoteStage> {
    const { replication = true, clock } = options;
    const folder = temporaryFolder();
    const shared = await SharedStore.start(folder.path, { replication, token: TOKEN });
    const front = await PrimaryFront.open(shared.server.url);
    const stage = new RemoteStage({ folder, front, shared, clock });
    await stage.add();
    return stage;
  }

  get gateway(): TestGateway {
    const [first] = this.#gateways;
    if (!first) throw new Error('There is no gateway.');
    return first;
  }

  get store(): RemoteStore {
    return { url: `${this.front.url}/{project}/`, token: TOKEN, maker: null };
  }

  /** Another gateway over the same store. */
  async add(): Promise<TestGateway> {
    const gateway = await TestGateway.start({
      folder: join(this.folder, `gateway-${this.#gateways.length}`),
      masterKeyFile: this.#shared.masterKeyFile,
      store: this.store,
      ...(this.clock && { clock: this.clock }),
    });
    this.#gateways.push(gateway);
    return gateway;
  }

  /** The project of the first gateway, at this one. */
  async project(at: TestGateway = this.gateway) {
    const found = await at.gateway.projects.find(this.gateway.projectId);
    if (!found) throw new Error('There is no project.');
    return found;
  }

  /** Answers the position of the write. */
  async set(key: string, options: { at?: TestGateway; value?: unknown } = {}): Promise<number> {
    const { at = this.gateway, value = key } = options;
    const { apiKey } = this.gateway;
    const answer = await at.call('PUT', `/v1/kv/${key}`, { body: value, key: apiKey });
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return Number(answer.headers.get('x-service-position'));
  }

  async end(): Promise<void> {
    for (const gateway of this.#gateways) await gateway.stop({ keepFolder: true });
    await this.front.close();
    await this.#shared.stop();
    this.#remove();
  }
}
