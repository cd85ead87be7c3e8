import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Notification } from '../../../../gateway/approvals/approvals.ts';
import type { SendResult } from '../../../../gateway/lib/send-result.ts';
import { SOON, Scenario, type Asked } from './scenario.ts';

const CALL_MAX_MS = 300;

let scenario: Scenario;
let anna: Asked;

async function begin(options: { callMaxMs?: number } = {}): Promise<void> {
  scenario = await Scenario.start(options);
  anna = await scenario.connect(7001, 'Anna');
}

beforeEach(async () => {
  await begin();
});
afterEach(() => scenario.stop());

function notification(kind: 'ask' | 'tell' | 'over' = 'ask', messageId = '1'): Notification {
  const { requestId, token } = scenario.approvals.ask(anna.channelId);
  const opened = scenario.approvals.openedBy(requestId, anna.channelId);
  if (kind === 'ask') return { kind, opened, token };
  return kind === 'tell' ? { kind, opened } : { kind, opened, messageId };
}

const send = (one = notification(), address = '7001'): Promise<SendResult> =>
  scenario.bot.carrier.send(one, { address, id: 'ntc_1' });

const error = (code: number, description: string, retryAfter?: number) =>
  ({ kind: 'error', code, description, ...(retryAfter !== undefined && { retryAfter }) }) as const;

describe('what Telegram does not take now is sent later', () => {
  it('after as long as a 429 asks for', async () => {
    scenario.telegram.fail('sendMessage', error(429, 'Too Many Requests: retry after 17', 17));
    expect(await send()).toEqual({
      outcome: 'later',
      retryAfterSeconds: 17,
      reason: 'Telegram, sendMessage: 429 Too Many Requests: retry after 17',
    });
    expect((await send()).outcome).toBe('sent');
  });

  it.each([500, 502, 503, 409])('after a %i', async (code) => {
    scenario.telegram.fail('sendMessage', error(code, 'Internal Server Error'));
    expect(await send()).toMatchObject({ outcome: 'later', retryAfterSeconds: null });
  });

  it('after a 401: the token can be mended', async () => {
    scenario.telegram.fail('sendMessage', error(401, 'Unauthorized'));
    expect((await send()).outcome).toBe('later');
  });

  it.each([
    { kind: 'close' },
    { kind: 'lost' },
    { kind: 'body', status: 502, body: '<html>Bad Gateway</html>' },
    { kind: 'body', status: 200, body: 'null' },
    { kind: 'body', status: 200, body: '{}' },
    { kind: 'body', status: 200, body: '{"ok":true}' },
    { kind: 'body', status: 200, body: '{"ok":true,"result":{}}' },
  ] as const)('after %j', async (fault) => {
    scenario.telegram.fail('sendMessage', fault);
    expect((await send()).outcome).toBe('later');
  });

  it('within the deadline when nothing comes back', async () => {
    await scenario.stop();
    // So short for this test alone: where the machine stands still for a moment it ends any call.
    await begin({ callMaxMs: CALL_MAX_MS });
    scenario.telegram.fail('sendMessage', { kind: 'hang' });
    const startedAt = performance.now();
    expect((await send()).outcome).toBe('later');
    expect(performance.now() - startedAt).toBeGreaterThan(CALL_MAX_MS - 50);
  });

  it('when the bot has been stopped', async () => {
    await scenario.bot.stop();
    expect((await send()).outcome).toBe('later');
  });
});

describe('what Telegram will never take is refused', () => {
  it('by a person who blocked the bot', async () => {
    anna.person.chat.isBlocked = true;
    expect(await send()).toEqual({
      outcome: 'refused',
      reason: 'Telegram, sendMessage: 403 Forbidden: bot was blocked by the user',
    });
  });

  it('by a person who is gone', async () => {
    scenario.telegram.fail('sendMessage', error(403, 'Forbidden: user is deactivated'));
    expect((await send()).outcome).toBe('refused');
  });

  it('by a chat that is not there', async () => {
    expect(await send(notification(), '999')).toEqual({
      outcome: 'refused',
      reason: 'Telegram, sendMessage: 400 Bad Request: chat not found',
    });
  });

  it.each(['', 'anna', '7001 ', '1e3', '0', '12345678901234567', '@channel'])(
    'for an address that is no chat: "%s"',
    async (address) => {
      const before = scenario.telegram.count('sendMessage');
      expect((await send(notification(), address)).outcome).toBe('refused');
      expect(scenario.telegram.count('sendMessage')).toBe(before);
    },
  );

  it('for an address that is to be confirmed: that is for email', async () => {
    const project = { name: 'Acme', slug: 'acme' };
    const channel = { label: 'x', project, address: 'a***@example.com', status: 'added' } as const;
    expect((await send({ kind: 'verify', channel, token: 'x' })).outcome).toBe('refused');
  });
});

describe('a message that is over', () => {
  it('counts as edited when it says so already', async () => {
    const { message, requestId } = await scenario.ask(anna);
    scenario.approvals.decideElsewhere(requestId, 'approved', 'Boss');
    await expect.poll(() => message.buttons, SOON).toEqual([]);
    const opened = scenario.approvals.openedBy(requestId, anna.channelId);
    const messageId = String(message.message_id);
    const before = scenario.telegram.count('editMessageText');
    expect(await send({ kind: 'over', opened, messageId })).toEqual({ outcome: 'sent', messageId });
    expect(scenario.telegram.count('editMessageText')).toBe(before + 1);
    expect(message.edits).toBe(1);
  });

  it('counts as edited when the person deleted it', async () => {
    expect((await send(notification('over', '424242'))).outcome).toBe('sent');
  });

  it('that belongs to somebody who blocked the bot is given up', async () => {
    anna.person.chat.isBlocked = true;
    expect((await send(notification('over', '1'))).outcome).toBe('refused');
  });

  it('is tried again after a 429 or when the network is down', async () => {
    scenario.telegram.fail('editMessageText', error(429, 'Too Many Requests', 3));
    expect(await send(notification('over'))).toMatchObject({
      outcome: 'later',
      retryAfterSeconds: 3,
    });
    scenario.telegram.fail('editMessageText', { kind: 'close' });
    expect((await send(notification('over'))).outcome).toBe('later');
  });

  it('without a number is refused', async () => {
    expect((await send(notification('over', 'none'))).outcome).toBe('refused');
  });
});

it('previews no links of an agent', async () => {
  await send();
  await send(notification('over', '1'));
  const sending = scenario.telegram.calls.filter(({ method }) =>
    ['sendMessage', 'editMessageText'].includes(method),
  );
  expect(sending.length).toBeGreaterThan(1);
  for (const { payload } of sending) {
    expect(payload['link_preview_options']).toEqual({ is_disabled: true });
  }
});
