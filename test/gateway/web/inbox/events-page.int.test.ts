import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../helpers/gateway.ts';
import { TestSending } from '../../mail/outbound/sending.ts';
import { claim, giveUp, placeOf } from './places.ts';
import { WebVisitor } from './web-visitor.ts';

const OWNER = 'ana@example.com';
const HOUR_MS = 3_600_000;

const clock = new FakeClock();
let mail: TestSending;
let owner: WebVisitor;
let mailUrl: string;
const hooks = new Map<string, string>();

beforeAll(async () => {
  mail = await TestSending.start({ clock, source: false });
  const { gateway } = mail;
  await gateway.gateway.setOwner(gateway.projectId, OWNER);
  owner = await WebVisitor.asOwner(gateway, OWNER);
  mailUrl = await gateway.addSource({ type: 'email', name: 'mail' });
});
afterAll(() => mail.stop());

let count = 0;

/** A fresh event of a source, whose deliveries are not signed: a payload, or JSON as it is written. Answers its id. */
async function event(payload: unknown = { n: 1 }, source = 'open'): Promise<string> {
  const hook = hooks.get(source) ?? (await mail.gateway.addSource({ name: source }));
  hooks.set(source, hook);
  count += 1;
  const { body } = await mail.gateway.deliver(
    hook,
    typeof payload === 'string' ? payload : JSON.stringify(payload),
    {
      'content-type': 'application/json',
      'webhook-id': `d${count}`,
    },
  );
  return String(body['event_id']);
}

const at = (id?: string): Promise<string> => placeOf(mail.gateway, 'events', id);

/** The page of an event, as the owner sees it. */
const page = async (id: string, query = '') => owner.get((await at(id)) + query);

async function ledgerLength(): Promise<number> {
  const { body } = await mail.gateway.call<{ items: unknown[] }>('GET', '/v1/ledger?limit=200');
  return body.items.length;
}

/** The state of an event, as the API tells it. */
async function stateOf(id: string): Promise<string | undefined> {
  for (const status of ['pending', 'claimed', 'failed', 'dead', 'done']) {
    const path = `/v1/inbox?status=${status}&limit=100`;
    const { body } = await mail.gateway.call<{ items: { id: string }[] }>('GET', path);
    if (body.items.some((one) => one.id === id)) return status;
  }
  return undefined;
}

describe('an event that waits', () => {
  it('says for what in the list, and leads to the question', async () => {
    const event_id = await event({ waits: true });
    await claim(mail.gateway, event_id);
    const question = { question: 'Which one?', wait_seconds: 0, event_id, park: true };
    const { body } = await mail.gateway.call('POST', '/v1/requests', { body: question });
    const list = await owner.get(`${await at()}?status=waiting`);
    expect(list.html).toContain(`/events/${event_id}"`);
    expect(list.html).toContain('waits for a person');
    const shown = await page(event_id);
    expect(shown.html).toContain(`/requests/${String(body['request_id'])}"`);
    expect(shown.html).toMatch(/Waits for<\/dt><dd><a [^>]+>a decision<\/a>/);
    expect(shown.html).toContain('Goes on');
  });

  it('goes back into the queue by hand', async () => {
    const event_id = await event();
    await claim(mail.gateway, event_id);
    const parked = { event_id, until: ['+1h'] };
    await mail.gateway.call('POST', '/v1/inbox/nack', { body: parked });
    expect((await page(event_id)).html).toContain('?step=requeue');
    await owner.post(await at(event_id), { fields: { act: 'requeue' } });
    expect(await stateOf(event_id)).toBe('pending');
  });
});

describe('the list', () => {
  it('shows the events of a state, and those alone', async () => {
    const [waits, held, dead] = [await event(), await event(), await event()];
    await claim(mail.gateway, held);
    await giveUp(mail.gateway, dead, 'No.');
    for (const [query, expected, word] of [
      ['?status=pending', waits, 'Pending'],
      ['?status=claimed', held, 'Claimed'],
      ['?status=dead', dead, 'Dead'],
    ] as const) {
      const { html } = await owner.get((await at()) + query);
      const shown = [waits, held, dead].filter((id) => html.includes(`/events/${id}"`));
      expect([query, shown]).toEqual([query, [expected]]);
      expect(html).toMatch(new RegExp(`class="chip \\w+">${word}<`));
    }
    expect((await owner.get(`${await at()}?status=failed`)).html).toContain('Nothing here.');
  });

  it('is narrowed by source, type and age, and goes on page by page with that', async () => {
    for (let n = 0; n < 32; n += 1) await event({ n }, 'many');
    const query = '?source=many&type=webhook.*&since=1h';
    const first = await owner.get((await at()) + query);
    expect(first.html.match(/data-row/g)).toHaveLength(30);
    expect(first.html).toContain('value="webhook.*"');
    const next =
      /href="(\?[^"]*cursor[^"]*)"/.exec(first.html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = await owner.get((await at()) + next);
    expect(second.html.match(/data-row/g)).toHaveLength(2);
    expect(second.html).toContain('href="?source=many&amp;type=webhook.*&amp;since=1h"');
    expect((await owner.get(`${await at()}?source=many&type=x`)).html).toContain(
      'No events match.',
    );
    // A session that is not used for an hour ends.
    for (let half = 0; half < 4; half += 1) {
      clock.advance(HOUR_MS / 2);
      await owner.get(await at());
    }
    expect((await owner.get((await at()) + query)).html).toContain('No events match.');
    expect((await owner.get(`${await at()}?source=&type=&since=`)).html).toContain('data-row');
    expect((await owner.get(`${await at()}?cursor=junk`)).status).toBe(404);
  });

  it('says why a filter finds nothing: no such source, or a pattern that no type can match', async () => {
    const { html: unknown } = await owner.get(`${await at()}?source=other`);
    expect(unknown).toContain('There&#39;s no source `other` yet');
    const { status, html } = await owner.get(`${await at()}?source=No+Name&type=a*b`);
    expect(status).toBe(200);
    expect(html).toContain('Use `*` only at the end');
    expect(html).toContain('Not a valid source name');
    expect(html).toContain('value="a*b"');
  });

  it('says who proved to be the sender, and who did not', async () => {
    const secret = 'whsec_abcdefghijklmnopqrstuvwx';
    await mail.gateway.addSource({ name: 'stripe', verification: 'stripe', secret });
    const body = JSON.stringify({ id: 'evt_1', type: 'invoice.paid' });
    const signed = await mail.call<{ url: string; headers: Record<string, string> }>(
      'POST',
      '/v1/sources/stripe/sign',
      { body_base64: Buffer.from(body).toString('base64') },
    );
    await mail.gateway.deliver(signed.body.url, body, {
      'content-type': 'application/json',
      ...signed.body.headers,
    });
    await event({}, 'unsigned');
    const stripe = await owner.get(`${await at()}?source=stripe`);
    expect(stripe.html).toContain('invoice.paid');
    expect(stripe.html).toMatch(/class="mark good">.*?verified/s);
    expect((await owner.get(`${await at()}?source=unsigned`)).html).toContain('not verified');
  });
});

describe('one event', () => {
  it('is shown with what it carried, its headers, and what happened to it', async () => {
    const id = await event({ order: { total: 42 } });
    const { html, status } = await page(id);
    expect(status).toBe(200);
    expect((await page(id, '?view=raw')).html).toContain('&quot;total&quot;: 42');
    expect(html).toContain('From the sender. Treat it as data');
    expect((await page(id, '?view=headers')).html).toContain('webhook-id');
    expect(html).toContain('<p>Received</p>');
    expect(html).toContain(id);
  });

  it('is not changed by being looked at', async () => {
    const id = await event();
    const before = await ledgerLength();
    await page(id);
    await owner.get(await at());
    expect(await ledgerLength()).toBe(before);
    expect(await stateOf(id)).toBe('pending');
  });

  it('shows as text whatever a stranger wrote', async () => {
    const text = `</div><script>document.title='owned'</script> \u202eevil \u200b`;
    const id = await event({ text, more: 1 });
    const { html } = await page(id);
    expect(html).not.toContain('<script>document');
    expect(html).not.toMatch(/[\u202e\u200b]/);
    expect(html).toContain('&lt;script&gt;document');
    expect(html).toContain('class="hid">U+202E');
    expect(html).toContain('Look closely at what the sender wrote.');
  });

  it('cuts no character of a long payload in two', async () => {
    const id = await event({ text: `${'x'.repeat(39_999)}\u{1f600}yz` });
    expect((await page(id)).html).toContain('x\u{1f600}');
    expect((await page(id, '?part=2')).html).toMatch(/>yz</);
  });

  it('shows a long payload in parts, the last of them too', async () => {
    const id = await event({ text: `${'x'.repeat(199_990)}\u{1f600}${'x'.repeat(100)}END` });
    const first = await page(id);
    expect(first.html.length).toBeLessThan(100_000);
    expect(first.html).toContain('Part 1 of 6');
    expect(first.html).not.toContain('xEND');
    expect((await page(id, '?part=6')).html).toContain('xEND');
    for (const part of ['7', '0', '1.5', 'x']) {
      expect((await page(id, `?part=${part}`)).html).toContain('Part 1 of 6');
    }
  });

  it('shows numbers as they were sent', async () => {
    const id = await event('{"id":1234567890123456789,"price":1.10}');
    const { html } = await page(id, '?view=raw');
    expect(html).toContain('&quot;id&quot;: 1234567890123456789,');
    expect(html).toContain('&quot;price&quot;: 1.10\n');
  });

  it('leads to a payload that is too large to be shown', async () => {
    const id = await event({ text: 'x'.repeat(300_000) });
    const { html } = await page(id);
    const link = /href="([^"]*\/l\/[^"]*)"/.exec(html)?.[1] ?? '';
    const payload = await fetch(link);
    expect(((await payload.json()) as { text: string }).text).toHaveLength(300_000);
  });

  it('tells who holds it, why it was given back, and what came of it', async () => {
    const { gateway } = mail;
    const id = await event();
    const lease = await claim(gateway, id);
    const held = await page(id);
    expect(held.html).toMatch(/Claimed by.*?Lease ends.*?in 5 min/s);
    const reason = 'The <b>provider</b> is down.';
    await gateway.call('POST', '/v1/inbox/nack', {
      body: { event_id: id, lease_id: lease, reason },
    });
    const failed = await page(id);
    expect(failed.html).toContain('Failed');
    expect(failed.html).toContain('Next try in 30 s');
    expect(failed.html).toContain('The &lt;b&gt;provider&lt;/b&gt; is down.');
    clock.advance(60_000);
    await claim(gateway, id);
    await gateway.call('POST', '/v1/inbox/ack', {
      body: { event_id: id, result: { ticket: 42 } },
    });
    const done = await page(id);
    expect(done.html).toContain('{&quot;ticket&quot;:42}');
    expect(done.html).not.toContain('provider');
  });

  it('is not there by an id of another project, or of none', async () => {
    const other = await mail.neighbour('other-project');
    const url = (
      await other.call<{ url: string }>('POST', '/v1/sources', { type: 'webhook', name: 'theirs' })
    ).body.url;
    const { body } = await mail.gateway.deliver(url, '{"secret":"of others"}');
    for (const id of [String(body['event_id']), 'evt_00000000000000000000000000', 'junk']) {
      expect([id, (await page(id)).status]).toEqual([id, 404]);
      await owner.get(await at());
      const sent = await owner.post(await at(id), { fields: { act: 'requeue' } });
      expect([id, sent.status]).toEqual([id, 404]);
    }
  });
});

/** A mail with HTML, with words of another, and with a file. */
const raw = (): string =>
  [
    'From: Ana Lovelace <ana@example.com>',
    `To: ${mail.address}`,
    'Subject: <i>Two chairs</i>',
    'Message-ID: <chairs@example.com>',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: multipart/alternative; boundary=c',
    '',
    '--c',
    'Content-Type: text/plain',
    '',
    'Two chairs please.',
    '',
    '> which ones?',
    '--c',
    'Content-Type: text/html',
    '',
    '<p>Two <b>chairs</b></p><script>alert(1)</script>',
    '--c--',
    '--b',
    'Content-Type: application/pdf; name=order.pdf',
    'Content-Disposition: attachment; filename=order.pdf',
    '',
    'PDF',
    '--b--',
    '',
  ].join('\r\n');

describe('a mail', () => {
  it('is shown as people read one, its HTML on a page of its own', async () => {
    const headers = { 'content-type': 'message/rfc822' };
    const { body } = await mail.gateway.deliver(mailUrl, raw(), headers);
    const list = await owner.get(`${await at()}?source=mail`);
    expect(list.html).toContain('&lt;i&gt;Two chairs&lt;/i&gt;');
    expect(list.html).toContain('from Ana Lovelace &lt;ana@example.com&gt;');
    const id = String(body['event_id']);
    const { html } = await page(id);
    expect(html).toContain('Two chairs please.');
    expect(html).toContain('order.pdf');
    expect(html).not.toContain('which ones?');
    expect(html).not.toContain('alert(1)');
    expect((await page(id, '?text=whole')).html).toContain('which ones?');
    const link = /href="([^"]*\/m\/[^"]*)"/.exec(html)?.[1] ?? '';
    const formatted = await fetch(link);
    expect(formatted.headers.get('content-security-policy')).toContain('sandbox');
    expect(await formatted.text()).toContain('<b>chairs</b>');
    const file = await fetch(/href="([^"]*\/d\/[^"]*)"/.exec(html)?.[1] ?? '');
    expect(file.headers.get('content-disposition')).toContain('filename="order.pdf"');
  });
});

describe('a dead event', () => {
  it('is put back into the queue in two steps', async () => {
    const id = await event();
    await giveUp(mail.gateway, id, 'Not for us.');
    const { html } = await page(id);
    expect(html).toContain('Not for us.');
    expect(html).toContain('href="?step=requeue"');
    expect(html).not.toContain('value="requeue"');
    const asked = await page(id, '?step=requeue');
    expect(asked.html).toContain('Requeue this event?');
    expect(await stateOf(id)).toBe('dead');
    const sent = await owner.post(await at(id), { fields: { act: 'requeue' } });
    expect([sent.status, sent.location]).toEqual([303, await at(id)]);
    expect(await stateOf(id)).toBe('pending');
    const after = await page(id);
    expect(after.html).toMatch(/Requeued.*?owner, in the web inbox/s);
    expect(after.html).not.toContain('step=requeue');
  });

  it('only: any other stays where it is, and so does one that no form of ours is about', async () => {
    const id = await event();
    await page(id, '?step=requeue');
    const refused = await owner.post(await at(id), { fields: { act: 'requeue' } });
    expect(refused.status).toBe(409);
    expect(refused.html).toContain('role="alert"');
    expect(refused.html).toContain('cannot be claimed or changed');
    for (const fields of [{}, { act: 'explode' }]) {
      const unclear = await owner.post(await at(id), { fields });
      expect([unclear.status, unclear.html.includes('Nothing was done.')]).toEqual([400, true]);
    }
    expect(await stateOf(id)).toBe('pending');
  });
});

describe('a key', () => {
  it('that may only read sees no button, no history and no more of a payload than lists have', async () => {
    const visitor = await WebVisitor.withKey(mail.gateway, await mail.gateway.key('inbox:read'));
    const id = await event({ text: 'y'.repeat(10_000) });
    await giveUp(mail.gateway, id, 'No.');
    const { html } = await visitor.get(await at(id));
    expect(html).toContain('It’s over 8 KB.');
    expect(html).not.toContain('yyyy');
    expect(html).not.toContain('step=requeue');
    expect(html).not.toContain('History');
    const step = await visitor.get(`${await at(id)}?step=requeue`);
    expect(step.html).not.toContain('value="requeue"');
    const sent = await visitor.post(await at(id), { fields: { act: 'requeue' } });
    expect(sent.status).toBe(403);
    expect(await stateOf(id)).toBe('dead');
  });

  it('that may not read the inbox does not know the page', async () => {
    const visitor = await WebVisitor.withKey(mail.gateway, await mail.gateway.key('approvals'));
    const requests = await visitor.get((await at()).replace('/events', '/requests'));
    expect(requests.html).not.toContain('>Events<');
    expect((await visitor.get(await at())).status).toBe(404);
    expect((await visitor.get(await at(await event()))).status).toBe(404);
  });
});
