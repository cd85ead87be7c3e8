import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../helpers/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(() => gateway.stop());

const json = { 'content-type': 'application/json' };
const FORM = 'application/x-www-form-urlencoded';
const seconds = () => String(Math.floor(Date.now() / 1000));
const mac = (hash: string, secret: string | Buffer, text: string) =>
  createHmac(hash, secret).update(text);
const hex = (secret: string, text: string) => mac('sha256', secret, text).digest('hex');
const base64 = (secret: string | Buffer, text: string, hash = 'sha256') =>
  mac(hash, secret, text).digest('base64');

interface Source {
  readonly name: string;
  readonly url: string;
}

let count = 0;

async function sourceOf(verification: string, secret?: string): Promise<Source> {
  count += 1;
  const name = `${verification}_${count}`;
  const given = secret === undefined ? {} : { secret };
  return { name, url: await gateway.addSource({ name, verification, ...given }) };
}

/** What the sender hears: the status, or what became of the delivery. */
async function send(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>> = json,
): Promise<string | number> {
  const answer = await fetch(url, { method: 'POST', body, headers });
  const text = await answer.text();
  if (answer.status !== 200) return answer.status;
  const own = answer.headers.get('svc-delivery');
  return own ?? (JSON.parse(text) as { status: string }).status;
}

async function typesOf({ name }: Source): Promise<string[]> {
  const path = `/v1/inbox?source=${name}&limit=100`;
  const { body } = await gateway.call<{ items: { type: string }[] }>('GET', path);
  return body.items.map(({ type }) => type);
}

it('a CloudEvents sender that asks how much it may send hears that, too', async () => {
  const { url } = await sourceOf('cloudevents');
  const headers = { 'webhook-request-origin': 'a.example', 'webhook-request-rate': '120' };
  const heard = await fetch(url, { method: 'OPTIONS', headers });
  expect(heard.status).toBe(200);
  expect(heard.headers.get('webhook-allowed-origin')).toBe('a.example');
  expect(heard.headers.get('webhook-allowed-rate')).toBe('*');
});

describe('a mail that a route of Mailgun forwards', () => {
  const KEY = 'mailgun key';
  const fields = (token: string, time = seconds(), key = KEY) => ({
    recipient: 'shop@example.com',
    sender: 'ines.ferreira@example.com',
    subject: 'Where is my order?',
    'body-plain': 'It was due on Monday.',
    timestamp: time,
    token,
    signature: hex(key, time + token),
  });

  it('comes in as a form and as one with files, and its second attempt is no other event', async () => {
    const source = await sourceOf('mailgun', KEY);
    const form = new URLSearchParams(fields('a'.repeat(50))).toString();
    expect(await send(source.url, form, { 'content-type': FORM })).toBe('accepted');
    expect(await send(source.url, form, { 'content-type': FORM })).toBe('duplicate');
    const parts = Object.entries(fields('b'.repeat(50))).map(
      ([name, value]) =>
        `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const multipart = { 'content-type': 'multipart/form-data; boundary=x' };
    expect(await send(source.url, `${parts.join('')}--x--\r\n`, multipart)).toBe('accepted');
    expect(await typesOf(source)).toEqual(['webhook.received', 'webhook.received']);
  });

  it.each([
    ['another key', fields('c', seconds(), 'another')],
    ['another token', { ...fields('c'), token: 'd' }],
    ['another time', { ...fields('c'), timestamp: '1700000000' }],
    ['an old signature', fields('c', '1700000000')],
    ['no token', { ...fields('c'), token: '' }],
  ])('is refused with %s', async (_, changed) => {
    const { url } = await sourceOf('mailgun', KEY);
    const form = new URLSearchParams(changed).toString();
    expect(await send(url, form, { 'content-type': FORM })).toBe(401);
  });
});

it('an event of HubSpot with the number of another one is an event, and its second attempt none', async () => {
  const source = await sourceOf('hubspot', 'client secret');
  const post = (objectId: number, attemptNumber: number) => {
    const event = { eventId: 100, subscriptionId: 7, subscriptionType: 'deal.creation' };
    const body = JSON.stringify([{ ...event, occurredAt: 1_700_000_000, objectId, attemptNumber }]);
    const time = String(Date.now());
    return send(source.url, body, {
      ...json,
      'x-hubspot-request-timestamp': time,
      'x-hubspot-signature-v3': base64('client secret', `POST${source.url}${body}${time}`),
    });
  };
  expect(await post(1, 0)).toBe('accepted');
  expect(await post(2, 0)).toBe('accepted');
  expect(await post(1, 1)).toBe('duplicate');
});

it('what the receiver of an older GitLab does there is another event', async () => {
  const source = await sourceOf('gitlab', 'a token');
  const post = (id: number, action: string) =>
    send(
      source.url,
      JSON.stringify({ object_kind: 'issue', object_attributes: { id, action }, at: id }),
      { ...json, 'x-gitlab-token': 'a token', 'x-gitlab-event-uuid': 'one for both' },
    );
  expect(await post(1, 'open')).toBe('accepted');
  expect(await post(1, 'update')).toBe('accepted');
  expect(await post(2, 'open')).toBe('accepted');
  expect(await post(1, 'open')).toBe('duplicate');
});

it('a mail that Postmark received has a type, and each change of a subscription is an event', async () => {
  const source = await sourceOf('postmark', 'a password');
  const login = Buffer.from('hooks:a password').toString('base64');
  const post = (payload: unknown) =>
    send(source.url, JSON.stringify(payload), { ...json, authorization: `Basic ${login}` });
  const change = { RecordType: 'SubscriptionChange', MessageID: 'm', Recipient: 'a@example.com' };
  expect(await post({ MessageStream: 'inbound', MessageID: '1', Subject: 'Hello' })).toBe(
    'accepted',
  );
  expect(await post({ ...change, ChangedAt: '2026-01-01T10:00:00Z' })).toBe('accepted');
  expect(await post({ ...change, ChangedAt: '2026-01-02T10:00:00Z' })).toBe('accepted');
  expect((await typesOf(source)).toSorted()).toEqual([
    'SubscriptionChange',
    'SubscriptionChange',
    'inbound',
  ]);
});

it('an event of a Standard Webhooks sender has the type that its sender gave', async () => {
  const key = Buffer.alloc(24, 7);
  const source = await sourceOf('standard_webhooks', `whsec_${key.toString('base64')}`);
  const post = (id: string, payload: unknown) => {
    const [time, body] = [seconds(), JSON.stringify(payload)];
    return send(source.url, body, {
      ...json,
      'webhook-id': id,
      'webhook-timestamp': time,
      'webhook-signature': `v1a,x v1,${base64(key, `${id}.${time}.${body}`)}`,
    });
  };
  expect(await post('msg_1', { type: 'user.created', data: {} })).toBe('accepted');
  expect(await post('msg_2', { data: {} })).toBe('accepted');
  expect((await typesOf(source)).toSorted()).toEqual(['user.created', 'webhook.received']);
});

describe('a list of events of Twilio', () => {
  const body = '[{"id":"EZ1","type":"com.twilio.messaging.message.sent","data":{}}]';

  it('comes in with its type, once', async () => {
    const source = await sourceOf('twilio', 'auth token');
    const digest = createHash('sha256').update(body).digest('hex');
    const url = `${source.url}?bodySHA256=${digest}`;
    const headers = { ...json, 'x-twilio-signature': base64('auth token', url, 'sha1') };
    expect(await send(url, body, headers)).toBe('accepted');
    expect(await send(url, body, headers)).toBe('duplicate');
    expect(await typesOf(source)).toEqual(['com.twilio.messaging.message.sent']);
  });

  it('is refused if only the address is signed', async () => {
    const { url } = await sourceOf('twilio', 'auth token');
    const headers = { ...json, 'x-twilio-signature': base64('auth token', url, 'sha1') };
    expect(await send(url, body, headers)).toBe(401);
  });
});

it('DocuSign may sign with any key of an account that has many', async () => {
  const { url } = await sourceOf('docusign', 'our key');
  const body = '{"event":"envelope-sent","data":{"envelopeId":"1"}}';
  const other = base64('another key', body);
  const first = { ...json, 'x-docusign-signature-1': other };
  expect(await send(url, body, { ...first, 'x-docusign-signature-12': other })).toBe(401);
  const ours = { 'x-docusign-signature-12': base64('our key', body) };
  expect(await send(url, body, { ...first, ...ours })).toBe('accepted');
});

describe('a sender that names its deliveries in a header, and whose bodies are equal:', () => {
  it.each([
    ['SNS', 'x-amz-sns-message-id', 'text/plain; charset=UTF-8'],
    ['Gitea', 'x-gitea-delivery', 'application/json'],
    ['Jira', 'x-atlassian-webhook-identifier', 'application/json'],
    ['Twitch', 'twitch-eventsub-message-id', 'application/json'],
    ['an older GitLab', 'x-gitlab-event-uuid', 'application/json'],
  ])('%s', async (_, header, type) => {
    const source = await sourceOf('none');
    const post = (id: string, body = '{"Message":"the same"}') =>
      send(source.url, body, { 'content-type': type, [header]: id });
    expect(await post('a')).toBe('accepted');
    expect(await post('b')).toBe('accepted');
    expect(await post('a')).toBe('duplicate');
    expect(await post('a', '{"Message":"the same", "attempt":2}')).toBe('duplicate');
  });

  it('Google Drive, whose bodies are empty', async () => {
    const source = await sourceOf('none');
    const post = (number: string) =>
      send(source.url, '', { 'x-goog-channel-id': 'c', 'x-goog-message-number': number });
    expect(await post('1')).toBe('accepted');
    expect(await post('2')).toBe('accepted');
    expect(await post('2')).toBe('duplicate');
  });
});
