import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, type TestGateway } from '../../../helpers/gateway.ts';
import { writerOf } from '../../../helpers/writers.ts';
import { TestSending } from '../../mail/outbound/sending.ts';
import { placeOf } from './places.ts';
import { WebVisitor, type Page } from './web-visitor.ts';
import { readPage } from '../../../helpers/reading.ts';

const OWNER = 'ana@example.com';
const SECRET = 'a-shared-secret-of-github';

const clock = new FakeClock();
let mail: TestSending;
let gateway: TestGateway;
let owner: WebVisitor;

beforeAll(async () => {
  mail = await TestSending.start({ clock, source: false });
  ({ gateway } = mail);
  await gateway.gateway.setOwner(gateway.projectId, OWNER);
  owner = await WebVisitor.asOwner(gateway, OWNER);
});
afterAll(() => mail.stop());

const at = (name?: string): Promise<string> => placeOf(gateway, 'sources', name);

interface Source {
  readonly name: string;
  readonly type: string;
  readonly verification: string;
  readonly signature_header: string | null;
  readonly url: string;
  readonly address: string | null;
}

async function source(name: string): Promise<Source | undefined> {
  const { body } = await gateway.call<{ items: Source[] }>('GET', '/v1/sources');
  return body.items.find((one) => one.name === name);
}

/** Sends the form of a new source. */
async function add(fields: Record<string, string>, type = 'webhook'): Promise<Page> {
  const form = `${await at()}?add=${type}`;
  await owner.get(form);
  return owner.post(form, { fields });
}

/** What the page says is wrong, by the field it stands beside. */
function problemsIn({ html }: Page): Record<string, string> {
  const all = html.matchAll(/<p id="(\w+)-problem" class="wrong">([^<]*)<\/p>/g);
  return Object.fromEntries([...all].map(([, field = '', text = '']) => [field, text]));
}

/** The page of a source, with what came of the form. */
const told = (path: string): unknown => expect.stringMatching(new RegExp(`^${path}\\?told=`));

/** The value to copy in a field of a page. */
const copied = ({ html }: Page, field: string): string =>
  new RegExp(`id="field-${field}" readonly="" value="([^"]*)"`).exec(html)?.[1] ?? '';

describe('the form of a new source', () => {
  it('adds it, and leads to its address', async () => {
    expect((await owner.get(await at())).html).toContain('No sources yet');
    const sent = await add({ name: 'github', verification: 'github', secret: SECRET });
    expect([sent.status, sent.location]).toEqual([303, told(await at('github'))]);
    const added = await source('github');
    expect(added).toMatchObject({ type: 'webhook', verification: 'github' });
    const { html } = await owner.get(sent.location ?? '');
    expect(html).toContain('Give the sender this address');
    expect(html).toContain(`readonly="" value="${added?.url}"`);
    expect(html).not.toContain(SECRET);
  });

  it('takes the header of a signature', async () => {
    const fields = { name: 'bot', verification: 'hmac_sha256', secret: SECRET };
    await add({ ...fields, signature_header: 'X-Build' });
    expect(await source('bot')).toMatchObject({ signature_header: 'x-build' });
    expect((await owner.get(await at('bot'))).html).toContain('x-build');
  });

  it.each([
    [{ verification: 'none' }, ['name']],
    [{ name: 'Up & <b>', verification: 'none' }, ['name']],
    [{ name: 'service', verification: 'none' }, ['name']],
    [{ name: 'open' }, ['verification']],
    [{ name: 'open', verification: 'none', secret: SECRET }, ['secret']],
    [{ name: 'open', verification: 'magic' }, ['verification']],
    [
      { name: 'open', verification: 'github', secret: SECRET, signature_header: 'x-a' },
      ['signature_header'],
    ],
    [{ name: 'open', verification: 'none', signature_header: 'x y' }, ['signature_header']],
  ])(
    'says beside the field what is wrong, and keeps what was written: %j',
    async (fields, wrong) => {
      const sent = await add(fields);
      expect(sent.status).toBe(400);
      expect(Object.keys(problemsIn(sent))).toEqual(wrong);
      for (const field of wrong) {
        expect(sent.html).toMatch(
          new RegExp(
            `name="${field}"[^>]*aria-describedby="${field}-problem[^>]*aria-invalid="true"`,
          ),
        );
      }
      const { name = '' } = { ...fields } as { name?: string };
      const written = name.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
      expect(sent.html).toContain(`name="name" type="text" value="${written}"`);
      // Nothing that is secret comes back.
      expect(sent.html).not.toContain(SECRET);
      expect(await source('open')).toBeUndefined();
    },
  );

  it.each(['github', 'hmac_sha256'])('makes a secret for %s, shown once', async (verification) => {
    const name = `made-${verification.slice(0, 4)}`;
    const sent = await add({ name, verification });
    expect(sent.status).toBe(200);
    const secret = copied(sent, 'secret');
    expect(secret).toMatch(/^[0-9a-f]{40}$/);
    expect(sent.html).toContain('data-keep');
    expect(copied(sent, 'address')).toBe((await source(name))?.url);
    expect((await owner.get(await at(name))).html).not.toContain(secret);
  });

  it('leaves the secret to a sender that makes its own, and says how to store it', async () => {
    const sent = await add({ name: 'shop', verification: 'stripe' });
    expect(sent.location).toEqual(told(await at('shop')));
    const { html } = await owner.get(sent.location ?? '');
    expect(html).toMatch(/<details class="card" open=""><summary>Set up Stripe/);
    expect(html).toMatch(/whsec_…\. Store it: <a href="\?step=rotate">/);
  });

  it('says that a name is taken', async () => {
    const sent = await add({ name: 'github', verification: 'none' });
    expect(sent.status).toBe(409);
    expect(problemsIn(sent)['name']).toContain('already exists');
    expect(sent.html).toContain('<option value="none" selected="">');
  });

  it('takes no field twice', async () => {
    const form = `${await at()}?add=webhook`;
    await owner.get(form);
    await readPage(gateway.url);
    const twice = await fetch(new URL(form, gateway.url), {
      method: 'POST',
      headers: { cookie: owner.cookie ?? '', 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams([
        ['csrf', owner.csrf],
        ['name', 'a'],
        ['name', 'b'],
        ['verification', 'none'],
      ]),
    });
    expect([twice.status, (await twice.text()).includes('Nothing was added.')]).toEqual([
      400,
      true,
    ]);
    expect(await source('a')).toBeUndefined();
  });

  it('of mail asks for a name only, and is there once', async () => {
    expect((await owner.get(await at())).html).toContain('?add=email');
    const form = await owner.get(`${await at()}?add=email`);
    expect(form.html).not.toContain('name="secret"');
    const sent = await add({ name: 'post' }, 'email');
    expect(sent.location).toEqual(told(await at('post')));
    const { html } = await owner.get(sent.location ?? '');
    expect(html).toContain(`value="${mail.address}"`);
    expect((await owner.get(await at())).html).not.toContain('?add=email');
    const again = await add({ name: 'post-2' }, 'email');
    expect(again.status).toBe(409);
    expect(again.html).toMatch(/role="alert".*?already has an email source/s);
  });
});

describe('the list', () => {
  it('says of each where to send, how it is signed, and what came', async () => {
    const url = await gateway.addSource({ name: 'counted' });
    await gateway.deliver(url, '{}');
    await gateway.addSource({ name: 'refusing', verification: 'github', secret: SECRET });
    // The gateway itself counts what it refused some seconds later.
    await writerOf(mail.project).write(async (store) => {
      const refusing = await store.sources.findByName('refusing');
      await store.sources.countUnstored(refusing?.id ?? '', clock.now(), {
        rejected: 2,
        repeated: 1,
      });
    });
    const { html } = await owner.get(await at());
    const rowOf = (name: string): string =>
      html.split('<li>').find((row) => row.includes(`/sources/${name}"`)) ?? '';
    expect(rowOf('counted')).toMatch(/not signed.*?1 event in 24 h.*?just now/s);
    expect(rowOf('counted')).toContain(url);
    expect(rowOf('refusing')).toMatch(/GitHub.*?0 events in 24 h.*?2 rejected.*?nothing received/s);
    expect(html).not.toContain(SECRET);
  });
});

describe('one source', () => {
  it('shows until when its secret before the newest is taken', async () => {
    await gateway.addSource({ name: 'changing', verification: 'github', secret: SECRET });
    const fact = /Old secret<\/dt><dd>also accepted until <time datetime="([^"]+)"/;
    expect((await owner.get(await at('changing'))).html).not.toMatch(fact);
    const body = { secret: 'another-secret-of-github', previous_valid_seconds: 3600 };
    const { status } = await gateway.call('POST', '/v1/sources/changing/rotate', { body });
    expect(status).toBe(200);
    const { html } = await owner.get(await at('changing'));
    expect(fact.exec(html)?.[1]).toBe(new Date(clock.now() + 3_600_000).toISOString());
    expect(html).not.toContain('another-secret');
  });

  it('gets another secret in two steps: a given one, or one that is made', async () => {
    await gateway.addSource({ name: 'renewed', verification: 'github', secret: SECRET });
    const path = await at('renewed');
    expect((await owner.get(path)).html).toContain('?step=rotate');
    expect((await owner.get(`${path}?step=rotate`)).html).toContain('new secret?');
    const rotate = (secret: string, grace: string): Promise<Page> =>
      owner.post(path, { fields: { act: 'rotate', secret, grace } });
    const given = await rotate('another-secret-of-github', '3600');
    expect(given.location).toEqual(told(path));
    expect((await owner.get(path)).html).toContain('Old secret');
    const made = await rotate('', '0');
    expect(copied(made, 'secret')).toMatch(/^[0-9a-f]{40}$/);
    expect((await owner.get(path)).html).not.toContain('Old secret');
    const wrong = await rotate('another-secret-of-github', '-1');
    expect([wrong.status, wrong.html.includes('another-secret')]).toEqual([400, false]);
  });

  it('without a signature, or with a sender that makes secrets, gets none that we made', async () => {
    await gateway.addSource({ name: 'unsigned' });
    expect((await owner.get(await at('unsigned'))).html).not.toContain('?step=rotate');
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    await gateway.addSource({ name: 'theirs', verification: 'stripe', secret });
    await owner.get(await at('theirs'));
    const fields = { act: 'rotate', secret: '', grace: '0' };
    const sent = await owner.post(await at('theirs'), { fields });
    expect([sent.status, problemsIn(sent)]).toEqual([
      400,
      { secret: 'The sender makes this secret: paste it here.' },
    ]);
  });

  it('gets a sample as from its sender, which becomes an event', async () => {
    await gateway.addSource({ name: 'sampled', verification: 'github', secret: SECRET });
    await gateway.addSource({ name: 'plain' });
    expect((await owner.get(await at('sampled'))).html).toMatch(
      // What the browser chose by itself would look like a person's choice, and stop live updates.
      /<option value="github.ping" selected="">.*<option value="github.push">/,
    );
    expect((await owner.get(await at('plain'))).html).not.toContain('name="kind"');
    const mailbox = await source('post');
    const [push, plain, letter] = await Promise.all(
      (
        [
          ['sampled', 'github.push'],
          ['plain', ''],
          ['post', ''],
        ] as const
      ).map(async ([name, kind]) => {
        const fields = { act: 'sample', ...(kind !== '' && { kind }) };
        const { location } = await owner.post(await at(name), { fields });
        const { html } = await owner.get(location ?? '');
        expect(html).toContain('The sample arrived.');
        const id = /\/events\/(evt_\w+)">Open the event/.exec(html)?.[1];
        return (await gateway.call('GET', `/v1/inbox/events/${id}`)).body;
      }),
    );
    expect(push).toMatchObject({ source: 'sampled', type: 'push', verified: true });
    expect(plain).toMatchObject({ source: 'plain', verified: false });
    expect(letter).toMatchObject({ source: mailbox?.name, channel: 'email' });
    const wrong = await owner.post(await at('sampled'), {
      fields: { act: 'sample', kind: 'stripe.invoice.paid' },
    });
    expect([wrong.status, wrong.html.includes('doesn’t accept such a sample')]).toEqual([
      400,
      true,
    ]);
  });

  it('is removed in two steps, and its address stops', async () => {
    const url = await gateway.addSource({ name: 'leaving' });
    const { html } = await owner.get(await at('leaving'));
    expect(html).not.toContain('value="remove"');
    const asked = await owner.get(`${await at('leaving')}?step=remove`);
    expect(asked.html).toContain('Remove this source?');
    expect((await gateway.deliver(url, '{"n":1}')).status).toBe(200);
    const unclear = await owner.post(await at('leaving'), { fields: { act: 'explode' } });
    expect([unclear.status, unclear.html.includes('Nothing was done.')]).toEqual([400, true]);
    const sent = await owner.post(await at('leaving'), { fields: { act: 'remove' } });
    expect([sent.status, sent.location]).toEqual([303, await at()]);
    expect(await source('leaving')).toBeUndefined();
    expect((await gateway.deliver(url, '{"n":2}')).status).toBe(404);
    expect((await owner.get(await at('leaving'))).status).toBe(404);
    await owner.get(await at());
    expect((await owner.post(await at('leaving'), { fields: { act: 'remove' } })).status).toBe(404);
  });

  it('is known to nobody but keys that may do everything', async () => {
    const visitor = await WebVisitor.withKey(gateway, await gateway.key('inbox:read'));
    const events = await visitor.get(await placeOf(gateway, 'events'));
    expect(events.html).not.toContain('>Sources<');
    for (const path of [await at(), await at('github'), `${await at()}?add=webhook`]) {
      expect([path, (await visitor.get(path)).status]).toEqual([path, 404]);
    }
  });
});
