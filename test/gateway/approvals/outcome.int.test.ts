import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readMailConfig } from '../../../gateway/mail/read-mail-config.ts';
import { FakeTelegram } from '../../helpers/fake-telegram.ts';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { mailsOf } from '../../helpers/outbox.ts';
import type { FakeMessage, FakePerson } from '../../helpers/telegram-person.ts';
import { parsedMail, valuesOf } from '../mail/parsed-mail.ts';
import { TestPeople } from './people.ts';

const SOON = { interval: 5, timeout: 60_000 } as const;
const MINUTE_MS = 60_000;

let telegram: FakeTelegram;
let test: TestGateway;
let clock: FakeClock;
let people: TestPeople;
let ana: FakePerson;
let url: string;
let deliveries = 0;
beforeEach(async () => {
  clock = new FakeClock();
  telegram = await FakeTelegram.start();
  const { token, url: apiRoot } = telegram;
  test = await TestGateway.start({
    clock,
    messaging: { mail: readMailConfig({}), telegram: { token, apiRoot, mode: 'poll' } },
  });
  people = await TestPeople.of(test, clock);
  ana = telegram.person(4711, 'Ana');
  url = await test.addSource({ name: 'github' });
});
afterEach(async () => {
  await test.stop();
  await telegram.stop();
});

const post = (path: string, body: unknown) => test.call('POST', path, { body });
const claim = (event_id: string) => post('/v1/inbox/claim', { event_id });
const ack = (event_id: string, result?: unknown) => post('/v1/inbox/ack', { event_id, result });

async function claimed(): Promise<string> {
  deliveries += 1;
  const { body } = await test.deliver(url, `{"n":${deliveries}}`);
  const id = String(body['event_id']);
  await claim(id);
  return id;
}

async function parkedOn(event_id: string, more: Record<string, unknown> = {}): Promise<string> {
  return people.asked({ event_id, park: true, ...more });
}

const add = () =>
  test.call<{ channel: { id: string }; start_url: string }>('POST', '/v1/channels', {
    body: { kind: 'telegram', label: 'ana' },
  });

/** Ana's chat, added and accepted by the owner. */
async function anasChannel(): Promise<string> {
  let added = await add();
  // Until the bot knows its own name.
  await expect
    .poll(async () => (added.status === 201 ? added : (added = await add())).status, SOON)
    .toBe(201);
  ana.says(`/start ${new URL(added.body.start_url).searchParams.get('start') ?? ''}`);
  await expect.poll(() => people.askedToLetIn(), SOON).not.toBe('');
  await people.decide(await people.askedToLetIn(), { verb: 'approve' });
  return added.body.channel.id;
}

async function message(count: number): Promise<FakeMessage> {
  await expect.poll(() => ana.received.length, SOON).toBe(count);
  const last = ana.received.at(-1);
  if (!last) throw new Error('No message came.');
  return last;
}

/** The message as soon as it reads like this. */
async function shows(one: FakeMessage, words: RegExp): Promise<void> {
  await expect.poll(() => one.shown.text, SOON).toMatch(words);
}

/** Sent and written down, so that it can be edited. */
async function sent(requestId: string, count = 1): Promise<void> {
  const states = async () =>
    (await people.status(requestId)).notified.filter(({ status }) => status === 'sent').length;
  await expect.poll(states, SOON).toBe(count);
}

/** The state of the notices that look after half an hour. */
async function checks(requestId: string): Promise<string[]> {
  const notices = await people.project.store.read((store) => store.notices.ofRequest(requestId));
  return notices.filter(({ kind }) => kind === 'check').map(({ status }) => status);
}

const due = () => people.project.store.read((store) => store.notices.due(clock.now(), 1));

/** Nothing is waiting to be sent. */
async function settled(): Promise<void> {
  await expect.poll(due, SOON).toEqual([]);
}

/** A parked event whose question Ana has approved. */
async function approvedByAna() {
  const channel = await anasChannel();
  const event = await claimed();
  const before = ana.received.length;
  const request = await parkedOn(event, { approvers: [channel] });
  const asking = await message(before + 1);
  await sent(request);
  ana.taps(asking, 'Approve');
  await shows(asking, /^✅ Approved by you/);
  return { event, request, asking };
}

describe('the message that asked', () => {
  it('shows who approved, and then what became of it', async () => {
    const channel = await anasChannel();
    const event = await claimed();
    const before = ana.received.length;
    const request = await parkedOn(event, { approvers: [channel], bind: { sha: '3f2a' } });
    const asking = await message(before + 1);
    expect(asking.shown.text).toContain('What will be done, with exactly these values\nsha: 3f2a');
    expect(asking.shown.text).toContain(`from github, ${event}`);
    await sent(request);
    ana.taps(asking, 'Approve');
    await shows(asking, /^✅ Approved by you, \d\d:\d\d UTC\n\n/);
    await claim(event);
    await ack(event, 'merged <b>3f2a</b>\nand more');
    await shows(asking, /^✅ Approved by you, .*\n🏁 Done, .* UTC: merged <b>3f2a<\/b>\n/);
    expect(asking.shown.text).not.toContain('and more');
    expect(asking.buttons).toEqual([]);
    expect(ana.received).toHaveLength(before + 1);
  });

  it('says after half an hour that nobody took it up', async () => {
    const { event, asking } = await approvedByAna();
    clock.advance(30 * MINUTE_MS - 1);
    await people.maintenance();
    clock.advance(1);
    await people.maintenance();
    await shows(asking, /^✅ Approved by you, .*\n⏳ Not taken up for 30 minutes\n/);
    await claim(event);
    await ack(event, { merged: true });
    await shows(asking, /^✅ Approved by you, .*\n🏁 Done, .* UTC: {"merged":true}\n/);
    expect(asking.buttons).toEqual([]);
  });

  it('says nothing after half an hour when an agent works on it', async () => {
    const { request, event, asking } = await approvedByAna();
    await claim(event);
    await post('/v1/inbox/extend', { event_id: event, lease_seconds: 3600 });
    const { edits } = asking;
    clock.advance(30 * MINUTE_MS);
    await people.maintenance();
    await expect.poll(() => checks(request), SOON).toEqual(['void']);
    expect(asking.edits).toBe(edits);
  });

  it('loses its buttons when the agent takes the question back', async () => {
    const channel = await anasChannel();
    const before = ana.received.length;
    const request = await people.asked({ approvers: [channel] });
    const asking = await message(before + 1);
    await sent(request);
    await post(`/v1/requests/${request}/withdraw`, { reason: 'a newer version is ready.' });
    await shows(asking, /^↩️ Withdrawn, nothing to decide\nWhy: a newer version is ready\./);
    expect(asking.buttons).toEqual([]);
  });

  it('says that the decision came too late when the agent has no use for it any more', async () => {
    const channel = await anasChannel();
    const before = ana.received.length;
    const request = await people.asked({ approvers: [channel] });
    const asking = await message(before + 1);
    await sent(request);
    ana.taps(asking, 'Approve');
    await shows(asking, /^✅ Approved by you/);
    await post(`/v1/requests/${request}/received`, { unused: 'it was done by hand.' });
    await shows(asking, /^✅ Approved by you.*\nToo late for the agent: it was done by hand\./);
    const { body } = await post(`/v1/requests/${request}/received`, { unused: 'another reason.' });
    expect(body).toMatchObject({ closed: false });
    expect(await people.status(request)).toMatchObject({ hint: 'unused: it was done by hand.' });
  });

  it('loses its buttons like its reminder when somebody decides', async () => {
    const channel = await anasChannel();
    const before = ana.received.length;
    const request = await people.asked({ approvers: [channel], remind: '1h' });
    const first = await message(before + 1);
    await sent(request);
    clock.advance(60 * MINUTE_MS);
    await people.maintenance();
    const second = await message(before + 2);
    expect(second.shown.text).toMatch(/^🔁 Still undecided: Approval/);
    await sent(request, 2);
    ana.taps(second, 'Approve');
    await shows(second, /^✅ Approved by you/);
    await shows(first, /^✅ Approved by you/);
    expect([first.buttons, second.buttons]).toEqual([[], []]);
  });

  it('says that other values replaced the ones it asked about', async () => {
    const channel = await anasChannel();
    const event = await claimed();
    const before = ana.received.length;
    const about = { event_id: event, approvers: [channel] };
    const request = await people.asked({ ...about, bind: { sha: 'a' } });
    const asking = await message(before + 1);
    await sent(request);
    await people.asked({ ...about, bind: { sha: 'b' } });
    await shows(asking, /Why: replaced by a question with other values\./);
    expect((await message(before + 2)).shown.text).toContain('sha: b');
  });
});

describe('the mail that asked', () => {
  it('is answered in its thread when the agent is done', async () => {
    const event = await claimed();
    const request = await parkedOn(event);
    await sent(request);
    const [asked] = mailsOf(test.folder).map(parsedMail);
    if (!asked) throw new Error('No mail came.');
    await people.decide(request, { verb: 'approve' });
    await claim(event);
    await ack(event, 'merged 3f2a\nand more');
    await expect.poll(() => mailsOf(test.folder).length, SOON).toBe(2);
    const reply = parsedMail(mailsOf(test.folder)[1] ?? '');
    const messageId = valuesOf(asked, 'message-id');
    expect(valuesOf(reply, 'in-reply-to')).toEqual(messageId);
    expect(valuesOf(reply, 'references')).toEqual(messageId);
    expect(valuesOf(reply, 'subject')).toEqual([`Re: ${valuesOf(asked, 'subject')[0] ?? ''}`]);
    expect(reply.text).toContain('> merged 3f2a\n');
    expect(reply.text).not.toContain('and more');
    expect(reply.text).toContain(`/a/${await people.link(request)}`);
  });

  it('is answered once for an event, however many questions it had', async () => {
    const event = await claimed();
    for (const action of ['merge', 'deploy']) {
      const request = await parkedOn(event, { action });
      await sent(request);
      await people.decide(request, { verb: 'approve' });
      await claim(event);
    }
    await ack(event);
    await post('/v1/inbox/requeue', { event_id: event });
    await claim(event);
    await ack(event);
    await settled();
    expect(mailsOf(test.folder)).toHaveLength(3);
    const [, asked = '', reply = ''] = mailsOf(test.folder);
    expect(valuesOf(parsedMail(reply), 'in-reply-to')).toEqual(
      valuesOf(parsedMail(asked), 'message-id'),
    );
  });

  it('is not answered after a no', async () => {
    const event = await claimed();
    const request = await parkedOn(event);
    await sent(request);
    await people.decide(request, { verb: 'deny' });
    await claim(event);
    await ack(event, 'closed');
    await settled();
    expect(mailsOf(test.folder)).toHaveLength(1);
  });
});

describe('the page behind the link', () => {
  it('shows how the request ended and what became of it', async () => {
    const event = await claimed();
    const request = await parkedOn(event, { bind: { sha: '3f2a' } });
    const token = await people.link(request);
    const page = async () => (await fetch(`${test.url}/a/${token}`)).text();
    expect(await page()).toContain('Exactly this will be done');
    await people.decide(request, { verb: 'approve' });
    clock.advance(30 * MINUTE_MS);
    expect(await page()).toContain('Not taken up for 30 min');
    await claim(event);
    await ack(event, '<script>3f2a</script>');
    const html = await page();
    expect(html).toContain('<strong>Done</strong>');
    expect(html).toContain('&lt;script&gt;3f2a&lt;/script&gt;');
  });

  it('says that the decision came too late for the agent', async () => {
    const request = await people.asked();
    const token = await people.link(request);
    await people.decide(request, { verb: 'deny' });
    await post(`/v1/requests/${request}/received`, { unused: 'the <prompt> is gone.' });
    const html = await (await fetch(`${test.url}/a/${token}`)).text();
    expect(html).toContain('<h1>Denied</h1>');
    expect(html).toContain('This came too late for the agent.');
    expect(html).toContain('the &lt;prompt&gt; is gone.');
  });

  it('says that the agent took the question back', async () => {
    const request = await people.asked();
    const token = await people.link(request);
    await post(`/v1/requests/${request}/withdraw`, { reason: 'no longer needed.' });
    const html = await (await fetch(`${test.url}/a/${token}`)).text();
    expect(html).toContain('<h1>Withdrawn</h1>');
    expect(html).toContain('no longer needed.');
    expect(html).not.toContain('<button');
  });
});
