import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sign } from '@octokit/webhooks-methods';
import examples from '@octokit/webhooks-examples';
import { svc } from '../helpers/daemon.ts';
import { tokensOf } from '../helpers/outbox.ts';
import { visit } from '../helpers/page-visitor.ts';

const SECRET = 'my-secret';
const BUNDLE = resolve('dist/svc.cjs');

/** Runs before the bot: makes `svc` the built program, and kills the agent or the daemon at the point that a file names. */
const PRELUDE = `
kill_victim() {
  case $1 in
    agent) kill -9 "$(cat "$STAGE/$SVC_EVENT_SOURCE.pid")"; kill -9 0 ;;
    daemon) kill -9 "$(grep -o '"pid": *[0-9]*' "$SVC_HOME/daemon.json" | grep -o '[0-9]*$')" ;;
  esac
}
# point STEP WHEN: the file is named by the pull request, whether the bot runs again, the step and the moment.
point() {
  [[ $pr =~ \\"number\\":([0-9]+) ]] || return 0
  local file="$STAGE/points/\${BASH_REMATCH[1]}-\${SVC_RESUMED:-0}-$1-$2" victim
  victim=$(cat "$file" 2> /dev/null) || return 0
  rm "$file"
  if [ "$2" = during ]; then
    (sleep "0.$((RANDOM % 6))"; kill_victim "$victim") > /dev/null 2>&1 &
  else
    kill_victim "$victim"
  fi
}
svc() {
  local step=$1 rc
  [ "$1" = once ] && step=$2
  point "$step" before
  point "$step" during
  "$NODE" "$BUNDLE" "$@"; rc=$?
  point "$step" after
  return $rc
}
trap 'rc=$?; point ack before; point ack during; exit $rc' EXIT
`;

/** The program that reviews and merges for the bot: it records each act. */
const ECHO = `#!/bin/sh
/bin/echo "$*" >> "$STAGE/acts"
/bin/echo "$*"
`;

/** A push to a pull request, as GitHub sends it. */
export interface Push {
  readonly number: number;
  readonly sha: string;
  readonly action?: 'opened' | 'synchronize';
}

interface Asked {
  readonly request_id: string;
  readonly status: string;
  readonly event_id: string | null;
  readonly bind: { readonly number: number; readonly sha: string } | null;
}

interface Lane {
  readonly hook: string;
  readonly command: readonly string[];
  worker: ChildProcess | null;
}

/** A local daemon that may be killed, workers with the bot of docs/loop.md, and a person at the outbox. */
export class BotStage {
  readonly #home: string;
  readonly #lanes = new Map<string, Lane>();
  readonly #opened = new Set<string>();
  #base = '';
  #isOver = false;
  #keeper: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#home = folder;
    mkdirSync(join(folder, 'stage', 'points'), { recursive: true });
    mkdirSync(join(folder, 'stage', 'bin'));
    const echo = join(folder, 'stage', 'bin', 'echo');
    writeFileSync(echo, ECHO);
    chmodSync(echo, 0o755);
  }

  async start(): Promise<void> {
    await this.#up();
    this.#keeper = this.#keep();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#keeper;
    for (const { worker } of this.#lanes.values()) {
      if (worker?.exitCode !== null || worker.signalCode !== null) continue;
      const ended = once(worker, 'exit');
      worker.kill('SIGINT');
      await ended;
    }
    await svc(this.#home, ['down']).catch(() => undefined);
  }

  /** A source for GitHub, and a worker for it that runs the bot of the docs, started again whenever it ends. */
  async lane(name: string, change: (bot: string) => string = (bot) => bot): Promise<void> {
    const args = ['inbox', 'work', '--source', name, '--exec', 'bash bot.sh', '--lease-seconds'];
    await this.#addLane(name, [BUNDLE, ...args, '30']);
    writeFileSync(join(this.#stage(name), 'bot.sh'), PRELUDE + change(documentedBot()));
  }

  /** A source for GitHub, and a program of ours as its worker. */
  async programLane(name: string, files: Readonly<Record<string, string>>): Promise<void> {
    await this.#addLane(name, Object.keys(files).slice(0, 1));
    for (const [file, text] of Object.entries(files)) {
      writeFileSync(join(this.#stage(name), file), text);
    }
  }

  /** Kills the daemon, which is started again. */
  killDaemon(): void {
    const record = readFileSync(join(this.#home, 'daemon.json'), 'utf8');
    process.kill((JSON.parse(record) as { pid: number }).pid, 'SIGKILL');
  }

  async #addLane(name: string, command: readonly string[]): Promise<void> {
    const args = ['source', 'add', name, '--verification', 'github', '--secret', SECRET];
    const { url } = JSON.parse(await svc(this.#home, [...args, '--json'])) as { url: string };
    mkdirSync(this.#stage(name));
    this.#lanes.set(name, { hook: new URL(url).pathname, command, worker: null });
  }

  /** Delivers a signed push, again while the daemon is away; answers the id of its event. */
  async push(lane: string, { number, sha, action = 'opened' }: Push): Promise<string> {
    const body = JSON.stringify(payloadOf(number, sha, action));
    const headers = {
      'content-type': 'application/json',
      'x-github-event': 'pull_request',
      'x-github-delivery': `${number}-${sha}`,
      'x-hub-signature-256': await sign(SECRET, body),
    };
    const path = this.#lanes.get(lane)?.hook ?? '';
    return retried(async () => {
      const answer = await fetch(this.#base + path, { method: 'POST', headers, body });
      if (!answer.ok) throw new Error(`The delivery was answered ${answer.status}.`);
      return ((await answer.json()) as { event_id: string }).event_id;
    });
  }

  /** Kills `agent` or `daemon` once, when the bot of this pull request comes to a point such as `0-ask-before`. */
  killAt(number: number, point: string, victim: 'agent' | 'daemon'): void {
    writeFileSync(join(this.#stage('points'), `${number}-${point}`), victim);
  }

  /** The points at which nobody was killed. */
  pointsLeft(number: number, point: string): boolean {
    return existsSync(join(this.#stage('points'), `${number}-${point}`));
  }

  /** Presses a button on the page of each request that came since, and answers how many there were. */
  async decide(button: 'Approve' | 'Deny', about = ''): Promise<number> {
    const tokens = tokensOf(join(this.#home, 'data'), 'a').filter((one) => !this.#opened.has(one));
    let decided = 0;
    for (const token of new Set(tokens)) {
      const link = (): string => `${this.#base}/a/${token}`;
      const isAbout = await retried(async () => {
        const answer = await fetch(link());
        if (!answer.ok) throw new Error(`The page was answered ${answer.status}.`);
        const page = await answer.text();
        if (!page.includes(about)) return false;
        // The answer to the form may be lost with the daemon: then the page has no buttons any more.
        if (page.includes(`>${button}<`)) await visit(link(), { button });
        return true;
      });
      if (!isAbout) continue;
      this.#opened.add(token);
      decided += 1;
    }
    return decided;
  }

  /** The bots' acts, a line each. */
  acts(): string[] {
    const file = this.#stage('acts');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  /** Runs a command; rejects with what it prints if it fails. */
  once(...args: string[]): Promise<string> {
    return svc(this.#home, args);
  }

  /** The JSON that a command prints, once the daemon is up. */
  async json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await retried(() => this.once(...args, '--json'))) as T;
  }

  async event(id: string): Promise<{ status: string; attempts: number; result: unknown }> {
    return this.json('inbox', 'get', id);
  }

  /** All requests, newest first. */
  async requests(): Promise<Asked[]> {
    const { items } = await this.json<{ items: Asked[] }>('request', 'list', '--limit', '100');
    return items;
  }

  #stage(name: string): string {
    return join(this.#home, 'stage', name);
  }

  async #up(): Promise<void> {
    const port = this.#base === '' ? '0' : new URL(this.#base).port;
    const out = await svc(this.#home, ['up', '--port', port, '--json']);
    this.#base = (JSON.parse(out) as { base_url: string }).base_url;
  }

  /** Starts workers and the daemon again after they were killed. */
  async #keep(): Promise<void> {
    while (!this.#isOver) {
      const isUp = await fetch(`${this.#base}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (!isUp) await this.#up().catch(() => undefined);
      for (const [name, lane] of this.#lanes) {
        const { worker } = lane;
        const runs = worker !== null && worker.exitCode === null && worker.signalCode === null;
        if (!runs) lane.worker = this.#startWorker(name, lane.command);
      }
      await sleep(100);
    }
  }

  #startWorker(name: string, command: readonly string[]): ChildProcess {
    const stage = join(this.#home, 'stage');
    const env = {
      ...process.env,
      SVC_HOME: this.#home,
      STAGE: stage,
      NODE: process.execPath,
      BUNDLE,
      PATH: `${join(stage, 'bin')}:${process.env['PATH'] ?? ''}`,
    };
    const options = { cwd: this.#stage(name), env, stdio: 'ignore' } as const;
    const worker = spawn(process.execPath, command, options);
    writeFileSync(join(stage, `${name}.pid`), String(worker.pid));
    return worker;
  }
}

/** The bot that docs/loop.md shows. */
function documentedBot(): string {
  const page = readFileSync('docs/loop.md', 'utf8');
  const bot = /<!-- docs: save bot\.sh -->\s*```sh\n([\s\S]*?)```/.exec(page)?.[1];
  if (bot === undefined) throw new Error('docs/loop.md shows no bot.');
  return bot;
}

function payloadOf(number: number, sha: string, action: string): unknown {
  const webhooks = examples as unknown as readonly {
    readonly name: string;
    readonly examples: readonly { action?: string; pull_request?: { head: object } }[];
  }[];
  const ofPullRequests = webhooks.find(({ name }) => name === 'pull_request')?.examples ?? [];
  const example = ofPullRequests.find((one) => one.action === action);
  if (!example?.pull_request) throw new Error(`GitHub documents no pull_request.${action}.`);
  const { pull_request } = example;
  const head = { ...pull_request.head, sha };
  return { ...example, number, pull_request: { ...pull_request, number, head } };
}

/** For what fails while the daemon is away. */
async function retried<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      if (tries >= 100) throw error;
      await sleep(200);
    }
  }
}
