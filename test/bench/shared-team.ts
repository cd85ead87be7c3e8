import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { Gateway } from '../../gateway/gateway.ts';
import { foundProject, whileOpen } from '../helpers/founding.ts';
import { HranaProcess } from '../helpers/hrana/process.ts';
import { SQLD, Sqld } from '../helpers/sqld.ts';
import { freePort } from '../helpers/programs.ts';
import { TeamGateway, type TeamProject } from '../helpers/team.ts';
import type { Bench } from './bench.ts';
import { buildProduct } from './product.ts';
import { SlowLink } from './slow-link.ts';

/** Projects that are made or opened at once. */
const AT_ONCE = 16;

async function atOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const one = async (): Promise<void> => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

/** Hosted processes over one libSQL server, which is as far away as wanted, and projects that each have a source. */
export class SharedTeam {
  readonly #bench: Bench;
  readonly #link: SlowLink;
  readonly #createUrl: string | null;
  readonly #masterKeyFile: string;
  readonly #hooks: string[] = [];
  readonly projects: readonly TeamProject[];

  private constructor(
    bench: Bench,
    parts: { server: Server; link: SlowLink; key: string; projects: readonly TeamProject[] },
  ) {
    this.#bench = bench;
    this.#createUrl = parts.server.createUrl;
    this.#link = parts.link;
    this.#masterKeyFile = parts.key;
    this.projects = parts.projects;
  }

  static async start(bench: Bench, count: number, secret: string): Promise<SharedTeam> {
    await buildProduct(bench.progress);
    const { workshop } = bench;
    // All projects stay open, and so does the control database.
    const server = workshop.own(await startServer(workshop.place('libsql'), count + 1));
    const link = workshop.own(await SlowLink.open(new URL(server.url).origin, 0));
    const dataFolder = workshop.place('founder');
    const key = `${dataFolder}/master.key`;
    const projects = await found(bench, { server, dataFolder, projects: count });
    const team = new SharedTeam(bench, { server, link, key, projects });
    const gateway = await team.gateway();
    await atOnce(projects, async ({ apiKey }) => {
      team.#hooks.push(await addSource(gateway.url, apiKey, secret));
    });
    await gateway.end();
    return team;
  }

  /** The path of the hook of each project. */
  get hooks(): readonly string[] {
    return this.#hooks;
  }

  /** From the gateways to the server and back. */
  set roundTripMs(ms: number) {
    this.#link.roundTripMs = ms;
  }

  /** Has a gateway open the projects of these hooks, which takes far longer than a delivery. */
  async visit({ url }: TeamGateway, hooks: readonly string[]): Promise<void> {
    await atOnce(hooks, async (hook) => {
      // It bears no signature, which is told only after a look into the project.
      await (await fetch(url + hook, { method: 'POST', body: '{}' })).arrayBuffer();
    });
  }

  async gateway(): Promise<TeamGateway> {
    const { workshop } = this.#bench;
    const gateway = await TeamGateway.start({
      dataFolder: workshop.place('gateway'),
      listen: `127.0.0.1:${await freePort()}`,
      env: {
        SVC_DATABASE_URL: `${this.#link.url}${SQLD === undefined ? '' : '/dev'}/{project}/`,
        ...(this.#createUrl !== null && { SVC_DATABASE_CREATE_URL: this.#createUrl }),
        SVC_MASTER_KEY_FILE: this.#masterKeyFile,
        SVC_OPEN_PROJECTS: '4096',
        SVC_SOURCE_EVENTS_PER_MINUTE: '0',
        SVC_SOURCE_MB_PER_TEN_MINUTES: '0',
      },
    });
    return workshop.own(gateway);
  }
}

interface Server {
  /** Of its databases, without a name. */
  readonly url: string;
  /** Null if it creates a database on first use. */
  readonly createUrl: string | null;
  end(): Promise<void>;
}

/** libSQL's own server if there is one here, and the tests' otherwise. */
async function startServer(folder: string, maxActiveNamespaces: number): Promise<Server> {
  if (SQLD !== undefined) {
    const sqld = await Sqld.start(SQLD, folder, { maxActiveNamespaces });
    return { url: sqld.url, createUrl: sqld.createUrl, end: () => sqld.end() };
  }
  const server = await HranaProcess.start({ folder, maxActiveNamespaces });
  return { url: server.url, createUrl: null, end: () => server.end() };
}

async function found(
  { progress }: Bench,
  wanted: {
    readonly server: Server;
    readonly dataFolder: string;
    readonly projects: number;
  },
): Promise<TeamProject[]> {
  const { server, dataFolder: folder, projects } = wanted;
  const open = (url: string): Promise<Gateway> =>
    Gateway.open({
      dataFolder: folder,
      urls: { api: url, mcp: `${url}/mcp`, hooks: url },
      ratePerMinute: 0,
      signIn: true,
      store: {
        url: `${server.url}/{project}/`,
        token: null,
        maker: server.createUrl === null ? null : { url: server.createUrl, token: null },
      },
      log: pino({ level: 'silent' }),
      onFatal: (error) => {
        throw error;
      },
    });
  progress(`making ${projects} projects`);
  const slugs = Array.from({ length: projects }, (_, number) => `team-${number}`);
  return whileOpen(open, async (url) => {
    const made: TeamProject[] = [];
    await atOnce(slugs, async (slug) => {
      made.push(await foundProject({ url, folder }, { slug }));
    });
    return made;
  });
}

async function addSource(gateway: string, apiKey: string, secret: string): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await fetch(`${gateway}/v1/sources`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'hub', type: 'webhook', verification: 'github', secret }),
    });
    const { url } = (await answer.json()) as { url?: string };
    if (url !== undefined) return new URL(url).pathname;
    // A gateway that has just taken on two thousand projects is busy.
    if (answer.status !== 503 || attempt === 60) {
      throw new Error(`No source was made: status ${answer.status}.`);
    }
    await sleep(500);
  }
}
