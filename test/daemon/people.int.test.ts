import { request } from 'node:http';
import { once } from 'node:events';
import { json } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCredentials, storeLocalKey } from '../../daemon/credentials.ts';
import { Daemon } from '../../daemon/daemon.ts';
import { resolveHome, type Home } from '../../daemon/home.ts';
import { askOwner, askStatus } from '../../daemon/probe.ts';
import { Gateway } from '../../gateway/gateway.ts';
import { FakeTelegram } from '../helpers/fake-telegram.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { linkToken } from '../helpers/outbox.ts';
import { visit } from '../helpers/page-visitor.ts';
import { cloningWriters } from '../helpers/writers.ts';

type Json = Record<string, unknown>;

let folder: ReturnType<typeof temporaryFolder>;
let home: Home;
const running: Daemon[] = [];
const bots: FakeTelegram[] = [];

beforeEach(() => {
  folder = temporaryFolder();
  home = resolveHome({ SVC_HOME: folder.path });
});
afterEach(async () => {
  for (const daemon of running.splice(0)) await daemon.stop();
  for (const bot of bots.splice(0)) await bot.stop();
  folder.remove();
});

async function start(env: NodeJS.ProcessEnv = {}, owner?: string): Promise<Daemon> {
  const daemon = await Daemon.start({
    home,
    env,
    port: 0,
    owner,
    ratePerMinute: 0,
    openWriters: cloningWriters,
    createLog: () => pino({ level: 'silent' }),
    onEnd: () => undefined,
  });
  running.push(daemon);
  return daemon;
}

async function stop(): Promise<void> {
  await running.pop()?.stop();
}

async function call(method: string, path: string, body?: Json): Promise<Json> {
  const key = readCredentials(home.credentialsFile)?.profiles['default']?.api_key ?? '';
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const sent = request({ socketPath: home.socketPath, method, path, headers, agent: false });
  sent.end(body && JSON.stringify(body));
  const [answer] = await once(sent, 'response');
  return (await json(answer)) as Json;
}

async function channels(): Promise<Json[]> {
  return (await call('GET', '/v1/channels'))['items'] as Json[];
}

async function people() {
  return (await askStatus(home.socketPath))?.people;
}

describe('the owner', () => {
  it('is nobody in particular unless named, and can be asked all the same', async () => {
    await start();
    expect(await channels()).toMatchObject([{ owner: true, status: 'active', kind: 'email' }]);
    expect(await people()).toEqual({
      mail: 'outbox',
      owner: null,
      telegram: false,
      telegram_trouble: null,
      active_email: 1,
      active_telegram: 0,
    });
  });

  it('is who is named at a start, from the first on, and remembered by the next', async () => {
    await start({}, 'ana@example.com');
    const [owner] = await channels();
    expect(await people()).toMatchObject({ owner: 'a***@example.com', active_email: 1 });
    await stop();
    await start();
    expect(await channels()).toEqual([owner]);
    expect(await people()).toMatchObject({ owner: 'a***@example.com' });
  });

  it('is changed at another start, and stays the same channel', async () => {
    await start();
    const [before] = await channels();
    await stop();
    await start({}, 'bob@example.org');
    expect(await channels()).toMatchObject([{ id: before?.['id'], address: 'b***@example.org' }]);
  });

  it('is made up for a project of a release that knew no people', async () => {
    const url = 'http://127.0.0.1:1';
    const gateway = await Gateway.open({
      dataFolder: home.dataFolder,
      urls: { api: url, mcp: `${url}/mcp`, hooks: url },
      ratePerMinute: 0,
      log: pino({ level: 'silent' }),
      onFatal: () => undefined,
      openWriters: cloningWriters,
    });
    const { info } = await gateway.projects.create({ name: 'local', slug: 'local' });
    const { apiKey } = await gateway.createAdminKey(info.id);
    await gateway.close();
    storeLocalKey(home.credentialsFile, { apiKey, project: info.id });
    const { record } = await start();
    expect(record.project).toBe(info.id);
    expect(await channels()).toMatchObject([{ owner: true, status: 'active' }]);
  });

  it('is changed in a running daemon over its socket', async () => {
    await start();
    expect(await askOwner(home.socketPath, 'ana+svc@example.com')).toBe(true);
    expect(await people()).toMatchObject({ owner: 'a***@example.com' });
    expect(await askOwner(home.socketPath, 'Ana <ana@example.com>')).toBe(false);
    expect(await people()).toMatchObject({ owner: 'a***@example.com' });
  });

  it('is not changed by anybody over the network', async () => {
    const { record } = await start();
    const url = `${record.base_url}/_daemon/owner?address=eve@example.com`;
    expect((await fetch(url, { method: 'POST' })).status).toBe(404);
    expect(await people()).toMatchObject({ owner: null });
  });
});

describe('Telegram', () => {
  it('that refuses the bot is named in the status, with the reason', async () => {
    const bot = await FakeTelegram.start();
    bots.push(bot);
    await start({ SVC_TELEGRAM_TOKEN: '1:another-token', SVC_TELEGRAM_API_ROOT: bot.url });
    await expect
      .poll(people)
      .toMatchObject({ telegram_trouble: 'Telegram, getMe: 401 Unauthorized' });
  });

  it('brings requests to a chat and decisions back, once the owner has let it in', async () => {
    const bot = await FakeTelegram.start();
    bots.push(bot);
    await start({ SVC_TELEGRAM_TOKEN: bot.token, SVC_TELEGRAM_API_ROOT: `${bot.url}/` });
    expect(await people()).toMatchObject({ telegram: true, active_telegram: 0 });
    await expect.poll(() => bot.count('getMe')).toBeGreaterThan(0);
    await expect.poll(() => bot.count('getUpdates')).toBeGreaterThan(0);
    const added = await call('POST', '/v1/channels', { kind: 'telegram', label: 'phone' });
    const ana = bot.person(42, 'Ana');
    ana.says(`/start ${new URL(String(added['start_url'])).searchParams.get('start')}`);
    const token = await linkToken(home.dataFolder);
    const { base_url } = running[0]?.record ?? { base_url: '' };
    expect(await visit(`${base_url}/a/${token}`, { button: 'Approve' })).toContain('Approved');
    expect(await people()).toMatchObject({ active_email: 1, active_telegram: 1 });

    const body = { action: 'deploy', summary: 'Deploy v2', wait_seconds: 20 };
    const asking = call('POST', '/v1/requests', body);
    const message = () => ana.received.find(({ shown }) => shown.text.includes('Deploy v2'));
    await expect.poll(message).toBeDefined();
    const asked = message();
    if (asked) ana.taps(asked, 'Approve');
    expect(await asking).toMatchObject({ status: 'approved' });
  });
});

describe('wrong settings', () => {
  it('are told all at once, before anything is opened, and hold no secret', async () => {
    const env = {
      SVC_SMTP_URL: 'smtp://bot:hunter2@',
      SVC_TELEGRAM_TOKEN: 'hunter2',
      SVC_TELEGRAM_API_ROOT: 'api.telegram.org',
      SVC_TELEGRAM_MODE: 'push',
      SVC_CALLBACK_ALLOW: '10.0.0.1',
      SVC_BLOBS: 'ftp://x',
    };
    const refused = await start(env).catch((error: unknown) => error);
    expect(refused).toMatchObject({ kind: 'settings', message: 'Some settings are invalid.' });
    const told = (refused as { text(): string }).text();
    for (const name of Object.keys(env)) expect(told).toContain(`\n  ${name}`);
    expect(told).toContain('\n  SVC_MAIL_FROM is not set');
    expect(told).not.toContain('hunter2');
    await expect(start()).resolves.toBeDefined();
  });
});
