import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpClient } from '../../cli/call/client.ts';
import { HOOK_CLIENTS } from '../../cli/hooks/clients.ts';
import { decide } from '../../cli/hooks/decide.ts';
import { questionAbout } from '../../cli/hooks/question.ts';
import { claudeCode } from '../cli/hooks/payloads.ts';
import { pathOf, WebVisitor } from '../gateway/web/inbox/web-visitor.ts';
import { temporaryFolder, TestGateway } from '../helpers/gateway.ts';
import { runMark } from '../helpers/reaper.ts';

/** `SVC_PROMPT_RACES=1000` for the long version. Every tenth has a hook that's a process of its own. */
const RACES = Number(process.env['SVC_PROMPT_RACES'] ?? 60);
const PROCESS_EACH = 10;
/** The screen comes before the person or after them, by up to as long as the person's press takes. */
const STEPS = 12;
const OWNER = 'ana@example.com';
const ON_SCREEN = 'the prompt was answered or closed on the screen.';
const TOO_LATE = 'This came too late for the agent.';
/** What the page says to whoever wasn't first. */
const TOLD = ['already withdrawn', TOO_LATE];

const folder = temporaryFolder();
let gateway: TestGateway;
let visitor: WebVisitor;

beforeAll(async () => {
  gateway = await TestGateway.start();
  await gateway.gateway.setOwner(gateway.projectId, OWNER);
  visitor = await WebVisitor.asOwner(gateway, OWNER);
});
afterAll(async () => {
  await gateway.stop();
  folder.remove();
});

/** A hook whose question is open. */
interface Hook {
  /** The prompt is answered on the screen. */
  readonly answeredOnScreen: () => void;
  /** What it tells its client in the end. */
  readonly said: Promise<'allow' | 'deny' | 'nothing'>;
}

function hookHere(command: string): Hook {
  const { read, title } = HOOK_CLIENTS['claude-code'];
  const call = read(claudeCode(command));
  const question = call && questionAbout(call, title);
  if (question === null || typeof question === 'string')
    throw new Error(`No question: ${question}`);
  const screen = new AbortController();
  const client = new HttpClient({
    home: { credentialsFile: '', daemonFile: '', socketPath: '' },
    env: {},
    connection: { gateway: new URL(gateway.url), apiKey: gateway.apiKey },
    warn: () => undefined,
  });
  const verdict = decide({ client, question, waitMs: 60_000, signal: screen.signal });
  const said = verdict.then(({ kind }) => {
    return kind === 'undecided' || screen.signal.aborted ? 'nothing' : kind;
  });
  return { answeredOnScreen: () => screen.abort(), said };
}

function hookProcess(command: string): Hook {
  const env = {
    ...process.env,
    ...runMark(),
    SVC_HOME: folder.path,
    SVC_GATEWAY: gateway.url,
    SVC_API_KEY: gateway.apiKey,
  };
  const args = [resolve('dist/svc.cjs'), 'hook', 'run', 'claude-code'];
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(claudeCode(command)));
  const [out, ended] = [text(child.stdout), once(child, 'close')];
  const said = ended.then(async () => {
    const behavior = /"behavior":"(allow|deny)"/.exec(await out)?.[1];
    return behavior === undefined ? 'nothing' : (behavior as 'allow' | 'deny');
  });
  return { answeredOnScreen: () => void child.kill('SIGTERM'), said };
}

interface Asked {
  readonly request_id: string;
  readonly status: string;
  readonly hint: string | null;
}

async function open(): Promise<string> {
  for (;;) {
    const { body } = await gateway.call<{ items: Asked[] }>('GET', '/v1/requests?status=pending');
    const [first] = body.items;
    if (first) return first.request_id;
    await sleep(2);
  }
}

/** How long presses took so far, in milliseconds. */
const presses: number[] = [20];

function usualPress(): number {
  return presses.toSorted((one, other) => one - other)[Math.floor(presses.length / 2)] ?? 0;
}

async function press(page: string, verb: string): Promise<string> {
  const at = performance.now();
  const { location } = await visitor.post(page, { fields: { verb } });
  presses.push(performance.now() - at);
  return location ?? page;
}

/** Who was first with one prompt that the screen and the person answer at one moment; both if neither knew of the other. */
async function race(round: number): Promise<'person' | 'screen' | 'both'> {
  const verb = round % 2 === 0 ? 'approve' : 'deny';
  const hook = (round % PROCESS_EACH === 0 ? hookProcess : hookHere)(`touch race-${round}`);
  const id = await open();
  const page = await pathOf(gateway, id);
  await visitor.get(page);
  const lead = ((round % (2 * STEPS + 1)) / STEPS - 1) * usualPress();
  // The first two are no races: each side is alone once.
  const screen = async () => {
    if (round === 1) await hook.said;
    else await sleep(Math.max(0, lead));
    hook.answeredOnScreen();
  };
  const person = async () => {
    if (round === 0) await hook.said;
    else await sleep(Math.max(0, -lead));
    return press(page, verb);
  };
  const [seen] = await Promise.all([person(), screen()]);
  const said = await hook.said;
  const { body } = await gateway.call<Asked>('GET', `/v1/requests/${id}`);
  const { html } = await visitor.get(seen);
  const told = TOLD.filter((words) => html.includes(words));
  const [decided, answer] = verb === 'approve' ? ['approved', 'allow'] : ['denied', 'deny'];
  const withdrawn = `withdrawn: ${ON_SCREEN}`;
  const ends = {
    screen: { status: 'expired', hint: withdrawn, said: 'nothing', told: ['already withdrawn'] },
    both: { status: decided, hint: `unused: ${ON_SCREEN}`, said: 'nothing', told: [TOO_LATE] },
    person: { status: decided, hint: null, said: answer, told: [] },
  };
  const ended = { status: body.status, hint: body.hint, said, told };
  const winner = (['screen', 'both', 'person'] as const).find((one) =>
    isDeepStrictEqual(ended, ends[one]),
  );
  if (winner === undefined) throw new Error(`Round ${round} ended with ${JSON.stringify(ended)}`);
  return winner;
}

describe(`${RACES} prompts that the screen and a person answer at one moment`, () => {
  it('have one answer each, and the other is told', { timeout: RACES * 10_000 }, async () => {
    const counted = { person: 0, screen: 0, both: 0 };
    for (let round = 0; round < RACES; round += 1) counted[await race(round)] += 1;
    expect(Math.min(counted.person, counted.screen)).toBeGreaterThan(0);
    const { body: left } = await gateway.call<{ items: unknown[] }>(
      'GET',
      '/v1/inbox?status=pending',
    );
    expect(left.items).toEqual([]);
    const { body: ledger } = await gateway.call('POST', '/v1/ledger/verify');
    expect(ledger).toMatchObject({ ok: true });
  });
});
