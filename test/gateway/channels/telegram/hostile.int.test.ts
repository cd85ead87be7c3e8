import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SOON, Scenario, type Asked } from './scenario.ts';

let scenario: Scenario;
let anna: Asked;
beforeEach(async () => {
  scenario = await Scenario.start();
  anna = await scenario.connect(7001, 'Anna');
});
afterEach(() => scenario.stop());

const NOT_YOURS = "This button no longer works, or it isn't yours to use.";

/** Everything that was pushed before has been dealt with when this tap has been answered. */
async function dealtWith(): Promise<void> {
  const before = anna.person.toasts.length;
  const [message] = anna.person.received;
  if (!message) throw new Error('nothing was received');
  anna.person.sends(message, 'no such button');
  await expect.poll(() => anna.person.toasts.length, SOON).toBe(before + 1);
}

describe('somebody else', () => {
  it('decides nothing with a button of another person', async () => {
    const { message, requestId, token } = await scenario.ask(anna);
    const ben = await scenario.connect(7002, 'Ben');
    ben.person.sends(message, `a:${token}`);
    await expect.poll(() => ben.person.toasts, SOON).toEqual([{ text: NOT_YOURS, isAlert: true }]);
    expect(scenario.status(requestId)).toBe('pending');
    expect(message.edits).toBe(0);
  });

  it('decides nothing in a chat of which another person is the channel', async () => {
    const { message, requestId, token } = await scenario.ask(anna);
    const intruder = scenario.telegram.person(6666, 'Eve', 7001, 'private');
    intruder.sends(message, `a:${token}`);
    await expect.poll(() => intruder.toasts, SOON).toEqual([{ text: NOT_YOURS, isAlert: true }]);
    intruder.says('yes', message);
    await expect
      .poll(() => intruder.received.at(-1)?.shown.text, SOON)
      .toContain("isn't yours to decide");
    expect(scenario.status(requestId)).toBe('pending');
  });

  it('decides nothing with a message that the person forwarded', async () => {
    const { message, requestId, token } = await scenario.ask(anna);
    const forwarded = scenario.telegram.person(7001, 'Anna', -100500, 'group');
    forwarded.sends(message, `a:${token}`);
    await expect.poll(() => forwarded.toasts, SOON).toEqual([{ text: NOT_YOURS, isAlert: true }]);
    forwarded.says('yes', message);
    await dealtWith();
    expect(scenario.status(requestId)).toBe('pending');
  });

  it('decides nothing by a prompt that another person got', async () => {
    const { message, requestId } = await scenario.ask(anna);
    anna.person.taps(message, 'Needs context');
    await expect.poll(() => anna.person.received.at(-1)?.isForceReply, SOON).toBe(true);
    const prompt = anna.person.received.at(-1);
    const intruder = scenario.telegram.person(6666, 'Eve', 7001, 'private');
    intruder.says('Stop it', prompt);
    await expect
      .poll(() => intruder.received.at(-1)?.shown.text, SOON)
      .toContain("isn't yours to decide");
    expect(scenario.status(requestId)).toBe('pending');
  });

  it('and the buttons of a removed channel decide nothing', async () => {
    const { message, requestId } = await scenario.ask(anna);
    scenario.channel(anna.channelId).isRemoved = true;
    anna.person.taps(message, 'Approve');
    await expect.poll(() => anna.person.toasts, SOON).toEqual([{ text: NOT_YOURS, isAlert: true }]);
    expect(scenario.status(requestId)).toBe('pending');
  });
});

describe('updates', () => {
  it('that come again decide once and say it once', async () => {
    const { message, requestId, token } = await scenario.ask(anna);
    const place = { message_id: message.message_id, chat: { id: 7001, type: 'private' } };
    const from = { id: 7001, is_bot: false, first_name: 'Anna' };
    const approve = { id: 'q1', from, message: place, data: `a:${token}` };
    for (let time = 0; time < 3; time += 1) {
      scenario.telegram.pushRaw({ update_id: 5000, callback_query: approve } as {
        update_id: number;
      });
    }
    await expect.poll(() => scenario.status(requestId), SOON).toBe('approved');
    await dealtWith();
    const toasts = scenario.telegram.calls.filter(
      ({ method, payload }) =>
        method === 'answerCallbackQuery' && payload['callback_query_id'] === 'q1',
    );
    expect(toasts).toHaveLength(1);
  });

  it('that are malformed are passed over', async () => {
    const { message, requestId, token } = await scenario.ask(anna);
    const user = { id: 7001, first_name: 'Anna' };
    const chat = { id: 7001, type: 'private' };
    const pieces: unknown[] = [
      {},
      { message: null },
      { message: 'text' },
      { message: { message_id: 'one', chat, from: user, text: '/start x' } },
      { message: { message_id: 1, chat: { id: '7001', type: 'private' }, from: user, text: 'x' } },
      { message: { message_id: 1, chat, text: '/start x' } },
      { message: { message_id: 1, chat, from: user, text: { a: 1 } } },
      { message: { message_id: 1, chat, from: { id: 1e300 }, text: 'x' } },
      { message: { message_id: 1, chat, from: user, text: 'x', reply_to_message: 7 } },
      { callback_query: [] },
      { callback_query: { id: 1, from: user, data: `a:${token}` } },
      { callback_query: { id: 'q', from: user, data: `a:${token}` } },
      { callback_query: { id: 'q', from: user, data: 5, message: { message_id: 1, chat } } },
      {
        callback_query: {
          id: 'q',
          from: null,
          data: `a:${token}`,
          message: { message_id: 1, chat },
        },
      },
      { edited_message: { message_id: 1, chat, from: user, text: 'x' } },
      { channel_post: { message_id: 1, chat, text: 'x' } },
      { __proto__: { message: 1 }, poll: {} },
    ];
    for (const piece of pieces) scenario.telegram.push(piece as Record<string, unknown>);
    for (const update_id of [-1, 1.5, 'x', null, 2 ** 60]) {
      scenario.telegram.pushRaw({ update_id } as { update_id: number });
    }
    anna.person.taps(message, 'Approve');
    await expect.poll(() => scenario.status(requestId), SOON).toBe('approved');
    expect(scenario.troubles).toEqual([]);
  });

  it.each(['', 'a', 'a:', ':x', 'o9', 'z:token', `a:${'x'.repeat(62)}`, 'O:x', 'oo:x', 'a:ü'])(
    'with a button of data "%s" decide nothing',
    async (data) => {
      const { message, requestId } = await scenario.ask(anna);
      anna.person.sends(message, data);
      await expect.poll(() => anna.person.toasts.length, SOON).toBe(1);
      expect(anna.person.toasts[0]?.text).toBe('This button is unknown here.');
      expect(scenario.status(requestId)).toBe('pending');
    },
  );

  it('with an option that is not there decide nothing', async () => {
    const { message, requestId, token } = await scenario.ask(anna, { options: ['One'] });
    anna.person.sends(message, `o7:${token}`);
    await expect
      .poll(() => anna.person.toasts, SOON)
      .toEqual([{ text: 'There is no such option.', isAlert: true }]);
    expect(scenario.status(requestId)).toBe('pending');
  });
});

describe('a desk that cannot work', () => {
  it('lets the person know, and the next tap decides', async () => {
    const { message, requestId } = await scenario.ask(anna);
    scenario.approvals.isDown = true;
    anna.person.taps(message, 'Approve');
    await expect.poll(() => anna.person.toasts.at(-1)?.text, SOON).toContain('Please tap again');
    expect(scenario.troubles).toMatchObject([{ kind: 'failed' }]);
    anna.person.says('a question', message);
    await expect
      .poll(() => anna.person.received.at(-1)?.shown.text, SOON)
      .toContain('Please send it again');
    scenario.approvals.isDown = false;
    anna.person.taps(message, 'Approve');
    await expect.poll(() => scenario.status(requestId), SOON).toBe('approved');
  });
});
