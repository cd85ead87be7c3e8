import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readMailConfig } from '../../../../gateway/mail/read-mail-config.ts';
import { FakeTelegram } from '../../../helpers/fake-telegram.ts';
import { TestGateway } from '../../../helpers/gateway.ts';
import { linkToken } from '../../../helpers/outbox.ts';
import type { FakePerson } from '../../../helpers/telegram-person.ts';

const SOON = { interval: 5, timeout: 60_000 } as const;
const ANA = 4711;

let telegram: FakeTelegram;
let gateway: TestGateway;
let ana: FakePerson;

beforeEach(async () => {
  telegram = await FakeTelegram.start();
  const { token, url: apiRoot } = telegram;
  gateway = await TestGateway.start({
    messaging: { mail: readMailConfig({}), telegram: { token, apiRoot, mode: 'poll' } },
  });
  ana = telegram.person(ANA, 'Ana');
});
afterEach(async () => {
  await gateway.stop();
  await telegram.stop();
});

interface Added {
  readonly channel: { readonly id: string; readonly status: string };
  readonly start_url: string;
}

/** Adds Ana's chat as a channel; until the bot knows its name the answer is 503. */
async function addChannel(): Promise<Added> {
  for (;;) {
    const answer = await gateway.call<Added>('POST', '/v1/channels', {
      body: { kind: 'telegram', label: 'ana' },
    });
    if (answer.status === 201) return answer.body;
    expect(answer.status).toBe(503);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function statusOf(channelId: string): Promise<string | undefined> {
  const { body } = await gateway.call<{ items: { id: string; status: string }[] }>(
    'GET',
    '/v1/channels',
  );
  return body.items.find(({ id }) => id === channelId)?.status;
}

/** From the link to the owner's consent. */
async function connected(): Promise<string> {
  const { channel, start_url } = await addChannel();
  const token = new URL(start_url).searchParams.get('start') ?? '';
  expect(start_url).toMatch(/^https:\/\/t\.me\/[^/?]+\?start=/);
  ana.says(`/start ${token}`);
  await expect.poll(() => statusOf(channel.id), SOON).toBe('verified');
  const consent = await gateway.gateway.approvals.decide(await linkToken(gateway.folder), {
    verb: 'approve',
  });
  expect(consent?.outcome).toBe('taken');
  expect(await statusOf(channel.id)).toBe('active');
  return channel.id;
}

interface Answer {
  readonly request_id: string;
  readonly status: string;
  readonly decision: string | null;
  readonly comment: string | null;
  readonly decided_by: string | null;
}

function ask(body: Record<string, unknown>): Promise<{ body: Answer }> {
  return gateway.call<Answer>('POST', '/v1/requests', { body: { wait_seconds: 20, ...body } });
}

/** How the letter about the question fared. */
async function lastMessage(): Promise<string | undefined> {
  const { body } = await gateway.call<{
    items: { kind: string; notified: { status: string }[] }[];
  }>('GET', '/v1/requests');
  return body.items.find(({ kind }) => kind === 'question')?.notified[0]?.status;
}

describe('a person on Telegram', () => {
  it('comes in by a link and the owner, and approves by a button', async () => {
    const channelId = await connected();
    const asking = ask({ action: 'deploy', summary: 'Deploy <v2> & go', approvers: [channelId] });
    await expect.poll(() => ana.received.length, SOON).toBeGreaterThan(1);
    const message = ana.received.at(-1);
    if (!message) throw new Error('No message came.');
    ana.taps(message, 'Approve');
    const { body } = await asking;
    expect(body).toMatchObject({ status: 'approved', decided_by: `channel:${channelId}` });
  });

  it('answers a question by a reply', async () => {
    const channelId = await connected();
    const asking = ask({ question: 'Which region?', approvers: [channelId] });
    // Nobody replies before what was sent is written down.
    await expect.poll(lastMessage, SOON).toBe('sent');
    ana.says('eu-west', ana.received.at(-1));
    expect((await asking).body).toMatchObject({ status: 'answered', decision: 'eu-west' });
  });

  it('sees the buttons go when somebody else was quicker', async () => {
    await connected();
    const asking = ask({ action: 'deploy', summary: 'Deploy v3' });
    const token = await linkToken(gateway.folder, 'a', 2);
    await expect.poll(() => ana.received.length, SOON).toBeGreaterThan(1);
    const before = telegram.count('editMessageText');
    await gateway.gateway.approvals.decide(token, { verb: 'deny', comment: 'not today' });
    expect((await asking).body).toMatchObject({ status: 'denied', comment: 'not today' });
    await expect.poll(() => telegram.count('editMessageText'), SOON).toBeGreaterThan(before);
  });

  it('who has blocked the bot is told of as failed, and nobody waits for it', async () => {
    const channelId = await connected();
    telegram.fail('sendMessage', {
      kind: 'error',
      code: 403,
      description: 'Forbidden: bot was blocked by the user',
    });
    const asked = await ask({
      action: 'deploy',
      summary: 'v4',
      approvers: [channelId],
      wait_seconds: 0,
    });
    const notified = async (): Promise<unknown> => {
      const path = `/v1/requests/${asked.body.request_id}`;
      const { body } = await gateway.call<{ notified: unknown }>('GET', path);
      return body.notified;
    };
    await expect
      .poll(notified, SOON)
      .toEqual([expect.objectContaining({ channel_id: channelId, status: 'failed' })]);
  });

  it('is asked nothing more after the channel is removed, and decides nothing', async () => {
    const channelId = await connected();
    const asked = await ask({
      action: 'deploy',
      summary: 'v5',
      approvers: [channelId],
      wait_seconds: 0,
    });
    await expect.poll(() => ana.received.length, SOON).toBeGreaterThan(1);
    const message = ana.received.at(-1);
    if (!message) throw new Error('No message came.');
    expect((await gateway.call('DELETE', `/v1/channels/${channelId}`)).status).toBe(200);
    ana.taps(message, 'Approve');
    const toOwner = await linkToken(gateway.folder, 'a', 2);
    const status = await gateway.call<Answer>('GET', `/v1/requests/${asked.body.request_id}`);
    expect(status.body.status).toBe('pending');
    await gateway.gateway.approvals.decide(toOwner, { verb: 'approve' });
    const after = await gateway.call<Answer>('GET', `/v1/requests/${asked.body.request_id}`);
    expect(after.body.status).toBe('approved');
  });
});
