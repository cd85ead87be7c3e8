import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SOON, Scenario, type Asked } from './scenario.ts';

const SECRET = 'x-telegram-bot-api-secret-token';

let scenario: Scenario;
let anna: Asked;
beforeEach(async () => {
  scenario = await Scenario.start({ mode: 'webhook' });
  anna = await scenario.connect(7001, 'Anna');
});
afterEach(() => scenario.stop());

function hook(): { url: string; secret: string } {
  const { webhook } = scenario.telegram;
  if (!webhook?.secret) throw new Error('no webhook, or none with a secret');
  return { url: webhook.url, secret: webhook.secret };
}

const post = (body: RequestInit['body'], headers: Record<string, string> = {}) =>
  fetch(hook().url, { method: 'POST', body: body ?? null, headers });

/** The tap that approves a request, as Telegram would bring it. */
async function approval(updateId = 9000) {
  const { message, requestId, token } = await scenario.ask(anna);
  const update = {
    update_id: updateId,
    callback_query: {
      id: 'q',
      from: anna.person.user,
      message: { message_id: message.message_id, chat: { id: 7001, type: 'private' } },
      data: `a:${token}`,
    },
  };
  return { requestId, body: JSON.stringify(update) };
}

describe('the webhook', () => {
  it('is set with a secret, for taps and messages alone', () => {
    const [call] = scenario.telegram.calls.filter(({ method }) => method === 'setWebhook');
    expect(call?.payload['allowed_updates']).toEqual(['message', 'callback_query']);
    expect(hook().secret).toMatch(/^[\w-]{43}$/);
    expect(scenario.telegram.count('getUpdates')).toBe(0);
  });

  it('has no token in its address, and its secret is not the token', () => {
    const [id = '', key = ''] = scenario.telegram.token.split(':');
    expect(hook().url).toBe(`${new URL(hook().url).origin}/telegram/updates`);
    for (const part of [id, key]) {
      expect(hook().url).not.toContain(part);
      expect(hook().secret).not.toContain(part);
    }
  });

  it('has the same secret after a restart, so that nothing on its way is refused', async () => {
    const { secret } = hook();
    const again = await Scenario.start({ mode: 'webhook' });
    expect(again.telegram.webhook?.secret).toBe(secret);
    await again.stop();
    const other = await Scenario.start({ mode: 'webhook', token: '1:another' });
    expect(other.telegram.webhook?.secret).not.toBe(secret);
    await other.stop();
  });

  it('takes an update with the right secret', async () => {
    const { requestId, body } = await approval();
    const answer = await post(body, { [SECRET]: hook().secret });
    expect(answer.status).toBe(200);
    // It has been decided when the answer comes.
    expect(scenario.status(requestId)).toBe('approved');
  });

  it.each([
    ['none', {}],
    ['an empty one', { [SECRET]: '' }],
    ['a wrong one', { [SECRET]: 'x'.repeat(43) }],
    ['a longer one', { [SECRET]: 'x'.repeat(5000) }],
  ])('refuses an update with a secret like this: %s', async (_, headers) => {
    const { requestId, body } = await approval();
    const answer = await post(body, headers);
    expect(answer.status).toBe(401);
    expect(await answer.text()).toBe('');
    expect(scenario.status(requestId)).toBe('pending');
    // And it was not taken for seen.
    const right = await post(body, { [SECRET]: hook().secret });
    expect(right.status).toBe(200);
    expect(scenario.status(requestId)).toBe('approved');
  });

  it('refuses the secret cut short, and in other messages', async () => {
    const { requestId, body } = await approval();
    const { secret } = hook();
    for (const wrong of [secret.slice(0, -1), secret.toLowerCase(), `${secret}x`]) {
      expect((await post(body, { [SECRET]: wrong })).status).toBe(401);
    }
    expect(scenario.status(requestId)).toBe('pending');
  });

  it('refuses other methods', async () => {
    const answer = await fetch(hook().url, { headers: { [SECRET]: hook().secret } });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
  });

  it('decides once when an update is brought again, also at the same time', async () => {
    const { requestId, body } = await approval();
    const headers = { [SECRET]: hook().secret };
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(body, headers)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    await expect.poll(() => scenario.telegram.count('answerCallbackQuery'), SOON).toBe(1);
    expect(scenario.status(requestId)).toBe('approved');
  });

  it('takes what it does not understand, so that it does not come again', async () => {
    const headers = { [SECRET]: hook().secret };
    for (const body of ['{}', '[]', 'null', '7', '{"update_id":1}', '{"update_id":"x"}']) {
      expect((await post(body, headers)).status).toBe(200);
    }
    expect(scenario.troubles).toEqual([]);
  });

  it('refuses what is no JSON, and what is too long', async () => {
    const headers = { [SECRET]: hook().secret };
    expect((await post('{"update_id":', headers)).status).toBe(400);
    expect((await post('', headers)).status).toBe(400);
    expect((await post('x'.repeat(1024 * 1024 + 1), headers)).status).toBe(413);
    const chunk = new Uint8Array(256 * 1024);
    const stream = new ReadableStream({
      start(controller) {
        for (let turn = 0; turn < 5; turn += 1) controller.enqueue(chunk);
        controller.close();
      },
    });
    const init = { method: 'POST', body: stream, headers, duplex: 'half' };
    expect((await fetch(hook().url, init as RequestInit)).status).toBe(413);
  });

  it('answers while the desk is down, and the person is told to tap again', async () => {
    const { requestId, body } = await approval();
    scenario.approvals.isDown = true;
    expect((await post(body, { [SECRET]: hook().secret })).status).toBe(200);
    expect(scenario.status(requestId)).toBe('pending');
    expect(scenario.troubles).toMatchObject([{ kind: 'failed' }]);
  });

  it('stays set when the bot stops: Telegram keeps what comes meanwhile', async () => {
    await scenario.bot.stop();
    expect(scenario.telegram.webhook).not.toBeNull();
  });
});

it('a webhook that Telegram refuses fails the start', async () => {
  const broken = await Scenario.prepare({ mode: 'webhook' });
  const description = 'Bad Request: bad webhook: An HTTPS URL must be provided for webhook';
  broken.telegram.fail('setWebhook', { kind: 'error', code: 400, description });
  await expect(broken.bot.start()).rejects.toThrow('An HTTPS URL must be provided');
  await broken.stop();
});

it('polling takes a webhook away that was left behind', async () => {
  const polling = await Scenario.prepare();
  polling.telegram.webhook = { url: 'https://old.example.com/hook', secret: null };
  await polling.bot.start();
  expect(polling.bot.webhook).toBeNull();
  await expect.poll(() => polling.telegram.count('getUpdates'), SOON).toBe(1);
  expect(polling.telegram.webhook).toBeNull();
  expect(polling.troubles).toEqual([]);
  await polling.stop();
});
