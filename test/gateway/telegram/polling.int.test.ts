import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SOON, Story } from './story.ts';
import { hurryTime } from '../../helpers/hurried-time.ts';

beforeEach(() => hurryTime(10));

let story: Story;
afterEach(() => story.stop());

const pollsOf = (one: Story) => one.telegram.calls.filter(({ method }) => method === 'getUpdates');

describe('a long poll', () => {
  it('asks for taps and messages alone, and waits', async () => {
    story = await Story.start();
    await expect.poll(() => story.telegram.count('getUpdates'), SOON).toBe(1);
    expect(pollsOf(story)[0]?.payload).toEqual({
      timeout: 30,
      allowed_updates: ['message', 'callback_query'],
    });
    expect(story.telegram.count('deleteWebhook')).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(story.telegram.count('getUpdates')).toBe(1);
  });

  it('confirms what was handled by the next one', async () => {
    story = await Story.start();
    const eve = story.telegram.person(6666, 'Eve');
    const id = eve.says('hello');
    await expect.poll(() => pollsOf(story).at(-1)?.payload['offset'], SOON).toBe(id + 1);
  });

  it('takes what came while nobody was asking', async () => {
    story = await Story.prepare();
    const eve = story.telegram.person(6666, 'Eve');
    eve.says('hello');
    await story.bot.start();
    await expect.poll(() => eve.received.length, SOON).toBe(1);
  });

  it('goes on after updates whose numbers start anew', async () => {
    story = await Story.start();
    const eve = story.telegram.person(6666, 'Eve');
    eve.says('hello');
    await expect.poll(() => eve.received.length, SOON).toBe(1);
    story.clock.advance(60_000);
    const message = {
      message_id: 1,
      chat: { id: 6666, type: 'private' },
      from: eve.user,
      text: 'again',
    };
    // Telegram would not hold it back for the higher number it was told before.
    story.telegram.forgetOffsets = true;
    story.telegram.pushRaw({ update_id: 17, message } as { update_id: number });
    await expect.poll(() => eve.received.length, SOON).toBe(2);
    await expect.poll(() => pollsOf(story).at(-1)?.payload['offset'], SOON).toBe(18);
  });
});

describe('a network that fails', () => {
  it('is tried again, at growing distances, and told of once', async () => {
    story = await Story.start();
    const anna = await story.connect(7001, 'Anna');
    const { message, requestId } = await story.ask(anna);
    await expect.poll(() => story.telegram.count('getUpdates'), SOON).toBe(2);
    story.telegram.fail('getUpdates', { kind: 'close' }, 6);
    const from = story.telegram.calls.length;
    story.telegram.cut();
    await expect.poll(() => story.telegram.count('getUpdates'), SOON).toBeGreaterThan(8);
    const at = story.telegram.calls
      .slice(from)
      .filter(({ method }) => method === 'getUpdates')
      .map((call) => call.at);
    const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    for (const gap of gaps.slice(0, 5)) expect(gap).toBeGreaterThan(9);
    expect(gaps[4]).toBeGreaterThan(45);
    expect(story.troubles.map(({ kind }) => kind)).toEqual(['unreachable']);
    anna.person.taps(message, 'Approve');
    await expect.poll(() => story.status(requestId), SOON).toBe('approved');
  });

  it('is told of again after it had recovered', async () => {
    story = await Story.start();
    const eve = story.telegram.person(6666, 'Eve');
    for (let round = 1; round <= 2; round += 1) {
      story.telegram.cut();
      await expect.poll(() => story.troubles.length, SOON).toBe(round);
      eve.says('hello');
      await expect
        .poll(() => pollsOf(story).at(-1)?.payload['offset'], SOON)
        .toBe(1000 + round + 1);
    }
  });

  it('and an answer that makes no sense, are the same', async () => {
    story = await Story.start();
    for (const body of ['<html>', 'null', '{"ok":true,"result":{}}', '{"ok":true}', '[]']) {
      story.telegram.fail('getUpdates', { kind: 'body', status: 200, body });
    }
    story.telegram.cut();
    const eve = story.telegram.person(6666, 'Eve');
    eve.says('hello');
    await expect.poll(() => eve.received.length, SOON).toBe(1);
  });

  it('does not lose a decision whose confirmation was lost, nor make two of it', async () => {
    story = await Story.start();
    const anna = await story.connect(7001, 'Anna');
    const { message, requestId } = await story.ask(anna);
    story.telegram.fail('getUpdates', { kind: 'lost' });
    story.telegram.cut();
    anna.person.taps(message, 'Approve');
    await expect.poll(() => story.status(requestId), SOON).toBe('approved');
    await expect
      .poll(() => anna.person.toasts, SOON)
      .toEqual([{ text: '✅ Approved', isAlert: false }]);
  });

  it('at the start is waited for behind the scenes', async () => {
    story = await Story.prepare();
    story.telegram.fail('getMe', { kind: 'close' }, 3);
    await story.bot.start();
    expect(story.bot.username).toBeNull();
    expect(story.bot.startUrl('x')).toBeNull();
    await expect.poll(() => story.bot.username, SOON).toBe('svc_test_bot');
    await expect.poll(() => story.telegram.count('getUpdates'), SOON).toBe(1);
    expect(story.troubles.map(({ kind }) => kind)).toEqual(['unreachable']);
  });
});

describe('Telegram that asks for time', () => {
  it('is given it', async () => {
    story = await Story.prepare();
    const fault = { kind: 'error', code: 429, description: 'Too Many Requests', retryAfter: 1 };
    story.telegram.fail('getUpdates', fault as { kind: 'error'; code: 429; description: string });
    await story.bot.start();
    await expect.poll(() => story.telegram.count('getUpdates'), SOON).toBe(2);
    const [first, second] = pollsOf(story);
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(990);
  });

  it('is not asked in a hurry when it answers at once with nothing', async () => {
    story = await Story.prepare();
    const empty = { kind: 'body', status: 200, body: '{"ok":true,"result":[]}' } as const;
    story.telegram.fail('getUpdates', empty, 100);
    await story.bot.start();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(story.telegram.count('getUpdates')).toBeLessThanOrEqual(2);
  });

  it('is not asked in a hurry when it sends the same again and again', async () => {
    story = await Story.prepare();
    const body = '{"ok":true,"result":[{"update_id":5,"poll":{}},{"no":"id"}]}';
    story.telegram.fail('getUpdates', { kind: 'body', status: 200, body }, 100);
    await story.bot.start();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(story.telegram.count('getUpdates')).toBeLessThanOrEqual(3);
  });
});

describe('a conflict', () => {
  it('is told of once, and polling goes on', async () => {
    story = await Story.start();
    await expect.poll(() => story.telegram.count('getUpdates'), SOON).toBe(1);
    const other = () =>
      fetch(`${story.telegram.url}/bot${story.telegram.token}/getUpdates`, {
        method: 'POST',
        body: JSON.stringify({ timeout: 0 }),
      });
    await other();
    await expect.poll(() => story.troubles.length, SOON).toBe(1);
    const [conflict] = story.troubles;
    expect(conflict?.kind).toBe('conflict');
    expect(conflict?.message).toContain('Somebody else fetches the updates');
    for (let round = 0; round < 3; round += 1) {
      const before = story.telegram.count('getUpdates');
      await expect.poll(() => story.telegram.count('getUpdates'), SOON).toBeGreaterThan(before - 1);
      await other();
    }
    const eve = story.telegram.person(6666, 'Eve');
    eve.says('hello');
    await expect.poll(() => eve.received.length, SOON).toBe(1);
    expect(story.troubles).toHaveLength(1);
  });
});

describe('a token that Telegram refuses', () => {
  it('fails the start', async () => {
    story = await Story.prepare();
    const unauthorized = { kind: 'error', code: 401, description: 'Unauthorized' } as const;
    story.telegram.fail('getMe', unauthorized, 100);
    await expect(story.bot.start()).rejects.toThrow('Telegram, getMe: 401 Unauthorized');
    expect(story.telegram.count('getUpdates')).toBe(0);
  });

  it('later is told of once, and works again when it is mended', async () => {
    story = await Story.start();
    story.telegram.fail('getUpdates', { kind: 'error', code: 401, description: 'Unauthorized' }, 4);
    story.telegram.cut();
    await expect.poll(() => story.telegram.count('getUpdates'), SOON).toBeGreaterThan(4);
    const kinds = story.troubles.map(({ kind }) => kind).filter((kind) => kind === 'refused');
    expect(kinds).toEqual(['refused']);
    const eve = story.telegram.person(6666, 'Eve');
    eve.says('hello');
    await expect.poll(() => eve.received.length, SOON).toBe(1);
  });
});

describe('a stop', () => {
  it('is quick while a poll waits', async () => {
    story = await Story.start();
    await expect.poll(() => story.telegram.count('getUpdates'), SOON).toBe(1);
    const startedAt = performance.now();
    await story.bot.stop();
    expect(performance.now() - startedAt).toBeLessThan(500);
    const count = story.telegram.calls.length;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(story.telegram.calls).toHaveLength(count);
  });

  it('is quick while Telegram cannot be reached', async () => {
    story = await Story.prepare();
    story.telegram.fail('*', { kind: 'close' }, 1000);
    await story.bot.start();
    const startedAt = performance.now();
    await story.bot.stop();
    expect(performance.now() - startedAt).toBeLessThan(500);
  });

  it('gives up toasts that hang, after a second', async () => {
    story = await Story.start();
    const anna = await story.connect(7001, 'Anna');
    const { message, requestId } = await story.ask(anna);
    story.telegram.fail('answerCallbackQuery', { kind: 'hang' });
    anna.person.taps(message, 'Approve');
    await expect.poll(() => story.status(requestId), SOON).toBe('approved');
    const startedAt = performance.now();
    await story.bot.stop();
    expect(performance.now() - startedAt).toBeLessThan(2000);
    expect(story.troubles).toEqual([]);
  });

  it('confirms what was handled last, so that it does not come again', async () => {
    story = await Story.start();
    const eve = story.telegram.person(6666, 'Eve');
    story.telegram.fail('sendMessage', { kind: 'hang' });
    const id = eve.says('hello');
    await expect.poll(() => story.telegram.count('sendMessage'), SOON).toBe(1);
    await story.bot.stop();
    expect(pollsOf(story).at(-1)?.payload['offset']).toBe(id + 1);
  });

  it('before any start does nothing', async () => {
    story = await Story.prepare();
    await story.bot.stop();
    expect(story.telegram.calls).toEqual([]);
  });
});

describe('one slow chat', () => {
  it('holds up nobody else', async () => {
    story = await Story.start({ callMaxMs: 3000 });
    const anna = await story.connect(7001, 'Anna');
    const ben = await story.connect(7002, 'Ben');
    const first = await story.ask(anna);
    const second = await story.ask(ben);
    story.telegram.fail('answerCallbackQuery', { kind: 'hang' });
    const startedAt = performance.now();
    anna.person.taps(first.message, 'Approve');
    await expect.poll(() => story.telegram.count('answerCallbackQuery'), SOON).toBe(1);
    ben.person.taps(second.message, 'Deny');
    await expect.poll(() => ben.person.toasts.length, SOON).toBe(1);
    expect(performance.now() - startedAt).toBeLessThan(2500);
    expect(story.status(first.requestId)).toBe('approved');
    expect(story.status(second.requestId)).toBe('denied');
  });
});
