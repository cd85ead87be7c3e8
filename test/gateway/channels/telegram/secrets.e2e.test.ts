import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect, promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { SOON, Scenario } from './scenario.ts';

const TOKEN = '987654:AAsecret-Part_of_the-Token';
const SECRET = TOKEN.slice(TOKEN.indexOf(':') + 1);

let scenario: Scenario;
afterEach(() => scenario.stop());

const everything = (value: unknown): string =>
  inspect(value, { depth: 20, showHidden: true, getters: true });

const FAULTS = [
  { kind: 'close' },
  { kind: 'hang' },
  { kind: 'body', status: 502, body: `<html>${TOKEN}</html>` },
  { kind: 'body', status: 200, body: TOKEN },
  { kind: 'error', code: 500, description: `Error in /bot${TOKEN}/method, ${SECRET}` },
  { kind: 'redirect', to: `/bot${TOKEN}/elsewhere` },
] as const;

describe('the token', () => {
  it.each(FAULTS)('is in no trouble, reason or error: %j', async (fault) => {
    scenario = await Scenario.prepare({ token: TOKEN, callMaxMs: 300 });
    scenario.telegram.fail('*', fault, 4);
    await scenario.bot.start();
    const to = { address: '7001', id: 'ntc_1' };
    const { token, requestId } = scenario.approvals.ask(
      scenario.approvals.addChannel('Anna').channelId,
    );
    const opened = scenario.approvals.openedBy(requestId, 'chn_Anna');
    const sent = await scenario.bot.carrier.send({ kind: 'ask', opened, token }, to);
    await expect.poll(() => scenario.troubles.length, SOON).toBeGreaterThan(0);
    expect(sent.outcome).toBe('later');
    for (const told of [everything(sent), everything(scenario.troubles)]) {
      expect(told).not.toContain(SECRET);
      expect(told).not.toContain(encodeURIComponent(TOKEN));
    }
  });

  it('is not in the error of a start that fails', async () => {
    scenario = await Scenario.prepare({ token: TOKEN });
    const description = `Unauthorized: ${TOKEN}`;
    scenario.telegram.fail('*', { kind: 'error', code: 401, description });
    const error: unknown = await scenario.bot.start().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(everything(error)).not.toContain(SECRET);
    expect(error instanceof Error && error.stack).not.toContain(SECRET);
  });

  it('is not taken along to where a redirect points', async () => {
    scenario = await Scenario.prepare({ token: TOKEN });
    const asked: string[] = [];
    const elsewhere = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end('{"ok":true,"result":{"username":"evil_bot"}}');
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const { port } = elsewhere.address() as AddressInfo;
    const to = `http://127.0.0.1:${port}/bot${TOKEN}/getMe`;
    scenario.telegram.fail('getMe', { kind: 'redirect', to });
    await scenario.bot.start();
    await expect.poll(() => scenario.bot.username, SOON).toBe('svc_test_bot');
    expect(asked).toEqual([]);
    await new Promise((resolve) => elsewhere.close(resolve));
  });

  it('is not printed, even when all libraries are told to print what they do', async () => {
    scenario = await Scenario.prepare({ token: TOKEN });
    const script = `
      const { TelegramBot } = await import('./gateway/channels/telegram/bot.ts');
      const troubles = [];
      const bot = new TelegramBot({
        config: { token: process.env.TOKEN, apiRoot: process.env.ROOT, mode: 'poll', publicUrl: 'https://a.example' },
        desk: {}, clock: { now: () => 0 }, onTrouble: (trouble) => troubles.push(trouble),
        pauses: { firstMs: 10, maxMs: 10 },
      });
      await bot.task.start();
      await bot.start();
      // One of the start, one of the polls after it.
      while (troubles.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
      await bot.stop();
      console.log(troubles, bot.username);`;
    scenario.telegram.fail('getMe', { kind: 'close' }, 2);
    scenario.telegram.fail('getUpdates', { kind: 'body', status: 502, body: 'x' }, 3);
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '--eval', script],
      { env: { ...process.env, DEBUG: '*', TOKEN, ROOT: scenario.telegram.url }, timeout: 30_000 },
    );
    expect(stdout).toContain('unreachable');
    expect(stdout).toContain('svc_test_bot');
    expect(stderr).toContain('grammy:core');
    expect(stdout + stderr).not.toContain(SECRET);
  });
});
