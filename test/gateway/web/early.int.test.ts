import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { linkToken } from '../../helpers/outbox.ts';
import { ANA, RawApp } from '../auth/oauth/app.ts';
import { Browser } from '../auth/oauth/browser.ts';
import { Person } from '../auth/sign-in/person.ts';
import { WebVisitor, type Page } from './inbox/web-visitor.ts';

const EARLY = 'within a second of the page appearing';

const clock = new FakeClock();
let gateway: TestGateway;
let key: string;
let base: string;
let owner: WebVisitor;
beforeAll(async () => {
  gateway = await TestGateway.start({ clock, signIn: true });
  const made = await new Person(gateway, ANA).project({ name: 'Acme' });
  key = made.api_key;
  base = `/ui/p/${made.project.slug}`;
  owner = await WebVisitor.asOwner(gateway, ANA);
});
afterAll(() => gateway.stop());

const call = <T = Record<string, unknown>>(method: string, path: string, body?: unknown) =>
  gateway.call<T>(method, path, { key, ...(body !== undefined && { body }) });

async function ask(): Promise<string> {
  const body = { action: 'deploy', summary: 'Deploy it', wait_seconds: 0 };
  return (await call<{ request_id: string }>('POST', '/v1/requests', body)).body.request_id;
}

const statusOf = async (id: string) => (await call('GET', `/v1/requests/${id}`)).body['status'];

/** Presses at once, a millisecond before the second is over, on the page that came again, and when it is over. */
async function presses(visitor: WebVisitor, path: string, fields = {}): Promise<Page[]> {
  const pages: Page[] = [];
  const press = async (): Promise<void> => {
    const page = await visitor.postAtOnce(path, { fields });
    const again = /name="csrf" value="([^"]*)"/.exec(page.html)?.[1];
    if (page.status === 409 && again !== undefined) visitor.csrf = again;
    pages.push(page);
  };
  await visitor.get(path);
  await press();
  clock.advance(999);
  await press();
  clock.advance(1000);
  await press();
  return pages;
}

/** What each press was answered with: the page again, or a status. */
function answersTo(pages: readonly Page[]): (number | 'again')[] {
  return pages.map(({ status, html }) =>
    status === 409 && html.includes(EARLY) ? 'again' : status,
  );
}

describe('a button that is pressed within a second of its page', () => {
  it('decides nothing on the page of a mailed link, which comes again with its text', async () => {
    const id = await ask();
    const path = `/a/${await linkToken(gateway.folder, 'a', 1)}`;
    const visitor = new WebVisitor(gateway);
    await visitor.get(path);
    const early = await visitor.postAtOnce(path, { fields: { verb: 'deny', comment: 'Not now' } });
    expect([early.status, early.html]).toEqual([409, expect.stringContaining('Not now')]);
    expect(answersTo(await presses(visitor, path, { verb: 'approve' }))).toEqual([
      'again',
      'again',
      303,
    ]);
    expect(await statusOf(id)).toBe('approved');
  });

  it('decides nothing in the web inbox', async () => {
    const id = await ask();
    expect(answersTo(await presses(owner, `${base}/requests/${id}`, { verb: 'deny' }))).toEqual([
      'again',
      'again',
      303,
    ]);
    expect(await statusOf(id)).toBe('denied');
  });

  it('confirms no address', async () => {
    await call('POST', '/v1/channels', { kind: 'email', address: 'bob@example.com' });
    const path = `/c/${await linkToken(gateway.folder, 'c')}`;
    expect(answersTo(await presses(new WebVisitor(gateway), path))).toEqual([
      'again',
      'again',
      303,
    ]);
  });

  it('confirms no sign-in, nor takes a wrong code', async () => {
    const { link, user_code: code } = await new Person(gateway, ANA).start();
    const { pathname } = new URL(link);
    expect(
      answersTo(await presses(new WebVisitor(gateway), pathname, { verb: 'confirm', code })),
    ).toEqual(['again', 'again', 303]);
  });

  it('opens no inbox, joins no project, and removes no member', async () => {
    const invited = await owner.get(`${base}/members?invite=1`);
    expect(invited.status).toBe(200);
    await owner.post(`${base}/members?invite=1`, {
      fields: { email: 'eve@example.com', role: 'member' },
    });
    const path = `/ui/join/${await linkToken(gateway.folder, 'ui/join')}`;
    expect(answersTo(await presses(new WebVisitor(gateway), path))).toEqual([
      'again',
      'again',
      303,
    ]);
    const { html } = await owner.get(`${base}/members`);
    const member = /members\/(mem_\w+)"[^>]*>(?:(?!members\/).)*eve|e\*\*\*@/.exec(html)?.[1];
    const members = await call<{ items: { id: string; role: string }[] }>('GET', '/v1/members');
    const eve = member ?? members.body.items.find(({ role }) => role === 'member')?.id ?? '';
    expect(
      answersTo(await presses(owner, `${base}/members/${eve}?step=remove`, { act: 'remove' })),
    ).toEqual(['again', 'again', 303]);
  });

  it('mails no link to sign in', async () => {
    const visitor = new WebVisitor(gateway);
    expect(answersTo(await presses(visitor, '/ui/sign-in', { email: 'zoe@example.com' }))).toEqual([
      'again',
      'again',
      200,
    ]);
  });

  it('connects no app, and keeps what was ticked', async () => {
    const app = await RawApp.registered(gateway);
    const browser = await Browser.signedIn(gateway, ANA);
    await browser.openFromApp(app.url());
    const fields = { verb: 'allow', lifetime: '7', scopes: ['disk'] };
    const early = await browser.sendAtOnce(fields);
    expect([early.status, browser.checked()]).toEqual([409, ['disk']]);
    expect(browser.text).toContain(`Nothing was allowed. That came ${EARLY}`);
    expect((await browser.send(fields)).next).toContain('code=');
  });

  it('signs out, which gives nobody anything', async () => {
    const visitor = await WebVisitor.asOwner(gateway, ANA);
    await visitor.get('/ui');
    await visitor.get(`${base}/overview`);
    expect((await visitor.postAtOnce('/ui/sign-out')).status).toBe(303);
  });
});

describe('a request for access from another site', () => {
  it.each(['cross-site', 'same-site'])('waits until the person goes on: %s', async (site) => {
    const app = await RawApp.registered(gateway);
    const browser = await Browser.signedIn(gateway, ANA);
    const page = await browser.open(app.url(), { 'sec-fetch-site': site });
    expect(browser.text).toContain('Another website sent you here');
    expect(page.html).not.toContain('http-equiv="refresh"');
    expect(page.html).not.toContain('Allow');
    await browser.openFromApp(app.url());
    expect(browser.text).toContain('Let this app use your project?');
  });
});
