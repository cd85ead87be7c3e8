import { execFileSync, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { runs } from './daemon.ts';
import { runMark } from './reaper.ts';
import { ScriptedModel, type ModelStep } from './scripted-model.ts';

/** Its program, which the repository doesn't have: `npm i @anthropic-ai/claude-code` brings it. */
export const CLAUDE_CODE = process.env['SVC_CLAUDE_CODE'] ?? '';

const KEY = 'sk-ant-test';
const SOON = { timeout: 120_000 };

/** A user's home, where Claude Code has been set up. */
export function claudeHome(path: string): string {
  mkdirSync(path, { recursive: true });
  const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  const settings = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: [KEY], rejected: [] },
    projects: { [path]: trusted },
  };
  writeFileSync(join(path, '.claude.json'), JSON.stringify(settings));
  return path;
}

interface ClaudeCodeOptions {
  /** The user's home, where it also works. */
  readonly home: string;
  readonly steps: readonly ModelStep[];
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The real Claude Code on a scripted model, in a terminal: only there it takes tasks, and shows prompts. */
export class ClaudeCode {
  readonly model: ScriptedModel;
  readonly #child: ChildProcessWithoutNullStreams;
  /** All that was on the screen so far. */
  #bytes = '';

  private constructor(model: ScriptedModel, child: ChildProcessWithoutNullStreams) {
    this.model = model;
    this.#child = child;
    child.stdout.on('data', (bytes: Buffer) => (this.#bytes += bytes.toString()));
    // One that has ended takes no keys.
    child.stdin.on('error', () => undefined);
  }

  static async start({
    home,
    steps,
    flags = [],
    env = {},
  }: ClaudeCodeOptions): Promise<ClaudeCode> {
    const model = await ScriptedModel.start(steps);
    const command = `stty rows 50 cols 160; exec ${[CLAUDE_CODE, ...flags].join(' ')}`;
    const child = spawn('script', ['-qfec', command, '/dev/null'], {
      cwd: home,
      env: {
        ...process.env,
        ...runMark(),
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: KEY,
        DISABLE_TELEMETRY: '1',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        TERM: 'xterm-256color',
        ...env,
        HOME: home,
      },
    });
    const claude = new ClaudeCode(model, child);
    await claude.shows('❯');
    return claude;
  }

  /** All that was on the screen so far, without its colours and spaces. */
  get shown(): string {
    // oxlint-disable-next-line no-control-regex -- terminals are told so
    return this.#bytes.replaceAll(/\u001B\[[0-9;?]*[ -/]*[@-~]|\s/g, '');
  }

  /** Waits until this was on the screen. */
  async shows(words: string): Promise<void> {
    const wanted = words.replaceAll(/\s/g, '');
    await vi.waitUntil(() => this.shown.includes(wanted), SOON);
  }

  type(keys: string): void {
    this.#child.stdin.write(keys);
  }

  /** Types a line, and sends it once it's there. A client that's still starting may not hear the first press. */
  async says(line: string): Promise<void> {
    const { length } = this.model.told;
    this.type(line);
    await this.shows(line);
    const isHeard = (): boolean => this.model.told.length > length;
    const press = (): boolean => {
      if (!isHeard()) this.type('\r');
      return isHeard();
    };
    await vi.waitUntil(press, { ...SOON, interval: 2_000 });
  }

  /** Ends the session, as somebody who closes the terminal; resolves when its servers have ended, too. */
  async leave(): Promise<void> {
    if (this.#child.signalCode !== null) return;
    const all = processesBelow(this.#child.pid ?? 0);
    const ended = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await ended;
    await vi.waitUntil(() => !all.some(runs), SOON);
    await this.model.stop();
  }
}

function processesBelow(pid: number): number[] {
  const list = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' });
  const pairs = [...list.matchAll(/(\d+) +(\d+)/g)].map(([, one, parent]) =>
    [one, parent].map(Number),
  );
  const below = (of: number): number[] =>
    pairs.flatMap(([one = 0, parent]) => (parent === of ? [one, ...below(one)] : []));
  return below(pid);
}
