import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { Gateway } from '../../gateway/gateway.ts';
import { Hosted } from '../gateway/server/hosted.ts';
import { DeployedNginx, type Passed, type Road } from './deployed-nginx.ts';
import { DeployedHaproxy } from './deployed-haproxy.ts';
import { foundProject, whileOpen } from './founding.ts';
import { HranaProcess } from './hrana/process.ts';
import { SQLD, Sqld } from './sqld.ts';
import { freePort } from './programs.ts';
import type { TeamProject } from './team.ts';

interface GatewaysWanted {
  readonly folder: string;
  /** The program in front; nginx unless `haproxy` is given. */
  readonly nginx?: string;
  readonly haproxy?: string;
  /** Where links and webhook addresses lead. */
  readonly publicRoad: Road;
  readonly env?: Readonly<Record<string, string>>;
}

/** Two gateways in processes of their own over one libSQL server and one folder of blobs, and a proxy in front, as operators run them. */
export class Gateways {
  readonly urls: Readonly<Record<Road, string>>;
  readonly listens: readonly [string, string];
  readonly #wanted: GatewaysWanted;
  readonly #storePort: number;
  readonly #adminPort: number;
  readonly #running: (Hosted | null)[] = [];
  #store: HranaProcess | Sqld | null = null;
  #nginx: DeployedNginx | null = null;
  #haproxy: DeployedHaproxy | null = null;

  private constructor(wanted: GatewaysWanted, ports: readonly number[]) {
    const [storePort = 0, hashed = 0, even = 0, first = 0, second = 0, adminPort = 0] = ports;
    this.#wanted = wanted;
    this.#storePort = storePort;
    this.#adminPort = adminPort;
    this.urls = { hashed: `http://127.0.0.1:${hashed}`, even: `http://127.0.0.1:${even}` };
    this.listens = [`127.0.0.1:${first}`, `127.0.0.1:${second}`];
  }

  static async start(wanted: GatewaysWanted): Promise<Gateways> {
    const ports: number[] = [];
    for (let n = 0; n < 6; n += 1) ports.push(await freePort());
    const gateways = new Gateways(wanted, ports);
    try {
      await gateways.startStore();
      await Promise.all([gateways.startOne(0), gateways.startOne(1)]);
      await gateways.#startProxy();
    } catch (error) {
      await gateways.stop();
      throw error;
    }
    return gateways;
  }

  async startStore(): Promise<void> {
    const folder = join(this.#wanted.folder, 'store');
    mkdirSync(folder, { recursive: true });
    this.#store = SQLD
      ? await Sqld.start(SQLD, folder, { ports: [this.#storePort, this.#adminPort] })
      : await HranaProcess.start({ folder, port: this.#storePort });
  }

  /** As a power cut of the server of databases. */
  async killStore(): Promise<void> {
    await this.#store?.end('SIGKILL');
  }

  /** The data folder of a gateway: its letters to people are there. */
  dataOf(n: number): string {
    return join(this.#wanted.folder, `data-${n}`);
  }

  async startOne(n: number): Promise<void> {
    this.#running[n] = await Hosted.start({
      ...this.#settings,
      SVC_DATA: this.dataOf(n),
      SVC_LISTEN: this.listens[n] ?? '',
      SVC_PUBLIC_URL: this.urls[this.#wanted.publicRoad],
      SVC_RATE_LIMIT: '0',
      SVC_SIGN_UP: 'open',
      SVC_CALLBACK_ALLOW: '127.0.0.0/8',
      SVC_LOG_LEVEL: process.env['SVC_TEST_LOG'] ?? 'error',
      ...this.#wanted.env,
    });
  }

  /** Like a power cut: the gateway finishes nothing and tells no other gateway. */
  async kill(n: number): Promise<void> {
    const running = this.#running[n];
    if (!running || running.child.exitCode !== null || running.child.signalCode !== null)
      throw new Error(`Gateway ${n} has ended by itself.`);
    await running.end('SIGKILL');
  }

  /** The process of a gateway. */
  pid(n: number): number {
    return this.#running[n]?.child.pid ?? 0;
  }

  /** What the gateways wrote into their logs since they were started. */
  get logs(): Record<string, unknown>[] {
    return this.#running.flatMap((one) => one?.log ?? []);
  }

  /** Projects that people found by signing in, at a separate gateway. */
  async newProjects(...slugs: string[]): Promise<TeamProject[]> {
    const folder = join(this.#wanted.folder, 'maker');
    const open = (url: string): Promise<Gateway> =>
      Gateway.open({
        dataFolder: folder,
        masterKeyFile: this.#settings.SVC_MASTER_KEY_FILE,
        store: {
          url: this.#settings.SVC_DATABASE_URL,
          token: null,
          maker: SQLD ? { url: this.#createUrl, token: null } : null,
        },
        urls: { api: url, mcp: `${url}/mcp`, hooks: url },
        ratePerMinute: 0,
        signIn: true,
        log: pino({ level: 'fatal' }),
        onFatal: (error) => {
          throw error;
        },
      });
    return whileOpen(open, async (url) => {
      const made: TeamProject[] = [];
      for (const slug of slugs) made.push(await foundProject({ url, folder }, { slug }));
      return made;
    });
  }

  /** What nginx passed on so far. */
  get passed(): Passed[] {
    return this.#nginx?.passed ?? [];
  }

  /** The gateways that answered requests whose path begins like this. */
  reachedBy(path: string): number[] {
    const all = this.passed.filter((one) => one.path.startsWith(path));
    return [...new Set(all.map(({ by }) => by.at(-1) ?? -1))];
  }

  async stop(): Promise<void> {
    await this.#nginx?.end();
    await this.#haproxy?.end();
    for (const one of this.#running) await one?.end('SIGKILL');
    await this.#store?.end('SIGKILL');
  }

  get #createUrl(): string {
    return `http://127.0.0.1:${this.#adminPort}/v1/namespaces/{project}/create`;
  }

  get #settings() {
    const { folder } = this.#wanted;
    return {
      SVC_DATABASE_URL: `http://127.0.0.1:${this.#storePort}${SQLD ? '/dev' : ''}/{project}/`,
      ...(SQLD && { SVC_DATABASE_CREATE_URL: this.#createUrl }),
      SVC_MASTER_KEY_FILE: join(folder, 'shared.key'),
      SVC_BLOBS: `file:${join(folder, 'blobs')}`,
    } as const;
  }

  async #startProxy(): Promise<void> {
    const { folder, nginx = '', haproxy } = this.#wanted;
    const own = { folder: join(folder, 'proxy'), gateways: this.listens };
    if (haproxy === undefined) {
      this.#nginx = await DeployedNginx.start({ program: nginx, ...own, urls: this.urls });
    } else {
      this.#haproxy = await DeployedHaproxy.start({
        program: haproxy,
        ...own,
        url: this.urls.hashed,
      });
    }
  }
}
