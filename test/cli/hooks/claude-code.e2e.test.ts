import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebVisitor } from '../../gateway/web/inbox/web-visitor.ts';
import { CLAUDE_CODE, ClaudeCode, claudeHome } from '../../helpers/claude-code.ts';
import { svc, svcUp } from '../../helpers/daemon.ts';
import { FakeTelegram } from '../../helpers/fake-telegram.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { linkToken, tokensOf } from '../../helpers/outbox.ts';
import { visit } from '../../helpers/page-visitor.ts';
import type { FakeMessage, FakePerson } from '../../helpers/telegram-person.ts';

const PATIENCE = { timeout: 120_000 };
const PROMPT = 'Do you want to proceed?';
const ON_SCREEN = 'withdrawn: the prompt was answered or closed on the screen.';
const ESCAPE = '\u001B';

type Fields = Readonly<Record<string, unknown>>;

const folder = temporaryFolder();
const home = join(folder.path, 'svc');
const data = join(home, 'data');
let base: string;
let telegram: FakeTelegram;
let ana: FakePerson;
const sessions: ClaudeCode[] = [];

async function jsonOf(...args: string[]): Promise<Fields> {
  return JSON.parse(await svc(home, [...args, '--json'])) as Fields;
}

/** What the links of mails so far are. */
const linksSoFar = (): number => tokensOf(data, 'a').length;

/** The page of the next mail, whose count is known from before. */
async function pageAfter(links: number): Promise<string> {
  return `${base}/a/${await linkToken(data, 'a', links + 1)}`;
}

async function messageAbout(words: string): Promise<FakeMessage> {
  const find = (): FakeMessage | undefined => ana.received.find(({ html }) => html.includes(words));
  await expect.poll(find, PATIENCE).toBeDefined();
  const found = find();
  if (!found) throw new Error('The message is gone.');
  return found;
}

async function letInByTelegram(): Promise<void> {
  const links = linksSoFar();
  const { start_url: url } = await jsonOf('channel', 'add', 'telegram', '--label', 'ana');
  ana.says(`/start ${new URL(String(url)).searchParams.get('start') ?? ''}`);
  await visit(await pageAfter(links), { button: 'My own channel' });
}

/** The newest question. */
async function asked(): Promise<Fields> {
  const { items } = await jsonOf('request', 'list', '--status', 'all', '--limit', '1');
  const [newest] = items as Fields[];
  return newest ?? {};
}

/** The newest question about this file, once there is one. */
async function askedAbout(name: string): Promise<Fields> {
  await expect.poll(async () => (await asked())['summary'], PATIENCE).toContain(name);
  return asked();
}

/** A user with the hook, in a folder of their own. */
async function userWithHook(name: string, ...flags: string[]): Promise<string> {
  const user = claudeHome(join(folder.path, name));
  await svc(home, ['hook', 'install', 'claude-code', ...flags], { HOME: user });
  return user;
}

interface Session {
  readonly claude: ClaudeCode;
  /** The file that the agent's command makes if it may run. */
  readonly made: string;
}

/** An agent that wants to make a file, and whose prompt is on the screen. */
async function prompted(
  user: string,
  name: string,
  also: Partial<Parameters<typeof ClaudeCode.start>[0]> & { command?: string } = {},
): Promise<Session> {
  const made = join(user, name);
  const { command = `touch ${name}`, flags = [], ...rest } = also;
  const claude = await ClaudeCode.start({
    home: user,
    steps: [
      { tool: 'Bash', input: { command, description: 'Make a file' } },
      { text: 'I went on.' },
    ],
    flags: ['--permission-mode', 'default', ...flags],
    ...rest,
  });
  sessions.push(claude);
  await claude.says('Goahead');
  await claude.shows(PROMPT);
  expect(existsSync(made)).toBe(false);
  return { claude, made };
}

/** The tool ran, and the model was told so, at its second call. */
async function ran({ claude, made }: Session): Promise<void> {
  await claude.shows('I went on.');
  expect(existsSync(made)).toBe(true);
  expect(claude.model.told).toHaveLength(2);
}

describe.runIf(CLAUDE_CODE !== '')('a prompt of the real Claude Code', () => {
  let user: string;

  beforeAll(async () => {
    telegram = await FakeTelegram.start();
    ana = telegram.person(4711, 'Ana');
    const env = { SVC_TELEGRAM_TOKEN: telegram.token, SVC_TELEGRAM_API_ROOT: telegram.url };
    ({ base_url: base } = await svcUp(home, env));
    await letInByTelegram();
    user = await userWithHook('user');
  });
  afterEach(async () => {
    for (const one of sessions.splice(0)) await one.leave();
  });
  afterAll(async () => {
    await svc(home, ['down']);
    await telegram.stop();
    folder.remove();
  });

  it('is answered on the page of a mail, and the command runs', async () => {
    const links = linksSoFar();
    const session = await prompted(user, 'by-mail');
    await visit(await pageAfter(links), { button: 'Approve' });
    await ran(session);
    expect(await asked()).toMatchObject({ status: 'approved', action: 'tool.Bash' });
  });

  it('is answered in the web inbox, and the command runs', async () => {
    const session = await prompted(user, 'by-web');
    const { request_id: id } = await askedAbout('by-web');
    const person = new WebVisitor({ url: base });
    const { pathname } = new URL(String((await jsonOf('open', '--print'))['url']));
    await person.enter(pathname);
    const page = `/ui/p/local/requests/${String(id)}`;
    expect((await person.get(page)).html).toContain('by-web');
    expect(await person.post(page, { fields: { verb: 'approve' } })).toMatchObject({ status: 303 });
    await ran(session);
    expect(await asked()).toMatchObject({ request_id: id, status: 'approved' });
  });

  it('is answered in Telegram, and the command runs', async () => {
    const session = await prompted(user, 'by-telegram');
    ana.taps(await messageAbout('by-telegram'), 'Approve');
    await ran(session);
    expect(await asked()).toMatchObject({ status: 'approved' });
  });

  it('is denied, and the model reads the comment', async () => {
    const links = linksSoFar();
    const { claude, made } = await prompted(user, 'denied');
    const typed = { comment: 'use the staging copy' };
    await visit(await pageAfter(links), { button: 'Deny', typed });
    await claude.shows('I went on.');
    expect(existsSync(made)).toBe(false);
    expect(claude.model.told[1]).toContain('A person denied this: use the staging copy');
  });

  it.each([
    ['allowed', '\r', true],
    ['refused', ESCAPE, false],
  ])('that is %s on the screen takes its question back', async (name, key, isMade) => {
    const { claude, made } = await prompted(user, name);
    const { request_id: id } = await askedAbout(name);
    claude.type(key);
    await expect.poll(asked, PATIENCE).toMatchObject({ request_id: id, hint: ON_SCREEN });
    if (isMade) await claude.shows('I went on.');
    expect(existsSync(made)).toBe(isMade);
  });

  it('stays on the screen when nobody answers in time', async () => {
    const impatient = await userWithHook('impatient', '--wait', '10s');
    const session = await prompted(impatient, 'in-time');
    await askedAbout('in-time');
    await expect.poll(asked, PATIENCE).toMatchObject({
      hint: 'withdrawn: nobody answered in time, so the prompt on the screen decides.',
    });
    session.claude.type('\r');
    await ran(session);
  });

  it('is answered through the hook of the plugin, with a key of its own', async () => {
    const plain = claudeHome(join(folder.path, 'plain'));
    const bin = join(folder.path, 'bin');
    mkdirSync(bin);
    symlinkSync(resolve('dist/svc.cjs'), join(bin, 'svc'));
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, SVC_HOME: home };
    const links = linksSoFar();
    const flags = ['--plugin-dir', resolve('dist/plugin/svc')];
    const session = await prompted(plain, 'by-plugin', { flags, env });
    await visit(await pageAfter(links), { button: 'Approve' });
    await ran(session);
    const { items } = await jsonOf('key', 'list');
    expect(items).toContainEqual(
      expect.objectContaining({ name: expect.stringContaining('hook: claude-code') as string }),
    );
  });

  it('stays on the screen without a daemon', async () => {
    await svc(home, ['down']);
    const session = await prompted(user, 'alone');
    expect(existsSync(session.made)).toBe(false);
    session.claude.type('\r');
    await ran(session);
  });
});
