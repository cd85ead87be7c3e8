import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UI_PAGES } from '../../../../gateway/web/inbox/pages.ts';
import { POLICY_MAX_BYTES } from '../../../../shared/rules/policy/document.ts';
import { LOOPBACK } from '../../callbacks/callback-receiver.ts';
import { arrived, mailWith, sentMessage } from '../../mail/inbound/arrivals.ts';
import { TestSending } from '../../mail/outbound/sending.ts';
import { WebVisitor } from './web-visitor.ts';

/** What a page and all that it loads may weigh. Nothing is compressed. */
const PAGE_MAX_BYTES = 300_000;
const KB = 1024;
const WORDS = 'Refund the shelf that arrived broken & say "sorry" to Ines <ines@example.com>. ';

let mail: TestSending;
let visitor: WebVisitor;
let base: string;

/** So many characters of plain text. */
const words = (chars: number): string =>
  WORDS.repeat(Math.ceil(chars / WORDS.length)).slice(0, chars);

async function put(path: string, body: unknown): Promise<void> {
  const { status } = await mail.call('PUT', path, body);
  if (status >= 300) throw new Error(`${path}: ${status}`);
}

/** What comes over the network for a page: it, its style, its script and its icon. */
async function weightOf(path: string): Promise<number> {
  const page = await visitor.get(path);
  if (page.status !== 200) throw new Error(`${path}: ${page.status}`);
  return Buffer.byteLength(page.html) + (await frameBytes(page.html));
}

const sizes = new Map<string, number>();

async function frameBytes(html: string): Promise<number> {
  const urls = [...html.matchAll(/<(?:link|script)\b[^>]* (?:href|src)="([^"]*)"/g)];
  let sum = 0;
  for (const url of new Set(urls.map(([, one = '']) => new URL(one, mail.gateway.url).href))) {
    const size = sizes.get(url) ?? (await (await fetch(url)).arrayBuffer()).byteLength;
    sizes.set(url, size);
    sum += size;
  }
  return sum;
}

beforeAll(async () => {
  mail = await TestSending.start({ callbackAllow: LOOPBACK });
  await mail.gateway.gateway.setOwner(mail.gateway.projectId, 'ana@example.com');
  visitor = await WebVisitor.asOwner(mail.gateway, 'ana@example.com');
  base = `/ui/p/${mail.project.info.slug}/`;
});
afterAll(() => mail.stop());

describe('the longest page weighs at most 300 KB', () => {
  it('a policy at the limit, as a list, as JSON, in the editor and before it is proposed', async () => {
    const rules: Record<string, unknown>[] = [];
    for (let n = 0; n < 200; n += 1) {
      rules.push({
        id: `rule-number-${n}`,
        effect: n % 3 === 0 ? 'deny' : 'require_approval',
        action: [`payment.refund.${n}.${'a'.repeat(100)}`, `deploy.${n}.*`],
        description: words(270),
      });
    }
    expect(Buffer.byteLength(JSON.stringify(rules))).toBeGreaterThan(0.95 * POLICY_MAX_BYTES);
    await mail.policy(...rules);
    const found: [string, number][] = [];
    for (const path of ['policy', 'policy/propose', 'policy/try']) {
      found.push([path, await weightOf(base + path)]);
    }
    const edited = JSON.stringify({ rules: rules.toReversed() }, null, 2);
    await visitor.get(`${base}policy/propose`);
    const fields = { policy: edited, note: words(400), act: 'look' };
    const looked = await visitor.post(`${base}policy/propose`, { fields });
    found.push(['preview', Buffer.byteLength(looked.html) + (await frameBytes(looked.html))]);
    const proposed = { policy: { rules: rules.toReversed() }, wait_seconds: 0 };
    const { body } = await mail.call<{ request_id: string }>('PUT', '/v1/policy', proposed);
    found.push(['request', await weightOf(`${base}requests/${body.request_id}`)]);
    expect(found.filter(([, bytes]) => bytes > PAGE_MAX_BYTES)).toEqual([]);
    await mail.allowAll();
  });

  it('an event with the longest payload that is kept in the database, in each view', async () => {
    const hook = await mail.gateway.addSource({ name: 'long' });
    const lines = Array.from({ length: 1100 }, (_, n) => ({ sku: `sku-${n}`, text: words(200) }));
    const texts = [JSON.stringify({ lines }), JSON.stringify({ text: words(250 * KB) })];
    const found: [string, number][] = [];
    for (const text of texts) {
      const headers = { 'content-type': 'application/json' };
      const { body } = await mail.gateway.deliver(hook, text, headers);
      for (const view of ['tree', 'raw', 'headers', 'copy']) {
        const path = `events/${String(body['event_id'])}?view=${view}`;
        found.push([path, await weightOf(base + path)]);
      }
    }
    expect(found.filter(([, bytes]) => bytes > PAGE_MAX_BYTES)).toEqual([]);
  });

  it('a key, a state and a file of the largest size, and lists of them', async () => {
    const big = Object.fromEntries(
      Array.from({ length: 1000 }, (_, n) => [`key-${n}`, words(200)]),
    );
    for (let n = 0; n < 60; n += 1) await put(`/v1/kv/${n}-${'k'.repeat(400)}`, n);
    await put('/v1/kv/big', big);
    await put('/v1/state/big', { state: big, note: words(400) });
    await put('/v1/state/big', { state: { ...big, more: words(200) }, note: words(400) });
    await mail.file('big.txt', words(90 * KB));
    const found: [string, number][] = [];
    for (const path of [
      'disk',
      'disk?key=big',
      'disk/states',
      'disk/states?task=big',
      'disk/files',
      'disk/files?path=big.txt',
    ]) {
      found.push([path, await weightOf(base + path)]);
    }
    expect(found.filter(([, bytes]) => bytes > PAGE_MAX_BYTES)).toEqual([]);
  });

  it('a long thread and a long mail', async () => {
    const { batchId, messageId } = await sentMessage(mail, 'ana@example.com', {
      text: words(250 * KB),
      html: words(250 * KB),
    });
    for (let n = 0; n < 20; n += 1) {
      const text = `${n}: ${words(20_000)}`;
      await arrived(
        mail,
        mailWith({
          subject: words(250),
          text,
          text_stripped: text,
          in_reply_to: `<${messageId}@x>`,
        }),
      );
    }
    const { body } = await mail.call<{ thread_id: string }>('GET', `/v1/emails/${batchId}`);
    const found: [string, number][] = [];
    for (const path of [
      'mail',
      `mail/${body.thread_id}`,
      `mail/${batchId}`,
      'outbox',
      `outbox/${messageId}`,
    ]) {
      found.push([path, await weightOf(base + path)]);
    }
    expect(found.filter(([, bytes]) => bytes > PAGE_MAX_BYTES)).toEqual([]);
  });

  it('lists with full pages of long rows', async () => {
    const hook = await mail.gateway.addSource({ name: 'many' });
    for (let n = 0; n < 40; n += 1) {
      const payload = { n, a: words(300), b: words(300), c: words(300) };
      await mail.gateway.deliver(hook, JSON.stringify(payload), { 'webhook-id': `many-${n}` });
    }
    for (let n = 0; n < 30; n += 1) {
      await mail.call('POST', '/v1/requests', {
        action: `action.${n}.${'a'.repeat(150)}`,
        summary: `${n}: ${words(290)}`,
        wait_seconds: 0,
      });
    }
    for (let n = 0; n < 15; n += 1) {
      const body = {
        name: words(100),
        scopes: ['disk'],
        disk_prefixes: [`p${n}-${'x'.repeat(400)}`],
      };
      await mail.call('POST', '/v1/keys', body);
    }
    for (let n = 0; n < 40; n += 1) {
      await mail.call('POST', '/v1/routes', {
        callback_url: `http://127.0.0.1:9/${n}/${'p'.repeat(1900)}`,
        match_source: `elsewhere-${n}`,
      });
    }
    const found: [string, number][] = [];
    for (const { path } of UI_PAGES) found.push([path, await weightOf(base + path)]);
    expect(found.filter(([, bytes]) => bytes > PAGE_MAX_BYTES)).toEqual([]);
  });
});
