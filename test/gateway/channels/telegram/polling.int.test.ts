import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SOON, Scenario } from './scenario.ts';
import { hurryTime } from '../../../helpers/hurried-time.ts';

beforeEach(() => hurryTime(10));

/** Longer than any test, though it passes ten times as fast. */
const ENDLESS_MS = 10_000_000;

let scenario: Scenario;
afterEach(() => scenario.stop());

const pollsOf = (one: Scenario) =>
  one.telegram.calls.filter(({ method }) => method === 'getUpdates');

describe('a long poll', () => {
  it('asks for taps and messages alone, and waits', async () => {
    scenario = await Scenario.start({ callMaxMs: ENDLESS_MS });
    await expect.poll(() => scenario.telegram.count('getUpdates'), SOON).toBe(1);
    expect(pollsOf(scenario)[0]?.payload).toEqual({
      timeout: 30,
      allowed_updates: ['message', 'callback_query'],
    });
    expect(scenario.telegram.count('deleteWebhook')).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(scenario.telegram.count('getUpdates')).toBe(1);
  });

  it('confirms what was handled by the next one', async () => {
    scenario = await Scenario.start({ callMaxMs: ENDLESS_MS });
    const eve = scenario.telegram.person(6666, 'Eve');
    const id = eve.says('hello');
    await expect.poll(() => pollsOf(scenario).at(-1)?.payload['offset'], SOON).toBe(id + 1);
  });

  it('takes what came while nobody was asking', async () => {
    scenario = await Scenario.prepare({ callMaxMs: ENDLESS_MS });
    const eve = scenario.telegram.person(6666, 'Eve');
    eve.says('hello');
    await scenario.bot.start();
    await expect.poll(() => eve.received.length, SOON).toBe(1);
  });

  it('goes on after updates whose numbers start anew', async () => {
    scenario = await Scenario.start({ callMaxMs: ENDLESS_MS });
    const eve = scenario.telegram.person(6666, 'Eve');
    eve.says('hello');
    await expect.poll(() => eve.received.length, SOON).toBe(1);
    scenario.clock.advance(60_000);
    const message = {
      message_id: 1,
      chat: { id: 6666, type: 'private' },
      from: eve.user,
      text: 'again',
    };
    // Telegram would not hold it back for the higher number it was told before.
    scenario.telegram.forgetOffsets = true;
    scenario.telegram.pushRaw({ update_id: 17, message } as { update_id: number });
    await expect.poll(() => eve.received.length, SOON).toBe(2);
    await expect.poll(() => pollsOf(scenario).at(-1)?.payload['offset'], SOON).toBe(18);
  });
});

describe('a network that fails', () => {
  it('is tried again, at growing distances, and told of once', async () => {
    scenario = await Scenario.start({ callMaxMs: ENDLESS_MS });
    const anna = await scenario.connect(7001, 'Anna');
    const { message, requestId } = await scenario.ask(anna);
    await expect.poll(() => scenario.telegram.count('getUpdates'), SOON).toBe(2);
    scenario.telegram.fail('getUpdates', { kind: 'close' }, 6);
    const from = scenario.telegram.calls.length;
    scenario.telegram.cut();
    await expect.poll(() => scenario.telegram.count('getUpdates'), SOON).toBeGreaterThan(8);
    const at = scenario.telegram.calls
      .slice(from)
      .filter(({ method }) => method === 'getUpdates')
      .map((call) => call.at);
    const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    for (const gap of gaps.slice(0, 5)) expect(gap).toBeGreaterThan(9);
    expect(gaps[4]).toBeGreaterThan(45);
    expect(scenario.troubles.map(({ kind }) => kind)).toEqual(['unreachable']);
    anna.person.taps(message, 'Approve');
    await expect.poll(() => scenario.status(requestId), SOON).toBe('approved');
  });

  it('is told of again after it had recovered', async () => {
    scenario = await Scenario.start({ callMaxMs: ENDLESS_MS });
    const eve = scenario.telegram.person(6666, 'Eve');
    for (let round = 1; round <= 2; round += 1) {
      scenario.telegram.cut();
      await expect.poll(() => scenario.troubles.length, SOON).toBe(round);
      eve.says('hello');
      await expect
        .poll(() => pollsOf(scenario).at(-1)?.payload['offset'], SOON)
        .toBe(1000 + round + 1);
    }
  });

  it('and an answer that makes no sense, are the same', async () => {
    scenario = await Scenario.start({ callMaxMs: ENDLESS_MS });
    for (const body of ['<html>', 'null', '{"ok":true,"result":{}}', '{"ok":true}', '[]']) {
      scenario.telegram.fail('getUpdates', { kind: 'body', status: 200, body });
    }
    scenario.telegram.cut();
    const eve = scenario.telegram.person(6666, 'Eve');
    eve.says('hello');
    await expect.poll(() => eve.received.length, SOON).toBe(1);
  });

  it('does not lose a decision whose confirmation was lost, nor make two of it', async () => {
    scenario = await Scenario.start({ callMaxMs: ENDLESS_MS });
    const anna = await scenario.connect(7001, 'Anna');
    const { message, requestId } = await scenario.ask(anna);
    scenario.telegram.fail('getUpdates', { kind: 'lost' });
    scenario.telegram.cut();
    anna.person.taps(message, 'Approve');
    await expect.poll(() => scenario.status(requestId), SOON).toBe('approved');
    await expect
      .poll(() => anna.person.toasts, SOON)
      .toEqual([{ text: '✅ Approved', isAlert: false }]);
  });

  it('at the start is waited for behind the scenes', async () => {
    scenario = await Scenario.prepare({ callMaxMs: ENDLESS_MS });
    scenario.telegram.fail('getMe', { kind: 'close' }, 3);
    await scenario.bot.start();
    expect(scenario.bot.username).toBeNull();
    expect(scenario.bot.startUrl('x')).toBeNull();
    await expect.poll(() => scenario.bot.username, SOON).toBe('svc_test_bot');
    await expect.poll(() => scenario.telegram.count('getUpdates'), SOON).toBe(1);
    expect(scenario.troubles.map(({ kind }) => kind)).toEqual(['unreachable']);
  });
});

describe('Telegram that asks for time', () => {
  it('is given it', async () => {
    scenario = await Scenario.prepare({ callMaxMs: ENDLESS_MS });
    const fault = { kind: 'error', code: 429, description: 'Too Many Requests', retryAfter: 1 };
    scenario.telegram.fail(
      'getUpdates',
      fault as { kind: 'error'; code: 429; description: string },
    );
    await scenario.bot.start();
    await expect.poll(() => scenario.telegram.count('getUpdates'), SOON).toBe(2);
    const [first, second] = pollsOf(scenario);
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(990);
  });

  it('is not asked in a hurry when it answers at once with nothing', async () => {
    scenario = await Scenario.prepare({ callMaxMs: ENDLESS_MS });
    const empty = { kind: 'body', status: 200, body: '{"ok":true,"result":[]}' } as const;
    scenario.telegram.fail('getUpdates', empty, 100);
    const startedAt = performance.now();
    await scenario.bot.start();
    await expect.poll(() => scenario.telegram.count('getUpdates'), SOON).toBe(3);
    expect(performance.now() - startedAt).toBeGreaterThan(1990);
  });

  it('is not asked in a hurry when it sends the same again and again', async () => {
    scenario = await Scenario.prepare({ callMaxMs: ENDLESS_MS });
    const body = '{"ok":true,"result":[{"update_id":5,"poll":{}},{"no":"id"}]}';
    scenario.telegram.fail('getUpdates', { kind: 'body', status: 200, body }, 100);
    const startedAt = performance.now();
    await scenario.bot.start();
    // The first one brings something, so that the second comes at once.
    await expect.poll(() => scenario.telegram.count('getUpdates'), SOON).toBe(4);
    expect(performance.now() - startedAt).toBeGreaterThan(1990);
  });
});

describe('a conflict', () => {
  it('is told of once, and polling goes on', async () => {
    scenario = await Scenario.start({ callMaxMs: ENDLESS_MS });
    await expect.poll(() => scenario.telegram.count('getUpdates'), SOON).toBe(1);
    const other = () =>
      fetch(`${scenario.telegram.url}/bot${scenario.telegram.token}/getUpdates`, {
        method: 'POST',
        body: JSON.stringify({ timeout: 0 }),
      });
    await other();
    await expect.poll(() => scenario.troubles.length, SOON).toBe(1);
    const [conflict] = scenario.troubles;
    expect(conflict?.kind).toBe('conflict');
    expect(conflict?.message).toContain('Something else is fetching the updates');
    for (let round = 0; round < 3; round += 1) {
      const before = scenario.telegram.count('getUpdates');
      await expect
        .poll(() => scenario.telegram.count('getUpdates'), SOON)
        .toBeGreaterThan(before - 1);
      await other();
    }
    const eve = scenario.telegram.person(6666, 'Eve');
    eve.says('hello');
    await expect.poll(() => eve.received.length, SOON).toBe(1);
    expect(scenario.troubles).toHaveLength(1);
  });
});

describe('a token that Telegram refuses', () => {
  it('fails the start', async () => {
    scenario = await Scenario.prepare({ callMaxMs: ENDLESS_MS });
    const unauthorized = { kind: 'error', code: 401, description: 'Unauthorized' } as const;
    scenario.telegram.fail('getMe', unauthorized, 100);
    await expect(scenario.bot.start()).rejects.toThrow('Telegram, getMe: 401 Unauthorized');
    expect(scenario.telegram.count('getUpdates')).toBe(0);
  });

  it('later is told of once, and works again when it is mended', async () => {
    scenario = await Scenario.start({ callMaxMs: ENDLESS_MS });
    scenario.telegram.fail(
      'getUpdates',
      { kind: 'error', code: 401, description: 'Unauthorized' },
      4,
    );
    scenario.telegram.cut();
    await expect.poll(() => scenario.telegram.count('getUpdates'), SOON).toBeGreaterThan(4);
    const kinds = scenario.troubles.map(({ kind }) => kind).filter((kind) => kind === 'refused');
    expect(kinds).toEqual(['refused']);
    const eve = scenario.telegram.person(6666, 'Eve');
    eve.says('hello');
    await expect.poll(() => eve.received.length, SOON).toBe(1);
  });
});

describe('a stop', () => {
  it('leaves a poll that waits', async () => {
    scenario = await Scenario.start({ callMaxMs: ENDLESS_MS });
    await expect.poll(() => scenario.telegram.count('getUpdates'), SOON).toBe(1);
    await scenario.bot.stop();
    await expect.poll(() => scenario.telegram.pollsLeft, SOON).toBe(1);
    const count = scenario.telegram.calls.length;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(scenario.telegram.calls).toHaveLength(count);
  });

  it('waits for no other try while Telegram cannot be reached', async () => {
    scenario = await Scenario.prepare({ callMaxMs: ENDLESS_MS });
    scenario.telegram.fail('*', { kind: 'close' }, 1_000_000);
    await scenario.bot.start();
    await scenario.bot.stop();
    expect(scenario.troubles.map(({ kind }) => kind)).not.toContain('refused');
  });

  it('gives up toasts that hang, after a second', async () => {
    scenario = await Scenario.start({ callMaxMs: ENDLESS_MS });
    const anna = await scenario.connect(7001, 'Anna');
    const { message, requestId } = await scenario.ask(anna);
    scenario.telegram.fail('answerCallbackQuery', { kind: 'hang' });
    anna.person.taps(message, 'Approve');
    await expect.poll(() => scenario.status(requestId), SOON).toBe('approved');
    await scenario.bot.stop();
    expect(scenario.troubles).toEqual([]);
  });

  it('confirms what was handled last, so that it does not come again', async () => {
    scenario = await Scenario.start({ callMaxMs: ENDLESS_MS });
    const eve = scenario.telegram.person(6666, 'Eve');
    scenario.telegram.fail('sendMessage', { kind: 'hang' });
    const id = eve.says('hello');
    await expect.poll(() => scenario.telegram.count('sendMessage'), SOON).toBe(1);
    await scenario.bot.stop();
    expect(pollsOf(scenario).at(-1)?.payload['offset']).toBe(id + 1);
  });

  it('before any start does nothing', async () => {
    scenario = await Scenario.prepare({ callMaxMs: ENDLESS_MS });
    await scenario.bot.stop();
    expect(scenario.telegram.calls).toEqual([]);
  });
});

describe('one slow chat', () => {
  it('holds up nobody else', async () => {
    scenario = await Scenario.start({ callMaxMs: ENDLESS_MS });
    const anna = await scenario.connect(7001, 'Anna');
    const ben = await scenario.connect(7002, 'Ben');
    const first = await scenario.ask(anna);
    const second = await scenario.ask(ben);
    scenario.telegram.fail('answerCallbackQuery', { kind: 'hang' });
    anna.person.taps(first.message, 'Approve');
    await expect.poll(() => scenario.telegram.count('answerCallbackQuery'), SOON).toBe(1);
    ben.person.taps(second.message, 'Deny');
    await expect.poll(() => ben.person.toasts.length, SOON).toBe(1);
    expect(scenario.status(first.requestId)).toBe('approved');
    expect(scenario.status(second.requestId)).toBe('denied');
  });
});
