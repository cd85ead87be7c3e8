import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import pino from 'pino';
import { Gateway } from '../../gateway/gateway.ts';
import { filesUnder } from './files.ts';
import { foundProject, whileOpen, type SignInSite } from './founding.ts';

const GATEWAY = resolve('dist/gateway.js');
const SVC = resolve('dist/svc.cjs');
/** The gateway of a drill takes calls as fast as they come. */
const UNLIMITED = { SVC_RATE_LIMIT: '0' };

/** A project with an admin key. */
export interface TeamProject {
  readonly id: string;
  readonly apiKey: string;
}

/** A project that somebody founds by signing in, where no gateway runs just now. */
export async function newProject(
  dataFolder: string,
  slug: string,
  owner?: string,
): Promise<TeamProject> {
  return withGateway(dataFolder, (site) => foundProject(site, { slug, owner }));
}

/** Projects of as many people. */
export function newProjects(dataFolder: string, count: number): Promise<TeamProject[]> {
  return withGateway(dataFolder, async (site) => {
    const made: TeamProject[] = [];
    for (let n = 0; n < count; n += 1) made.push(await foundProject(site, { slug: `team-${n}` }));
    return made;
  });
}

function withGateway<T>(folder: string, work: (site: SignInSite) => Promise<T>): Promise<T> {
  const open = (url: string): Promise<Gateway> =>
    Gateway.open({
      dataFolder: folder,
      urls: { api: url, mcp: `${url}/mcp`, hooks: url },
      ratePerMinute: 0,
      signIn: true,
      log: pino({ level: 'silent' }),
      onFatal: (error) => {
        throw error;
      },
    });
  return whileOpen(open, (url) => work({ url, folder }));
}

export interface GatewayWanted {
  readonly dataFolder: string;
  /** Where it listens, and what members are told; a host and a port that are free. */
  readonly listen: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The network namespace it runs in. */
  readonly netns?: string;
}

/** The hosted process, as `svc gateway` runs it. */
export class TeamGateway {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #exited: Promise<unknown>;

  private constructor(url: string, child: ChildProcess, exited: Promise<unknown>) {
    this.url = url;
    this.#process = child;
    this.#exited = exited;
  }

  /** Resolves when it listens. */
  static async start({ dataFolder, listen, env, netns }: GatewayWanted): Promise<TeamGateway> {
    const url = `http://${listen}`;
    const [program, ...args] = inNamespace(netns, [process.execPath, GATEWAY, '--json']);
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        ...UNLIMITED,
        SVC_LOG_LEVEL: 'error',
        SVC_DATA: dataFolder,
        SVC_LISTEN: listen,
        SVC_PUBLIC_URL: url,
        SVC_SIGN_UP: 'open',
        ...env,
      },
    });
    const exited = once(child, 'exit');
    const lines = createInterface({ input: child.stdout });
    const first = await Promise.race([once(lines, 'line'), exited.then(() => null)]);
    if (!first) throw new Error(`The gateway at ${listen} did not start.`);
    return new TeamGateway(url, child, exited);
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Ends it with this signal; resolves when it is gone. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill(signal);
    }
    await this.#exited;
  }
}

export interface MemberWanted {
  /** The folder of its state. */
  readonly home: string;
  readonly gateway: string;
  readonly project: TeamProject;
  readonly env?: Readonly<Record<string, string>>;
  readonly netns?: string;
}

/** An answer of a daemon. */
export interface Called {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

interface Up {
  readonly base_url: string;
  readonly socket: string;
  readonly pid: number;
  readonly mode: string;
}

/** A team member's machine: a home, signed in, and the daemon on it. */
export class Member {
  readonly #wanted: MemberWanted;
  baseUrl = '';
  socketPath = '';
  pid = 0;

  constructor(wanted: MemberWanted) {
    this.#wanted = wanted;
    const { gateway, home, project } = wanted;
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const profile = { gateway, api_key: project.apiKey, project: project.id };
    const credentials = { profiles: { team: profile }, current: 'team' };
    writeFileSync(join(home, 'credentials.json'), JSON.stringify(credentials), { mode: 0o600 });
  }

  /** Runs `svc up`, which returns once the daemon answers. */
  async up(): Promise<Up> {
    const up = JSON.parse(await this.svc(['up', '--port', '0', '--json'])) as Up;
    this.baseUrl = up.base_url;
    this.socketPath = up.socket;
    this.pid = up.pid;
    return up;
  }

  /** What a command prints; rejects with its standard error when it fails. */
  svc(args: readonly string[]): Promise<string> {
    const { home, env, netns } = this.#wanted;
    const [program, ...rest] = inNamespace(netns, [process.execPath, SVC, ...args]);
    return new Promise((done, fail) => {
      const options = { env: { ...process.env, ...env, SVC_HOME: home } };
      execFile(program, rest, options, (error, out, err) => {
        if (error) fail(new Error(`svc ${args.join(' ')}: ${err || error.message}`));
        else done(out);
      });
    });
  }

  /** The answer of a command as JSON. */
  async json(args: readonly string[]): Promise<Record<string, unknown>> {
    return JSON.parse(await this.svc([...args, '--json'])) as Record<string, unknown>;
  }

  /** Its replica's file; null if it has none yet. */
  get replicaFile(): string | null {
    return filesUnder(this.#wanted.home).find((path) => path.endsWith('/replica.db')) ?? null;
  }

  /** A call to its daemon, with its own key unless there is another. */
  async call(
    method: string,
    path: string,
    body?: object,
    key = this.#wanted.project.apiKey,
  ): Promise<Called> {
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: JSON.parse(text) };
  }

  down(): Promise<string> {
    return this.svc(['down']);
  }
}

function inNamespace(netns: string | undefined, command: readonly string[]): [string, ...string[]] {
  const [program = '', ...args] = command;
  return netns === undefined
    ? [program, ...args]
    : ['ip', 'netns', 'exec', netns, program, ...args];
}
