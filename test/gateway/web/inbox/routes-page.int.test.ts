import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { LOOPBACK, Receiver, until } from '../../callbacks/callback-receiver.ts';
import { Routes } from '../../../shared/operations/route/routes.ts';
import { placeOf } from './places.ts';
import { WebVisitor, type Page } from './web-visitor.ts';

const OWNER = 'ana@example.com';

const clock = new FakeClock();
let gateway: TestGateway;
let receiver: Receiver;
let routes: Routes;
let owner: WebVisitor;

beforeAll(async () => {
  gateway = await TestGateway.start({ clock, callbackAllow: LOOPBACK });
  await gateway.gateway.setOwner(gateway.projectId, OWNER);
  owner = await WebVisitor.asOwner(gateway, OWNER);
  receiver = await Receiver.start();
  routes = new Routes(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});

const at = (id?: string): Promise<string> => placeOf(gateway, 'routes', id);

const page = async (id: string, query = ''): Promise<Page> => owner.get((await at(id)) + query);

/** Sends a form of the page of a route, and follows to where it leads. */
async function act(id: string, fields: Record<string, string>): Promise<Page> {
  await page(id);
  const sent = await owner.post(await at(id), { fields });
  expect(sent.status).toBe(303);
  return owner.get(sent.location ?? '');
}

/** A route that takes the events of one source, and its source. */
async function route(source: string, status = 204): Promise<string> {
  receiver.answer(status);
  return (await routes.add(receiver.url(`/${source}`), { match_source: source })).id;
}

/** Sends the form of a new route. */
async function add(fields: Record<string, string>): Promise<Page> {
  const form = `${await at()}?add`;
  await owner.get(form);
  return owner.post(form, { fields });
}

describe('the list', () => {
  it('says of each route where it leads, what it takes and how that goes', async () => {
    expect((await owner.get(await at())).html).toContain('No routes yet.');
    const good = await route('good');
    await routes.event({ source: 'good' });
    await routes.attempted(good, 1);
    const failing = await route('failing', 500);
    await routes.event({ source: 'failing' });
    await routes.attempted(failing, 1);
    const gone = await route('gone', 410);
    await routes.event({ source: 'gone' });
    await until(
      () => routes.list(),
      (all) => all.some(({ enabled }) => !enabled),
    );
    await routes.add(receiver.url('/new'), { match_type: 'never.*' });
    const { html } = await owner.get(await at());
    const rows = html.split('data-row').slice(1);
    expect(rows).toHaveLength(4);
    expect(rows[0]).toMatch(
      /127\.0\.0\.1:\d+.*?Active.*?every event from .*?good.*?204 in \d+ ms/s,
    );
    expect(rows[1]).toMatch(/Failing.*?500 in \d+ ms.*?1 pending/s);
    expect(rows[2]).toMatch(/Disabled.*?410 in \d+ ms.*?410 Gone/s);
    expect(rows[3]).toMatch(/Active.*?never\.\*.*?nothing sent yet/s);
    for (const id of [good, failing, gone]) expect(html).toContain(`/routes/${id}"`);
  });
});

describe('the form of a new route', () => {
  it('adds it, and shows its secret once', async () => {
    await gateway.addSource({ name: 'billing' });
    expect((await owner.get(await at())).html).toContain('href="?add"');
    expect((await owner.get(`${await at()}?add`)).html).toContain('<option value="billing"');
    const url = receiver.url('/added');
    const fields = { callback_url: url, match_source: 'billing', match_type: 'invoice.*' };
    const { status, html } = await add(fields);
    expect([status, html.includes('data-keep')]).toEqual([200, true]);
    const [, secret = ''] = /value="(whsec_[^"]+)"/.exec(html) ?? [];
    expect(secret).not.toBe('');
    const added = (await routes.list()).at(-1);
    const known = { callback_url: url, match_source: 'billing', match_type: 'invoice.*' };
    expect(added).toMatchObject(known);
    expect((await page(added?.id ?? '')).html).not.toContain(secret);
  });

  it.each([
    [{}, 'callback_url'],
    [{ callback_url: 'http://10.0.0.1/' }, 'callback_url'],
    [{ callback_url: 'https://example.com/', match_type: 'a*b' }, 'match_type'],
  ])('says beside the field what is wrong: %j', async (fields, wrong) => {
    const before = (await routes.list()).length;
    const { status, html } = await add(fields);
    expect(status).toBe(400);
    expect(html).toContain(`<p id="${wrong}-problem" class="wrong">`);
    expect((await routes.list()).length).toBe(before);
  });
});

describe('one route', () => {
  it('shows each attempt with what the receiver answered, as text', async () => {
    const id = await route('hostile');
    receiver.answer((response) =>
      response.writeHead(500).end(`<script>document.title='owned'</script>\u202eevil`),
    );
    const eventId = await routes.event({ source: 'hostile' });
    await routes.attempted(id, 1);
    const { html } = await page(id);
    expect(html).toContain('/hostile');
    expect(html).toMatch(/data-label="Status"[^>]*><span class="chip bad">500</);
    expect(html).toContain('&lt;script&gt;');
    expect(html).not.toContain('<script>document');
    expect(html).not.toContain('\u202e');
    expect(html).toContain(`/events/${eventId}"`);
  });

  it('goes on page by page, and shows those of a state alone', async () => {
    const id = await route('many');
    for (let count = 0; count < 22; count += 1) await routes.event({ source: 'many' });
    await until(
      () => routes.log(id),
      (log) => log.filter(({ status }) => status === 'delivered').length === 22,
    );
    const first = await page(id, '?status=delivered');
    expect(first.html.match(/data-row/g)).toHaveLength(20);
    const next =
      /href="(\?[^"]*cursor[^"]*)"/.exec(first.html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(next).toContain('status=delivered');
    expect((await page(id, next)).html.match(/data-row/g)).toHaveLength(2);
    expect((await page(id, '?status=dead')).html).toContain('Nothing here.');
    expect((await page(id, '?cursor=junk')).status).toBe(404);
  });

  it('tries one delivery, or all of them, again', async () => {
    const id = await route('again', 500);
    await routes.event({ source: 'again' });
    await routes.event({ source: 'again' });
    const waiting = await until(
      () => routes.log(id),
      (log) => log.length === 2 && log.every(({ attempts }) => attempts === 1),
    );
    receiver.answer(204);
    const [one] = waiting;
    const delivery = one?.delivery_id ?? '';
    const told = await act(id, { act: 'retry', delivery });
    expect(told.html).toContain('Retrying 1 delivery now.');
    await until(
      () => routes.log(id),
      (log) => log.filter(({ status }) => status === 'delivered').length === 1,
    );
    await act(id, { act: 'retry' });
    await until(
      () => routes.log(id),
      (log) => log.every(({ status }) => status === 'delivered'),
    );
    const { html } = await page(id);
    expect(html).not.toContain('value="retry"');
    const late = await owner.post(await at(id), { fields: { act: 'retry', delivery } });
    expect(late.status).toBe(409);
    expect(late.html).toContain('It was delivered, or its event went back to the inbox');
  });

  it.each([
    [204, 'The test arrived: 204 in'],
    [500, 'The test didn’t arrive: 500 in'],
  ])('sends a test that is answered %i, and says so', async (status, sentence) => {
    const id = await route(`test-${status}`, status);
    const before = receiver.got.length;
    const told = await act(id, { act: 'test' });
    expect(told.html).toContain(sentence);
    expect(receiver.got.slice(before).map(({ event }) => event.type)).toEqual(['route.test']);
    expect((await page(id)).html).not.toContain(sentence);
  });

  it('says nothing that its own forms have not left', async () => {
    const [id, other] = [await route('told'), await route('other')];
    await page(id);
    const { location } = await owner.post(await at(id), { fields: { act: 'test' } });
    const [, query = ''] = (location ?? '').split('?');
    expect((await page(id, `?${query}`)).html).toContain('The test arrived');
    expect((await page(other, `?${query}`)).html).not.toContain('The test arrived');
    for (const told of ['junk', '', 'e30', query.slice(5, -4)]) {
      const { html, status } = await page(id, `?told=${told}`);
      expect([told, status, html.includes('role="status"><svg')]).toEqual([told, 200, false]);
    }
  });

  it('is removed in two steps, and its events are pending again', async () => {
    const id = await route('leaving', 500);
    const eventId = await routes.event({ source: 'leaving' });
    await routes.attempted(id, 1);
    expect((await page(id)).html).not.toContain('value="remove"');
    const asked = await page(id, '?step=remove');
    expect(asked.html).toContain('Remove this route?');
    expect((await routes.list()).some((one) => one.id === id)).toBe(true);
    const sent = await owner.post(await at(id), { fields: { act: 'remove' } });
    expect([sent.status, sent.location]).toEqual([303, await at()]);
    expect((await routes.list()).some((one) => one.id === id)).toBe(false);
    expect(await routes.claim(eventId)).toBe(200);
    expect((await page(id)).status).toBe(404);
  });

  it('that is disabled says why, and tries nothing again', async () => {
    const id = await route('closed', 410);
    await routes.event({ source: 'closed' });
    await until(
      () => routes.list(),
      (all) => all.some((one) => one.id === id && !one.enabled),
    );
    const { html } = await page(id);
    expect(html).toMatch(/It takes no more events:.*?410 Gone/s);
    expect(html).not.toContain('value="retry"');
    const refused = await owner.post(await at(id), { fields: { act: 'retry' } });
    expect(refused.status).toBe(400);
    expect(refused.html).toContain('This route is disabled');
  });

  it('is disabled and enabled again', async () => {
    const id = await route('toggled', 500);
    const eventId = await routes.event({ source: 'toggled' });
    await routes.attempted(id, 1);
    expect((await page(id)).html).toContain('value="disable"');
    const sent = await owner.post(await at(id), { fields: { act: 'disable' } });
    expect([sent.status, sent.location]).toEqual([303, await at(id)]);
    const { html } = await page(id);
    expect(html).toMatch(/It takes no more events:.*?Disabled by hand\./s);
    expect(html).not.toContain('value="disable"');
    expect(html).toContain('value="enable"');
    receiver.answer(204);
    const enabled = await owner.post(await at(id), { fields: { act: 'enable' } });
    expect(enabled.status).toBe(303);
    expect((await owner.get(enabled.location ?? '')).html).toMatch(
      /It takes events again\. Delivering 1 event that it gave back\./,
    );
    expect((await page(id)).html).toContain('value="disable"');
    await until(
      () => routes.stateOf(eventId),
      ([status]) => status === 'done',
    );
  });

  it('takes no form that is none of its own', async () => {
    const id = await route('forms');
    await page(id);
    for (const fields of [{}, { act: 'explode' }]) {
      const sent = await owner.post(await at(id), { fields });
      expect([sent.status, sent.html.includes('Nothing was done.')]).toEqual([400, true]);
    }
    const wrong = await owner.post(await at(id), { fields: { act: 'retry', delivery: 'x' } });
    expect([wrong.status, wrong.html.includes('Expected a delivery id')]).toEqual([400, true]);
    const elsewhere = await at('rte_00000000000000000000000000');
    expect((await owner.get(elsewhere)).status).toBe(404);
    await page(id);
    expect((await owner.post(elsewhere, { fields: { act: 'remove' } })).status).toBe(404);
    expect((await owner.post(await at(), { fields: { act: 'remove' } })).location).toBe(await at());
  });
});

it('a key that may only read sees no button, and does nothing by a form', async () => {
  const visitor = await WebVisitor.withKey(gateway, await gateway.key('inbox:read'));
  const id = await route('readers', 500);
  await routes.event({ source: 'readers' });
  await routes.attempted(id, 1);
  const { html } = await visitor.get(await at(id));
  for (const missing of ['name="act"', 'step=remove']) expect(html).not.toContain(missing);
  expect((await visitor.get(`${await at()}?add`)).html).not.toContain('name="callback_url"');
  const step = await visitor.get(`${await at(id)}?step=remove`);
  expect(step.html).not.toContain('value="remove"');
  for (const name of ['retry', 'test', 'remove']) {
    const sent = await visitor.post(await at(id), { fields: { act: name } });
    expect([name, sent.status]).toEqual([name, 403]);
  }
  expect((await routes.list()).some((one) => one.id === id)).toBe(true);
});
