import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readMailConfig } from '../../../../gateway/mail/read-mail-config.ts';
import { FakeTelegram } from '../../../helpers/fake-telegram.ts';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { tokensOf } from '../../../helpers/outbox.ts';
import { TestPeople, type Channel } from '../../approvals/people.ts';
import { placeOf } from './places.ts';
import { WebVisitor, type Page } from './web-visitor.ts';

const OWNER = 'ana@example.com';
const HOUR_MS = 3_600_000;

const clock = new FakeClock();
let gateway: TestGateway;
let people: TestPeople;
let owner: WebVisitor;
let list: string;
let add: string;

beforeAll(async () => {
  gateway = await TestGateway.start({ clock });
  await gateway.gateway.setOwner(gateway.projectId, OWNER);
  people = await TestPeople.of(gateway, clock);
  list = await placeOf(gateway, 'channels');
  add = `${list}?add=email`;
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  // No more than so many links are mailed an hour.
  clock.advance(HOUR_MS);
  owner = await WebVisitor.asOwner(gateway, OWNER);
});

async function labelled(label: string): Promise<Channel | undefined> {
  return (await people.channels()).find((one) => one.label === label);
}

async function send(address: string): Promise<Page> {
  await owner.get(add);
  return owner.post(add, { fields: { address } });
}

describe('a person', () => {
  it('is added, confirms, is let in, and removed in two steps', async () => {
    expect((await owner.get(add)).html).toContain('We ask the owner to let them in.');
    const links = tokensOf(gateway.folder, 'c').length;
    const fields = { address: ' bob@example.com ', label: 'Bob' };
    const { status, location } = await owner.post(add, { fields });
    const { id } = (await labelled('Bob')) ?? { id: '' };
    const path = `${list}/${id}`;
    expect([status, location?.startsWith(`${path}?told=`)]).toEqual([303, true]);
    const added = await owner.get(location ?? '');
    expect(added.html).toContain('The link wasn’t emailed');
    expect(added.html).toContain('b***@example.com');
    expect(added.html).not.toContain('bob@example.com');
    expect((await owner.get(list)).html).toContain('Not confirmed');

    await gateway.gateway.approvals.verifyEmail(await people.confirmLink(links));
    expect((await owner.get(path)).html).toContain('Waiting for the owner');
    expect((await owner.get(location ?? '')).html).not.toContain('The link wasn’t emailed');
    await people.decide(await people.askedToLetIn(), { verb: 'approve' });
    expect((await owner.get(path)).html).toContain('Gets requests and can decide them.');

    expect((await owner.get(path)).html).not.toContain('value="remove"');
    expect((await owner.get(`${path}?step=remove`)).html).toContain('Yes, remove them');
    expect((await owner.post(path)).status).toBe(400);
    expect((await labelled('Bob'))?.status).toBe('active');
    await owner.get(`${path}?step=remove`);
    expect((await owner.post(path, { fields: { act: 'remove' } })).location).toBe(list);
    expect(await labelled('Bob')).toBeUndefined();
    expect((await owner.get(path)).status).toBe(404);
  });

  it.each([
    ['nonsense', 'This address cannot be used as a channel.'],
    ['', 'This address cannot be used as a channel.'],
    [OWNER, 'This address is already a channel of the project.'],
  ])('is not added at %j', async (address, problem) => {
    const before = await people.channels();
    await owner.get(add);
    const fields = { address, label: 'Nobody' };
    const { status, html } = await owner.post(add, { fields });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(html).toContain(problem);
    expect(html).toMatch(/<input id="field-address"[^>]*aria-invalid="true"/);
    expect(html).toContain(`value="${address}"`);
    expect(html).toContain('value="Nobody"');
    expect(await people.channels()).toEqual(before);
  });

  it('is sent no second link within a minute', async () => {
    expect((await send('carl@example.com')).status).toBe(303);
    const again = await send('carl@example.com');
    expect(again.status).toBe(429);
    expect(again.html).toContain('less than a minute ago');
    clock.advance(60_000);
    expect((await send('carl@example.com')).status).toBe(303);
  });
});

describe('the owner’s channel', () => {
  it('is marked, and stays', async () => {
    const id = await people.owner();
    const path = `${list}/${id}`;
    expect((await owner.get(list)).html).toContain('class="tag">Owner<');
    expect((await owner.get(`${path}?step=remove`)).html).not.toContain('Yes, remove');
    const { status, html } = await owner.post(path, { fields: { act: 'remove' } });
    expect(status).toBe(409);
    expect(html).toContain('channel cannot be removed.');
    expect(await people.owner()).toBe(id);
  });
});

describe('what came of a form', () => {
  it('is shown to the session alone that sent it', async () => {
    await owner.get(add);
    const { location } = await owner.post(add, { fields: { address: 'dora@example.com' } });
    const other = await WebVisitor.asOwner(gateway, OWNER);
    const { status, html } = await other.get(location ?? '');
    expect(status).toBe(200);
    expect(html).not.toContain('The link wasn’t emailed');
  });
});

it('without a bot nobody is added by Telegram', async () => {
  expect((await owner.get(list)).html).not.toContain('add=telegram');
  expect((await owner.get(`${list}?add=telegram`)).html).not.toContain(
    '<form method="post" class="card',
  );
  expect((await owner.post(`${list}?add=telegram`, { fields: { label: 'x' } })).location).toBe(
    list,
  );
});

it('with a bot a person is added by the link that the page shows', async () => {
  const telegram = await FakeTelegram.start();
  const { token, url: apiRoot } = telegram;
  const own = await TestGateway.start({
    clock,
    messaging: { mail: readMailConfig({}), telegram: { token, apiRoot, mode: 'poll' } },
  });
  const visitor = await WebVisitor.withKey(own);
  const page = await placeOf(own, 'channels');
  const form = `${page}?add=telegram`;
  expect((await visitor.get(page)).html).toContain('add=telegram');
  expect((await visitor.get(form)).html).toContain('taps Start');
  // The bot has no name yet for a moment, and then the answer is 503.
  const sent = () => visitor.post(form, { fields: { label: 'Ana' } });
  let answer = await sent();
  await expect.poll(async () => (answer = await sent()).status, { timeout: 60_000 }).toBe(303);
  const { html } = await visitor.get(answer.location ?? '');
  const [, start = ''] = /value="https:\/\/t\.me\/svc_test_bot\?start=([^"]+)"/.exec(html) ?? [];
  expect(answer.location).not.toContain(start);
  telegram.person(4711, 'Ana').says(`/start ${start}`);
  const shown = async () => (await visitor.get(answer.location ?? '')).html;
  await expect.poll(shown).toContain('Waiting for the owner');
  expect(await shown()).not.toContain('t.me');
  await own.stop();
  await telegram.stop();
});

it('a key without the scope approvals sees no such page', async () => {
  const visitor = await WebVisitor.withKey(gateway, await gateway.key('disk'));
  expect((await visitor.get(list)).status).toBe(404);
  expect((await visitor.get(await placeOf(gateway, 'usage'))).html).not.toContain('/channels"');
});
