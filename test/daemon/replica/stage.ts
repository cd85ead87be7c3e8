import { join } from 'node:path';
import { Connection } from '../../../shared/store/engine/connection.ts';
import type { Replica } from '../../../daemon/replica/replica.ts';
import { temporaryFolder, TestGateway } from '../../helpers/gateway.ts';
import { Door } from './door.ts';
import { openReplica } from './open-replica.ts';

/** A gateway behind a door, and replicas of its project in one folder. */
export class Stage {
  /** The gateway at hand; `restart` makes it another one over the same data. */
  gateway: TestGateway;
  readonly door: Door;
  readonly folder: string;
  readonly projectId: string;
  readonly apiKey: string;
  readonly #remove: () => void;
  readonly #replicas = new Set<Replica>();

  private constructor(gateway: TestGateway, door: Door) {
    const temporary = temporaryFolder();
    this.gateway = gateway;
    this.door = door;
    this.folder = temporary.path;
    this.#remove = temporary.remove;
    this.projectId = gateway.projectId;
    this.apiKey = gateway.apiKey;
  }

  static async open(): Promise<Stage> {
    const gateway = await TestGateway.start();
    return new Stage(gateway, await Door.open(gateway.url));
  }

  get replicaFolder(): string {
    return join(this.folder, 'replica');
  }

  get databasePath(): string {
    return join(this.replicaFolder, 'replica.db');
  }

  /** The folder of the project at the gateway. */
  get projectFolder(): string {
    return join(this.gateway.folder, 'projects', this.projectId);
  }

  /** How often the whole database was asked for. */
  get copies(): number {
    return this.door.asked.filter((path) => path.includes('/export/')).length;
  }

  replica(options: Parameters<typeof openReplica>[2] & { apiKey?: string } = {}): Replica {
    const { projectId, apiKey } = this;
    const replica = openReplica({ url: this.door.url, projectId, apiKey }, this.folder, options);
    this.#replicas.add(replica);
    return replica;
  }

  async close(replica: Replica): Promise<void> {
    this.#replicas.delete(replica);
    await replica.close();
  }

  /** Answers the position of the write. */
  async write(name: string, value: unknown = name): Promise<number> {
    const answer = await this.gateway.call('PUT', `/v1/kv/${name}`, {
      body: value,
      key: this.apiKey,
    });
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return Number(answer.headers.get('x-service-position'));
  }

  async rotate(): Promise<void> {
    const project = await this.gateway.gateway.projects.find(this.projectId);
    await project?.writes.rotate();
  }

  /** Ends the gateway, lets `between` have its files, and starts another one over them. */
  async restart(between: () => void = () => undefined): Promise<void> {
    await this.door.shut();
    await this.gateway.stop({ keepFolder: true });
    between();
    this.gateway = await TestGateway.start({ folder: this.gateway.folder });
    this.door.target = this.gateway.url;
    await this.door.reopen();
  }

  async end(): Promise<void> {
    for (const replica of this.#replicas) await replica.close();
    await this.door.shut();
    await this.gateway.stop();
    this.#remove();
  }
}

/** The value of a key in the copy; null when it is not there. */
export function valueOf(replica: Replica, name: string): Promise<string | null> {
  if (!replica.store) return Promise.reject(new Error('There is no copy.'));
  return replica.store.read(async ({ kv }) => {
    const row = await kv.find(name, Date.now());
    return row ? Buffer.from(row.value).toString() : null;
  });
}

/** Changes a database file as somebody with the file and no manners would. */
export function tamper(path: string, sql: string): void {
  const connection = new Connection(path);
  connection.exec(sql);
  connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  connection.close();
}
