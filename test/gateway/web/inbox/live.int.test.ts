import { request, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestGateway } from '../../../helpers/gateway.ts';
import { Pair } from '../../cluster/pair.ts';
import { ask, pathOf, WebVisitor } from './web-visitor.ts';
import { hurryTime } from '../../../helpers/hurried-time.ts';

const OWNER = 'ana@example.com';
/** By the wall clock, which nothing hurries. */
const PATIENCE_MS = 60_000;

/** A page that listens. */
class Listening {
  readonly status: number;
  readonly #answer: IncomingMessage;
  #text = '';
  #ended = false;

  private constructor(answer: IncomingMessage) {
    this.#answer = answer;
    this.status = answer.statusCode ?? 0;
    answer.setEncoding('utf8').on('data', (text: string) => (this.#text += text));
    answer.once('close', () => (this.#ended = true));
  }

  /** As the page of this address does when it was loaded, or of any. */
  static async open(
    gateway: TestGateway,
    visitor: WebVisitor,
    address?: string,
  ): Promise<Listening> {
    const slug = (await pathOf(gateway)).split('/')[3] ?? '';
    const headers = { cookie: visitor.cookie ?? '' };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${gateway.url}${address ?? `/ui/live?project=${slug}`}`, { agent: false, headers })
        .once('response', resolve)
        .once('error', reject)
        .end();
    });
    return new Listening(answer);
  }

  /** Waits for this text, or for the end where it is null; false when it does not come. */
  async hears(text: string | null): Promise<boolean> {
    const until = Date.now() + PATIENCE_MS;
    while (text === null ? !this.#ended : !this.#text.includes(text)) {
      if (Date.now() > until) return false;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return true;
  }

  close(): void {
    this.#answer.destroy();
  }
}

describe('a page that is looked at', () => {
  let gateway: TestGateway;

  beforeEach(() => hurryTime(10));
  beforeAll(async () => {
    gateway = await TestGateway.start();
    await gateway.gateway.setOwner(gateway.projectId, OWNER);
  });
  afterAll(() => gateway.stop());

  it('is told of a new request, and of its end', async () => {
    const owner = await WebVisitor.asOwner(gateway, OWNER);
    const page = await Listening.open(gateway, owner);
    expect(await page.hears('retry: 1000')).toBe(true);
    const path = await pathOf(gateway, await ask(gateway));
    expect(await page.hears('"requests"')).toBe(true);
    const other = await Listening.open(gateway, owner);
    await owner.get(path);
    await owner.post(path, { fields: { verb: 'deny' } });
    expect(await other.hears('"requests"')).toBe(true);
    page.close();
    other.close();
  });

  it('is told at once of what was committed between the page and its stream', async () => {
    const owner = await WebVisitor.asOwner(gateway, OWNER);
    const live = /data-live="([^"]+)"/.exec((await owner.get(await pathOf(gateway))).html);
    const address = (live?.[1] ?? '').replaceAll('&amp;', '&');
    const before = await Listening.open(gateway, owner, address);
    expect(await before.hears('retry: 1000')).toBe(true);
    await ask(gateway);
    expect(await before.hears('"requests"')).toBe(true);
    // Nothing happens after this one is open.
    const late = await Listening.open(gateway, owner, address);
    expect(await late.hears('"requests"')).toBe(true);
    before.close();
    late.close();
  });

  it('is told nothing more once its key is revoked', async () => {
    const made = await gateway.call<{ id: string; api_key: string }>('POST', '/v1/keys', {
      body: { name: 'short', scopes: ['approvals'] },
    });
    const visitor = await WebVisitor.withKey(gateway, made.body.api_key);
    const page = await Listening.open(gateway, visitor);
    expect(await page.hears('retry: 1000')).toBe(true);
    await gateway.call('DELETE', `/v1/keys/${made.body.id}`);
    expect(await page.hears('event: ended')).toBe(true);
    expect(await page.hears(null)).toBe(true);
  });

  it('is told nothing more once its session was ended elsewhere, or signed out of', async () => {
    const sessions = (await pathOf(gateway)).replace('requests', 'sessions');
    const [lost, left, other] = [
      await WebVisitor.withKey(gateway),
      await WebVisitor.withKey(gateway),
      await WebVisitor.withKey(gateway),
    ];
    const leaving = await Listening.open(gateway, left);
    await left.get(sessions);
    await left.post('/ui/sign-out');
    expect(await leaving.hears('event: ended')).toBe(true);
    const [page, staying] = [
      await Listening.open(gateway, lost),
      await Listening.open(gateway, other),
    ];
    await other.get(sessions);
    await other.post(sessions, { fields: { act: 'others' } });
    expect(await page.hears('event: ended')).toBe(true);
    expect(await page.hears(null)).toBe(true);
    await ask(gateway);
    expect(await staying.hears('"requests"')).toBe(true);
    staying.close();
  });

  it('is one of six of a session', async () => {
    const visitor = await WebVisitor.withKey(gateway);
    const pages: Listening[] = [];
    for (let at = 0; at < 6; at += 1) pages.push(await Listening.open(gateway, visitor));
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect((await Listening.open(gateway, visitor)).status).toBe(429);
    for (const page of pages) page.close();
    const until = Date.now() + PATIENCE_MS;
    let again = await Listening.open(gateway, visitor);
    while (again.status !== 200 && Date.now() < until) {
      again = await Listening.open(gateway, visitor);
    }
    expect(again.status).toBe(200);
    again.close();
  });

  it('is let go when the gateway ends its waits', async () => {
    const own = await TestGateway.start();
    const page = await Listening.open(own, await WebVisitor.withKey(own));
    expect(await page.hears('retry: 1000')).toBe(true);
    await own.gateway.endWaits();
    expect(await page.hears(null)).toBe(true);
    const late = await Listening.open(own, await WebVisitor.withKey(own));
    expect(await late.hears(null)).toBe(true);
    await own.stop();
  });
});

// In hurried time, a machine that rests for a second has gateways that count as dead.
describe('two gateways over one store', () => {
  it('share sessions, and tell pages what happens at the other one', async () => {
    const pair = await Pair.start({ signIn: true });
    const visitor = await WebVisitor.withKey(pair.a);
    const page = await Listening.open(pair.b, visitor);
    expect(await page.hears('retry: 1000')).toBe(true);
    await ask(pair.a);
    expect(await page.hears('"requests"')).toBe(true);
    page.close();
    await pair.stop();
  });
});
