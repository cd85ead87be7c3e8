import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FakeTelegram } from '../../helpers/fake-telegram.ts';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { mailsOf } from '../../helpers/outbox.ts';
import { visit } from '../../helpers/page-visitor.ts';
import type { FakeMessage, FakePerson } from '../../helpers/telegram-person.ts';
import { parsedMail } from '../mail/parsed-mail.ts';
import { pathOf, WebVisitor } from '../web/inbox/web-visitor.ts';
import { startWithBot, TestPeople } from './people.ts';

const SOON = { interval: 5, timeout: 60_000 } as const;
const MINUTE_MS = 60_000;
const OWNER = 'owner@example.com';

let clock: FakeClock;
let test: TestGateway;
let people: TestPeople;

const timeOf = (chars: number) =>
  `${new Date(clock.now()).toISOString().slice(11, 11 + chars)} UTC`;
const at = () => timeOf(5);
/** Pages have the seconds too. */
const onPage = () => timeOf(8);
const approve = { verb: 'approve' } as const;

const linkTo = async (request: string, channel: string) =>
  `${test.url}/a/${await people.link(request, channel)}`;
const page = async (url: string) => (await fetch(url)).text();
const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' ');
const reads = async (url: string) => textOf(await page(url));

async function asking(person: FakePerson): Promise<FakeMessage> {
  const found = () =>
    person.received.find(({ shown }) => shown.text.startsWith('Approval requested'));
  await expect.poll(found, SOON).toBeDefined();
  const message = found();
  if (!message) throw new Error('No message came.');
  return message;
}

async function shows(message: FakeMessage, words: RegExp): Promise<void> {
  await expect.poll(() => message.shown.text, SOON).toMatch(words);
}

const labels = (message: FakeMessage) => message.buttons.flat().map(({ text }) => text);

/** The chat of a person whom no other channel reaches. */
const channelOf = (person: FakePerson, label: string): Promise<string> =>
  people.chat(person, { verb: 'option', index: 1 }, label);

describe('by mail and on pages', () => {
  let owner: string;
  let ana: string;
  beforeEach(async () => {
    clock = new FakeClock();
    test = await TestGateway.start({ clock });
    await test.gateway.setOwner(test.projectId, OWNER);
    people = await TestPeople.of(test, clock);
    owner = await people.owner();
    ana = await people.activeChannel('ana@example.com', 'ana');
  });
  afterEach(() => test.stop());

  it('the page says who approved, and what is still missing', async () => {
    const request = await people.asked({ approvals: 2 });
    const [anas, owners] = [await linkTo(request, ana), await linkTo(request, owner)];
    expect(await reads(anas)).toContain('Needs 2 approvals.');
    expect(await visit(anas, { button: 'Approve' })).toMatch(
      /Recorded 1 more approval is needed\./,
    );
    const voted = onPage();
    clock.advance(3 * MINUTE_MS);
    const again = await page(anas);
    expect(textOf(again)).toContain(`You approved this at ${voted}It needs 1 more approval.`);
    expect(again).toContain('value="deny"');
    expect(again).not.toContain('value="approve"');
    expect(await reads(owners)).toContain(`Needs 2 approvals; ana approved at ${voted}.`);
    expect(await visit(owners, { button: 'Approve' })).toContain('by ana, owner');
    const ended = onPage();
    expect(await reads(anas)).toContain(
      `Needed 2 approvals; ana approved at ${voted} and owner at ${ended}.`,
    );
  });

  it('a person takes their approval back by a denial', async () => {
    const request = await people.asked({ approvals: 2 });
    const anas = await linkTo(request, ana);
    await visit(anas, { button: 'Approve' });
    expect(await visit(anas, { button: 'Deny' })).toContain('The agent may not do this.');
    expect((await people.status(request)).status).toBe('denied');
  });

  it('a high risk asks once more, then counts', async () => {
    const request = await people.asked({ approvals: 2, risk: 'high', details: 'All of it.' });
    const shown = await visit(await linkTo(request, ana), { button: 'Approve' });
    expect(shown).toMatch(/Recorded 1 more approval is needed\./);
    expect((await people.status(request)).approvals.given).toHaveLength(1);
  });

  it('mails say how many must approve and who did, and remind only those who did not', async () => {
    const request = await people.asked({ approvals: 2, remind: '1h' });
    await people.link(request, owner);
    await people.decide(request, approve, ana);
    const voted = new Date(clock.now()).toISOString().slice(0, 16).replace('T', ' ');
    const before = mailsOf(test.folder).length;
    clock.advance(60 * MINUTE_MS);
    await people.maintenance();
    await expect.poll(() => mailsOf(test.folder).length, SOON).toBe(before + 1);
    const mails = mailsOf(test.folder).map((mail) => parsedMail(mail).text);
    expect(mails.at(-1)).toContain(`Needs 2 approvals; "ana" approved at ${voted} UTC.`);
    expect(mails.filter((text) => text.includes('Needs 2 approvals.'))).toHaveLength(2);
    const due = () => people.project.store.read((store) => store.notices.due(clock.now(), 1));
    await expect.poll(due, SOON).toEqual([]);
    const { notified } = await people.status(request);
    expect(notified.map(({ status }) => status).toSorted()).toEqual([
      'sent',
      'sent',
      'sent',
      'void',
    ]);
  });

  it('everybody who approved gets the reply about what became of it', async () => {
    const source = await test.addSource({ name: 'open' });
    const event = String((await test.deliver(source, '{}')).body['event_id']);
    const post = (path: string, body: unknown) => test.call('POST', path, { body });
    await post('/v1/inbox/claim', { event_id: event });
    const request = await people.asked({ event_id: event, approvals: 2 });
    for (const channel of [ana, owner]) await people.decide(request, approve, channel);
    const before = mailsOf(test.folder).length;
    await post('/v1/inbox/ack', { event_id: event, result: 'merged' });
    await expect.poll(() => mailsOf(test.folder).length, SOON).toBe(before + 2);
  });

  it('the web inbox says it to the owner', async () => {
    const request = await people.asked({ approvals: 2 });
    await people.link(request, owner);
    const visitor = await WebVisitor.asOwner(test, OWNER);
    const path = await pathOf(test, request);
    await visitor.get(path);
    const { location } = await visitor.post(path, { fields: { verb: 'approve' } });
    expect(location).toBe(`${path}?recorded=1`);
    const reading = async (where: string) => textOf((await visitor.get(where)).html);
    expect(await reading(location ?? '')).toMatch(/Recorded ?1 more approval is needed\./);
    expect(await reading(path)).toContain(`You approved this at ${onPage()}`);
    expect(await reading(path.replace(/\/[^/]+$/, ''))).toContain('1 of 2 approvals');
  });
});

describe('by Telegram', () => {
  let telegram: FakeTelegram;
  let ana: FakePerson;
  let ben: FakePerson;
  beforeEach(async () => {
    clock = new FakeClock();
    ({ test, telegram } = await startWithBot(clock));
    people = await TestPeople.of(test, clock);
    ana = telegram.person(4711, 'Ana');
    ben = telegram.person(4712, 'Ben');
  });
  afterEach(async () => {
    await test.stop();
    await telegram.stop();
  });

  async function askedBoth(): Promise<{ request: string; anas: FakeMessage; bens: FakeMessage }> {
    const approvers = [await channelOf(ana, 'ana'), await channelOf(ben, 'ben')];
    const request = await people.asked({ approvals: 2, approvers });
    const [anas, bens] = [await asking(ana), await asking(ben)];
    const sent = async () => (await people.status(request)).notified.map(({ status }) => status);
    await expect.poll(sent, SOON).toEqual(['sent', 'sent']);
    return { request, anas, bens };
  }

  it('the messages show who approved, and only that person loses Approve', async () => {
    const { request, anas, bens } = await askedBoth();
    expect(bens.shown.text).toContain('Needs 2 approvals.');
    const [voted, before] = [at(), labels(bens)];
    ana.taps(anas, 'Approve');
    await shows(anas, /^✅ Recorded\. 1 more approval is needed\.\nApproval requested\n/);
    expect(labels(anas).filter((text) => /Approve|Deny/.test(text))).toEqual(['⛔ Deny']);
    await shows(
      bens,
      new RegExp(`^Approval requested\\n[^]*Needs 2 approvals; ana approved at ${voted}`),
    );
    expect(labels(bens)).toEqual(before);
    expect(ana.toasts.at(-1)?.text).toBe('✅ Recorded. 1 more approval is needed.');
    ben.taps(bens, 'Approve');
    for (const message of [anas, bens]) await shows(message, /^✅ Approved\nBy: ana, ben\n/);
    expect([anas.buttons, bens.buttons]).toEqual([[], []]);
    expect((await people.status(request)).status).toBe('approved');
  });

  it('a tap on an old Approve counts nothing twice, and Deny ends it', async () => {
    const { request, anas, bens } = await askedBoth();
    const data = anas.buttons.flat().find(({ text }) => text.includes('Approve'))?.callback_data;
    ana.taps(anas, 'Approve');
    await shows(anas, /^✅ Recorded/);
    ana.sends(anas, data ?? '');
    await expect.poll(() => ana.toasts.length, SOON).toBe(2);
    expect(ana.toasts.map(({ text }) => text)).toEqual([
      '✅ Recorded. 1 more approval is needed.',
      '✅ Recorded. 1 more approval is needed.',
    ]);
    expect((await people.status(request)).approvals.given).toHaveLength(1);
    ana.taps(anas, 'Deny');
    await shows(anas, /^⛔ Denied by you/);
    await shows(bens, /^⛔ Denied\nBy: ana\n/);
  });

  it("a removed person's approval goes from the others' messages", async () => {
    const { request, anas, bens } = await askedBoth();
    ana.taps(anas, 'Approve');
    await shows(bens, /ana approved at/);
    const [channel] = (await people.status(request)).approvals.given;
    await people.removeChannel(channel?.channel_id ?? '');
    await shows(bens, /\nNeeds 2 approvals\.\n/);
    expect((await people.status(request)).approvals.given).toEqual([]);
  });
});
