import { join } from 'node:path';
import type { Project } from '../../../gateway/projects/project.ts';
import { TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
import { SharedStore } from '../../helpers/shared-store.ts';

type Options = Omit<
  NonNullable<Parameters<typeof TestGateway.start>[0]>,
  'folder' | 'masterKeyFile' | 'projectOf' | 'store'
>;

/** Two gateways over one store, with one project that the first has made. */
export class Pair {
  readonly shared: SharedStore;
  readonly a: TestGateway;
  readonly b: TestGateway;
  readonly folder: string;
  readonly #options: Options;
  readonly #running: Set<TestGateway>;
  readonly #remove: () => void;

  private constructor(parts: {
    shared: SharedStore;
    a: TestGateway;
    b: TestGateway;
    options: Options;
    temporary: { path: string; remove: () => void };
  }) {
    this.shared = parts.shared;
    this.a = parts.a;
    this.b = parts.b;
    this.folder = parts.temporary.path;
    this.#options = parts.options;
    this.#running = new Set([parts.a, parts.b]);
    this.#remove = parts.temporary.remove;
  }

  static async start(options: Options = {}): Promise<Pair> {
    const temporary = temporaryFolder();
    const shared = await SharedStore.start(temporary.path);
    const over = { ...options, store: shared.store, masterKeyFile: shared.masterKeyFile };
    const a = await TestGateway.start({ ...over, folder: join(temporary.path, 'a') });
    const b = await TestGateway.start({ ...over, folder: join(temporary.path, 'b'), projectOf: a });
    return new Pair({ shared, a, b, options, temporary });
  }

  /** Both, over and over. */
  nth(n: number): TestGateway {
    return n % 2 === 0 ? this.a : this.b;
  }

  /** The project as a gateway has it. */
  async project(of: TestGateway): Promise<Project> {
    const project = await of.gateway.projects.find(this.a.projectId);
    if (!project) throw new Error('There is no project.');
    return project;
  }

  /** The first gateway has noticed the second one, which has found the first when it began. */
  async acquainted(): Promise<void> {
    const project = await this.project(this.a);
    while (!project.coordination.mayBeBehind)
      await new Promise((resolve) => setTimeout(resolve, 20));
  }

  /** A further gateway, with a data folder of this name. */
  async another(name: string): Promise<TestGateway> {
    const { store, masterKeyFile } = this.shared;
    const gateway = await TestGateway.start({
      ...this.#options,
      store,
      masterKeyFile,
      folder: join(this.folder, name),
      projectOf: this.a,
    });
    this.#running.add(gateway);
    return gateway;
  }

  async end(gateway: TestGateway): Promise<void> {
    this.#running.delete(gateway);
    await gateway.stop();
  }

  async stop(): Promise<void> {
    this.shared.server.faults.resume();
    for (const gateway of this.#running) await gateway.stop();
    await this.shared.stop();
    this.#remove();
  }
}
