import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { mailsOf } from '../helpers/outbox.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { visit } from '../helpers/page-visitor.ts';
import { findProgram, freePort } from '../helpers/programs.ts';
import { TeamGateway } from '../helpers/team.ts';
import { parsedMail } from '../gateway/mail/parsed-mail.ts';
import type { Step } from './page.ts';
import { Screen } from './screen.ts';

/** The addresses that pages show, whatever the ports are that they run at. */
const DAEMON_SHOWN = '127.0.0.1:4780';
const GATEWAY_SHOWN = '127.0.0.1:4790';
const RECEIVER_SHOWN = '127.0.0.1:3000';
const DATA_SHOWN = '/var/lib/svc-gateway';
/** The home folder that pages show. */
const HOME_SHOWN = '/home/ana';
const COLUMNS = 100;
const PATIENCE_MS = 60_000;

/** What a command says when it begins to wait for a person. */
const ASKED = /saved here, not mailed|has no mail server|Sent mail to|Open the link mailed to/;

const SCRIPT = findProgram('script') ?? '';

/** Whether pages can be run here: `script` of util-linux gives commands a terminal. */
export function hasTerminals(): boolean {
  return (spawnSync(SCRIPT, ['--version'], { encoding: 'utf8' }).stdout ?? '').includes(
    'util-linux',
  );
}

/** A command that stands on no page. */
export function unshown(command: string): Step {
  return { machine: '', command, output: [], directives: [], silent: false, at: 0 };
}

/** What a command printed. */
export interface Printed {
  readonly code: number;
  readonly raw: string;
  readonly lines: readonly string[];
}

interface StageOptions {
  readonly color?: boolean;
  readonly columns?: number;
  /** The command line of the shell that reads the commands. */
  readonly shell?: string;
}

/** Where the commands of a page run: machines with homes of their own, people who read their mail, and a gateway. */
export class Stage {
  readonly #folder = temporaryFolder();
  readonly #color: boolean;
  readonly #columns: number;
  readonly #shell: string;
  readonly #ports = new Map<string, string>();
  readonly #seen = new Map<string, string>();
  readonly #visited = new Set<string>();
  #gateway: TeamGateway | null = null;
  #receiver: Server | undefined;
  #lastExit = 0;
  #printed = '';

  private constructor({ color, columns, shell }: Required<StageOptions>) {
    this.#color = color;
    this.#columns = columns;
    this.#shell = shell;
  }

  /** With the daemon of the machine without a name up, so that a page need not begin with `svc up`. */
  static open({ color = false, columns = COLUMNS, shell = 'bash' }: StageOptions = {}): Stage {
    const stage = new Stage({ color, columns, shell });
    stage.#shims();
    stage.#machine('');
    return stage;
  }

  /** Runs a command of a page as it stands there: what an earlier run called differently is put in its place. */
  async run(step: Step): Promise<Printed> {
    const home = this.#machine(step.machine);
    const meanwhile: string[] = [];
    for (const directive of step.directives) {
      const [, others] = /^meanwhile (.*)$/.exec(directive) ?? [];
      if (others === undefined) await this.#direct(directive);
      else meanwhile.push(others);
    }
    // A link that came before is not the one that this command is about.
    if (meanwhile.length > 0) for (const link of this.#links()) this.#visited.add(link);
    this.#printed = '';
    const [raw] = await Promise.all([
      this.#inTerminal(step, home),
      ...meanwhile.map((directive) => this.#onceAsked(step, directive)),
    ]);
    this.#notePort(step.machine);
    const lines = this.#shown(new Screen().write(raw).text(), step.machine);
    this.#remember(raw);
    return { code: this.#lastExit, raw: this.#shown([raw], step.machine).join(''), lines };
  }

  async close(): Promise<void> {
    for (const machine of this.#ports.keys()) {
      spawnSync(join(this.#folder.path, 'bin', 'svc'), ['down'], {
        env: this.#environment(this.#homeOf(machine), machine),
      });
    }
    await this.#gateway?.end();
    this.#receiver?.close();
    this.#receiver?.closeAllConnections();
    this.#folder.remove();
  }

  /**
   * `press "BUTTON"`: a person opens the newest link that came by mail, types the code of the terminal if the page wants one, and
   * presses it. `gateway`: one starts. `receiver`: a
   * server that takes what is posted to it. `file NAME CONTENT`: it is there. `run COMMAND`: one that the page does not show.
   */
  async #direct(directive: string): Promise<void> {
    const [, button] = /^press "(.*)"$/.exec(directive) ?? [];
    const [, unseen] = /^run (.*)$/.exec(directive) ?? [];
    const [, path, content] = /^file (\S+) (.*)$/.exec(directive) ?? [];
    if (directive === 'gateway') await this.#startGateway();
    else if (directive === 'receiver') await this.#startReceiver();
    else if (button !== undefined) {
      const link = await this.#newLink();
      const code = link.includes('/s/') ? await this.#code() : '';
      await visit(link, { button, typed: { code } });
    } else if (unseen !== undefined) await this.run(unshown(unseen));
    else if (path !== undefined && content !== undefined) {
      writeFileSync(join(this.#work(), path), content.replaceAll('\\n', '\n'));
    } else throw new Error(`No such directive: ${directive}`);
  }

  /** Once the command has said that it asks somebody, so that what it prints does not depend on who is quicker. */
  async #onceAsked(step: Step, directive: string): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    // With --json it says nothing.
    while (!step.command.includes('--json') && !ASKED.test(this.#printed)) {
      if (performance.now() > deadline) throw new Error(`Nobody was asked by: ${step.command}`);
      await new Promise((done) => setTimeout(done, 20));
    }
    await this.#direct(directive);
  }

  /** The code that the terminal shows, a moment after it says that it sent a mail. */
  async #code(): Promise<string> {
    const deadline = performance.now() + PATIENCE_MS;
    while (performance.now() < deadline) {
      const [code] = /\b[A-Z]+-[A-Z]+-\d\d\b/.exec(this.#printed) ?? [];
      if (code !== undefined) return code;
      await new Promise((done) => setTimeout(done, 20));
    }
    throw new Error('The terminal shows no code.');
  }

  async #newLink(): Promise<string> {
    const deadline = performance.now() + PATIENCE_MS;
    while (performance.now() < deadline) {
      const link = this.#links().findLast((one) => !this.#visited.has(one));
      if (link !== undefined) {
        this.#visited.add(link);
        return link;
      }
      await new Promise((done) => setTimeout(done, 20));
    }
    throw new Error('No mail with a new link came.');
  }

  #links(): string[] {
    const homes = [...this.#ports.keys()].map((machine) => join(this.#homeOf(machine), 'data'));
    const folders = [...homes, this.#gatewayData()].filter((folder) => existsSync(folder));
    return folders.flatMap((folder) =>
      mailsOf(folder).flatMap((mail) =>
        [...parsedMail(mail).text.matchAll(/http:\/\/\S+\/(?:[acs]|ui\/join)\/[0-9A-Za-z]+/g)].map(
          ([link]) => link,
        ),
      ),
    );
  }

  async #startGateway(): Promise<void> {
    const listen = `127.0.0.1:${await freePort()}`;
    const dataFolder = this.#gatewayData();
    mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
    this.#gateway = await TeamGateway.start({ dataFolder, listen });
  }

  async #startReceiver(): Promise<void> {
    const server = createServer((request, response) => {
      request.resume().on('end', () => response.end('thanks'));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    this.#receiver = server;
  }

  #receiverHost(): string | undefined {
    return this.#receiver && `127.0.0.1:${(this.#receiver.address() as AddressInfo).port}`;
  }

  #gatewayData(): string {
    return join(this.#folder.path, 'gateway');
  }

  /** Makes the machine at its first command: the one without a name has its daemon, the others have nothing. */
  #machine(machine: string): string {
    const home = this.#homeOf(machine);
    if (existsSync(home)) return home;
    mkdirSync(home, { mode: 0o700 });
    if (machine === '') {
      spawnSync(join(this.#folder.path, 'bin', 'svc'), ['up'], {
        env: this.#environment(home, machine),
      });
    }
    this.#notePort(machine);
    return home;
  }

  #homeOf(machine: string): string {
    return join(this.#folder.path, machine === '' ? 'home' : `home-${machine}`);
  }

  #work(): string {
    return join(this.#folder.path, 'work');
  }

  /** `svc` is the bundle, at a free port; `npx` is not needed for it. */
  #shims(): void {
    const bin = join(this.#folder.path, 'bin');
    mkdirSync(bin);
    mkdirSync(this.#work());
    const program = `"${process.execPath}" "${resolve('dist/svc.cjs')}"`;
    const shim = `#!/bin/sh\n[ "$1" = up ] && exec ${program} "$@" --port 0\nexec ${program} "$@"\n`;
    writeFileSync(join(bin, 'svc'), shim);
    writeFileSync(join(bin, 'npx'), '#!/bin/sh\nexec "$@"\n');
    for (const name of readdirSync(bin)) chmodSync(join(bin, name), 0o755);
  }

  #environment(home: string, machine: string): NodeJS.ProcessEnv {
    const { PATH: path = '', ...rest } = process.env;
    // Nothing of whoever runs this is to be seen or touched: no settings, and no browser.
    const own = Object.entries(rest).filter(([name]) => !/^SVC_|DISPLAY$/.test(name));
    return {
      ...Object.fromEntries(own),
      PATH: `${join(this.#folder.path, 'bin')}:${path}`,
      TERM: 'xterm',
      TZ: 'UTC',
      SVC_HOME: home,
      SVC_CALLBACK_ALLOW: '127.0.0.0/8',
      ...(machine === 'gateway' && { SVC_DATA: this.#gatewayData() }),
      ...(machine === 'new' && {
        SVC_DATA: join(this.#folder.path, 'gateway-new'),
        SVC_MASTER_KEY_FILE: join(this.#gatewayData(), 'master.key'),
      }),
      ...(!this.#color && { NO_COLOR: '1' }),
    };
  }

  async #inTerminal(step: Step, home: string): Promise<string> {
    // `$?` of the command before is there, as it is in a shell that goes on.
    const command = `stty cols ${this.#columns} rows 50; (exit ${this.#lastExit}); ${this.#actual(step)}`;
    const file = join(this.#folder.path, 'command.sh');
    writeFileSync(file, command);
    const child = spawn(SCRIPT, ['-qec', `${this.#shell} ${file}`, '/dev/null'], {
      cwd: this.#work(),
      env: this.#environment(home, step.machine),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (this.#printed += chunk));
    const [code] = (await once(child, 'close')) as [number | null];
    this.#lastExit = code ?? 1;
    return this.#printed;
  }

  /** `evt_…` of a page is the id of that kind that was printed last, and `/w/…` the path. */
  #actual({ command, machine }: Step): string {
    const named = command
      .replaceAll(/\b([a-z]{3})_…/g, (all, kind: string) => this.#last(kind, all))
      .replaceAll(/\/([a-z])\/…/g, (all, kind: string) => this.#last(`/${kind}/`, all));
    return named
      .replaceAll(DATA_SHOWN, this.#gatewayData())
      .replaceAll(DAEMON_SHOWN, this.#ports.get(machine) ?? DAEMON_SHOWN)
      .replaceAll(GATEWAY_SHOWN, this.#gateway?.url.replace('http://', '') ?? GATEWAY_SHOWN)
      .replaceAll(RECEIVER_SHOWN, this.#receiverHost() ?? RECEIVER_SHOWN);
  }

  #last(kind: string, otherwise: string): string {
    return this.#seen.get(kind) ?? otherwise;
  }

  #remember(raw: string): void {
    for (const [id, kind = ''] of raw.matchAll(/\b([a-z]{3})_[0-9a-z]{26}\b/g)) {
      this.#seen.set(kind, id);
    }
    for (const [path, kind = ''] of raw.matchAll(/\/([a-z])\/[0-9A-Za-z]{40}\b/g)) {
      this.#seen.set(`/${kind}/`, path);
    }
  }

  /** Where the daemon of a machine listens, as it has written down itself. */
  #notePort(machine: string): void {
    const file = join(this.#homeOf(machine), 'daemon.json');
    if (!existsSync(file)) return;
    const { base_url: url } = JSON.parse(readFileSync(file, 'utf8')) as { base_url: string };
    this.#ports.set(machine, new URL(url).host);
  }

  #shown(lines: readonly string[], machine: string): string[] {
    const pairs: (readonly [string | undefined, string])[] = [
      [this.#ports.get(machine), DAEMON_SHOWN],
      [this.#gateway?.url.replace('http://', ''), GATEWAY_SHOWN],
      [this.#receiverHost(), RECEIVER_SHOWN],
      [this.#homeOf(machine), `${HOME_SHOWN}/.svc`],
      [this.#work(), `${HOME_SHOWN}/work`],
      [this.#gatewayData(), DATA_SHOWN],
      [this.#folder.path, HOME_SHOWN],
      [process.execPath, '/usr/local/bin/node'],
      [resolve('dist'), '/usr/local/lib/node_modules/svc-agents/dist'],
    ];
    return lines.map((line) => {
      let text = line;
      for (const [real, shown] of pairs) if (real) text = text.replaceAll(real, shown);
      return text
        .replaceAll(/\bsvc_live_[0-9A-Za-z]{20,}/g, 'svc_live_…')
        .replaceAll(/\bwhsec_[0-9A-Za-z+/=]{20,}/g, 'whsec_…')
        .replaceAll(/\/([a-z])\/[0-9A-Za-z]{40}\b/g, '/$1/…');
    });
  }
}
