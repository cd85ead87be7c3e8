import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { withRawDatabase } from '../../../helpers/database.ts';
import { mailsOf, tokensOf } from '../../../helpers/outbox.ts';
import { visit } from '../../../helpers/page-visitor.ts';
import { parsedMail } from '../../mail/parsed-mail.ts';
import { filesHolding } from './traces.ts';
import { csrfOf, Person, post } from './person.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let clock: FakeClock;
let gateway: TestGateway;
let ana: Person;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock, signIn: true });
  ana = new Person(gateway, 'ana@example.com');
});
afterEach(() => gateway.stop());

const start = (body: unknown, headers: Record<string, string> = {}) =>
  post(gateway, '/v1/auth/start', body, { headers });
const poll = async (loginId: string) => {
  clock.advance(1000);
  return ana.poll(loginId);
};

function control<T extends Record<string, unknown>>(sql: string): T[] {
  return withRawDatabase(join(gateway.folder, 'control.db'), (raw) => raw.all(sql)) as T[];
}

/** How often something was committed to control. */
function commits(): number {
  const [row] = control("SELECT value FROM meta WHERE name = 'commit_seq'");
  return Number(row?.['value']);
}

describe('asking whether a sign-in is confirmed', () => {
  it('says that an unknown one has expired, whatever it looks like', async () => {
    for (const login_id of ['lgn_unknown', `lgn_${'a'.repeat(32)}`, "' OR 1=1 --", '\u0000', 'ß']) {
      const answer = await post(gateway, '/v1/auth/poll', { login_id });
      expect([login_id, answer.status, answer.code]).toEqual([login_id, 410, 'LOGIN_EXPIRED']);
    }
    const [path, body] = ['/v1/projects', { login_id: 'lgn_unknown', name: 'a' }];
    expect((await post(gateway, path, body)).code).toBe('LOGIN_EXPIRED');
    const key = { login_id: 'lgn_unknown', project_id: gateway.projectId };
    expect((await post(gateway, '/v1/auth/keys', key)).code).toBe('LOGIN_EXPIRED');
  });

  it('may be done once a second', async () => {
    const { login_id } = await ana.start();
    expect((await ana.poll(login_id)).code).toBe('LOGIN_NOT_VERIFIED');
    clock.advance(999);
    const hasty = await ana.poll(login_id);
    expect([hasty.status, hasty.code, hasty.details]).toEqual([
      429,
      'RATE_LIMITED',
      { retry_after: 1 },
    ]);
    expect(hasty.headers.get('retry-after')).toBe('1');
    clock.advance(1);
    expect((await ana.poll(login_id)).code).toBe('LOGIN_NOT_VERIFIED');
    const other = await ana.start();
    expect((await ana.poll(other.login_id)).code).toBe('LOGIN_NOT_VERIFIED');
  });

  it('ends after 15 minutes, and those begin anew when it is confirmed', async () => {
    const first = await ana.start();
    clock.advance(15 * MINUTE_MS - 2001);
    expect((await poll(first.login_id)).code).toBe('LOGIN_NOT_VERIFIED');
    // The person reads the page for the last second but one.
    await ana.confirm(first);
    clock.advance(15 * MINUTE_MS - 1001);
    expect((await poll(first.login_id)).status).toBe(200);
    clock.advance(1);
    expect((await poll(first.login_id)).code).toBe('LOGIN_EXPIRED');
    expect((await ana.create(first.login_id)).code).toBe('LOGIN_EXPIRED');

    const second = await ana.start();
    clock.advance(15 * MINUTE_MS);
    expect((await poll(second.login_id)).code).toBe('LOGIN_EXPIRED');
    const late = await fetch(second.link);
    expect(await late.text()).toContain('This sign-in has expired');
  });

  it('goes on after a restart', async () => {
    const { login_id, link, user_code } = await ana.start();
    await gateway.stop({ keepFolder: true });
    gateway = await TestGateway.start({ clock, signIn: true, folder: gateway.folder });
    ana = new Person(gateway, 'ana@example.com');
    expect((await ana.poll(login_id)).code).toBe('LOGIN_NOT_VERIFIED');
    await ana.confirm({ link: gateway.url + new URL(link).pathname, user_code });
    expect((await poll(login_id)).status).toBe(200);
  });

  it('is forgotten after a day, by the next who signs in', async () => {
    const { login_id, link, user_code } = await ana.start();
    await ana.confirm({ link, user_code });
    expect((await ana.create(login_id)).status).toBe(201);
    clock.advance(24 * HOUR_MS - 1001);
    await ana.start();
    expect((await ana.poll(login_id)).code).toBe('LOGIN_CONSUMED');
    clock.advance(1);
    await ana.start();
    expect((await poll(login_id)).code).toBe('LOGIN_EXPIRED');
    expect((await fetch(link)).status).toBe(404);
    expect(control('SELECT count(*) AS n FROM login')).toEqual([{ n: 2 }]);
  });
});

describe('the link', () => {
  it('confirms nothing by being opened, however often', async () => {
    const { login_id, link } = await ana.start();
    for (let round = 0; round < 10; round += 1) {
      for (const method of ['GET', 'HEAD']) {
        const response = await fetch(`${link}?verb=confirm&csrf=x`, { method });
        expect(response.status).toBe(200);
        await response.text();
      }
    }
    expect((await ana.poll(login_id)).code).toBe('LOGIN_NOT_VERIFIED');
  });

  it('can deny, and then nothing confirms it any more', async () => {
    const { login_id, link } = await ana.start();
    const csrf = await csrfOf(link);
    expect(await visit(link, { button: 'This was not me' })).toContain('No one was signed in');
    const denied = await ana.poll(login_id);
    expect([denied.status, denied.code]).toEqual([410, 'LOGIN_EXPIRED']);
    expect(denied.text).toContain('It was denied on its page.');
    expect(denied.text).toContain('"details":{"reason":"denied"}');
    const late = await fetch(link, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ csrf, verb: 'confirm' }),
    });
    expect(late.status).toBe(303);
    expect(await (await fetch(link)).text()).toContain('No one was signed in');
    expect((await poll(login_id)).code).toBe('LOGIN_EXPIRED');
  });

  it('wants the code of the terminal, which stands neither on it nor in the mail', async () => {
    const { login_id, link, user_code } = await ana.start();
    const html = await (await fetch(link)).text();
    expect(html).not.toContain(user_code);
    expect(mailsOf(gateway.folder).join('\n')).not.toContain(user_code);
    const spelled = user_code.toLowerCase().replaceAll('-', ' ');
    expect(await ana.confirm({ link, user_code: ` ${spelled}` })).toContain('Signed in');
    expect((await ana.poll(login_id)).status).toBe(200);
  });

  it('is denied by the second wrong code, and says so', async () => {
    const { login_id, link, user_code } = await ana.start();
    const wrong = { link, user_code: 'WRONG-CODE-10' };
    expect(await ana.confirm(wrong)).toContain('You can try once more.');
    expect((await ana.poll(login_id)).code).toBe('LOGIN_NOT_VERIFIED');
    expect(await ana.confirm(wrong)).toContain('The code was wrong twice');
    await expect(ana.confirm({ link, user_code })).rejects.toThrow('No button');
    expect((await poll(login_id)).code).toBe('LOGIN_EXPIRED');
    // It counts against nobody's limit.
    for (let n = 0; n < 5; n += 1) await ana.start();
  });

  it('cannot deny what is confirmed', async () => {
    const { login_id, link, user_code } = await ana.start();
    const csrf = await csrfOf(link);
    await ana.confirm({ link, user_code });
    const body = new URLSearchParams({ csrf, verb: 'deny' });
    await fetch(link, { method: 'POST', redirect: 'manual', body });
    expect((await ana.poll(login_id)).status).toBe(200);
  });

  it('takes its one form, from its own page', async () => {
    const { login_id, link, user_code } = await ana.start();
    const other = await ana.start();
    const csrf = await csrfOf(link);
    const send = (fields: string, headers: Record<string, string> = {}) =>
      fetch(link, {
        method: 'POST',
        redirect: 'manual',
        body: fields,
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      });
    const refused: [number, Response][] = [
      [403, await send('verb=confirm')],
      [403, await send(`verb=confirm&csrf=${await csrfOf(other.link)}`)],
      [400, await send(`verb=dance&csrf=${csrf}`)],
      [400, await send(`csrf=${csrf}`)],
      [400, await send(`verb=confirm&csrf=${csrf}`)],
      [400, await send(`verb=confirm&verb=confirm&csrf=${csrf}`)],
      [403, await send(`verb=confirm&csrf=${csrf}`, { origin: 'https://evil.example' })],
      [403, await send(`verb=confirm&csrf=${csrf}`, { 'sec-fetch-site': 'cross-site' })],
      [
        415,
        await send(JSON.stringify({ verb: 'confirm', csrf }), { 'content-type': 'text/plain' }),
      ],
      [413, await send(`verb=confirm&csrf=${csrf}&x=${'x'.repeat(20_000)}`)],
      [405, await fetch(link, { method: 'PUT' })],
    ];
    expect(refused.map(([, { status }]) => status)).toEqual(refused.map(([status]) => status));
    expect((await ana.poll(login_id)).code).toBe('LOGIN_NOT_VERIFIED');
    expect((await send(`verb=confirm&csrf=${csrf}&code=${user_code}`)).status).toBe(303);
    expect((await poll(login_id)).status).toBe(200);
  });

  it.each(['unknown', 'a'.repeat(32), '..%2f..', '%00', 'x'.repeat(300)])(
    'that was never sent leads nowhere: %s',
    async (token) => {
      const response = await fetch(`${gateway.url}/s/${token}`);
      expect(response.status).toBe(404);
      expect(await response.text()).toContain('Start again in your terminal');
      expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    },
  );
});

/** What a sign-in answers and does, without what differs each time. */
async function measured(email: string) {
  const before = { commits: commits(), mails: mailsOf(gateway.folder).length };
  const answer = await start({ email });
  return {
    status: answer.status,
    fields: Object.keys(answer.body),
    headers: [...answer.headers.keys()],
    commits: commits() - before.commits,
    mails: mailsOf(gateway.folder).length - before.mails,
    length: answer.text.length - String(answer.body['user_code']).length,
  };
}

describe('beginning', () => {
  it('does and answers the same for an address that is known', async () => {
    await ana.project();
    const known = await measured('ana@example.com');
    expect(known).toMatchObject({ status: 200, commits: 1, mails: 1 });
    expect(await measured('bob@example.com')).toEqual(known);
  });

  it.each([
    [{}, ['email']],
    [{ email: 1 }, ['email']],
    [{ email: 'nobody' }, ['email']],
    [{ email: 'ana@example.com\r\nBcc: eve@example.com' }, ['email']],
    [{ email: 'ana@example.com, eve@example.com' }, ['email']],
    [{ email: '"Ana" <ana@example.com>' }, ['email']],
    [{ email: 'än@example.com' }, ['email']],
    [{ email: `${'a'.repeat(300)}@example.com` }, ['email']],
    [
      { email: 'x', client: { name: 'a\r\nb', host: '' }, more: 1 },
      ['email', 'client.name', 'client.host', 'more'],
    ],
    [{ email: 'ana@example.com', client: { name: '\u001b[31m' } }, ['client.name']],
    [{ email: 'ana@example.com', client: { host: 'x'.repeat(101) } }, ['client.host']],
    [{ email: 'ana@example.com', client: { ip: '10.0.0.1' } }, ['client.ip']],
    [[], ['']],
    ['{', ['']],
  ])('refuses %j, naming all that is wrong', async (body, paths) => {
    const answer = await start(body);
    expect([answer.status, answer.code]).toEqual([400, 'VALIDATION_FAILED']);
    const fields = answer.details?.['fields'] as { path: string }[];
    expect(fields.map(({ path }) => path)).toEqual(paths);
    expect(mailsOf(gateway.folder)).toEqual([]);
  });

  it('takes JSON that calls itself so, by POST alone', async () => {
    const email = { email: 'ana@example.com' };
    const form = await start(email, { 'content-type': 'application/x-www-form-urlencoded' });
    expect([form.code, form.text.includes('Content-Type')]).toEqual(['VALIDATION_FAILED', true]);
    const zipped = await start(email, { 'content-encoding': 'gzip' });
    expect(zipped.code).toBe('UNSUPPORTED_MEDIA_TYPE');
    const huge = await start({ email: 'a'.repeat(200_000) });
    expect(huge.code).toBe('PAYLOAD_TOO_LARGE');
    for (const path of ['/v1/auth/start', '/v1/auth/poll', '/v1/auth/keys', '/v1/projects']) {
      const response = await fetch(gateway.url + path);
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    }
    expect(mailsOf(gateway.folder)).toEqual([]);
  });

  it('shows what a stranger calls itself as text, on the page and in the mail', async () => {
    const { link } = await ana.start({
      name: '<script>alert(1)</script>',
      version: '\u202e1.0',
      host: 'ana"@example.com\u2028Code: EVIL',
    });
    const html = await (await fetch(link)).text();
    expect(html).not.toContain('<script>alert');
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt; ');
    expect(html).toContain('U+202E');
    const [mail = ''] = mailsOf(gateway.folder);
    const { text } = parsedMail(mail);
    expect(text).toContain('EVIL');
    expect(text).not.toMatch(/^Code: EVIL/m);
    expect(text.match(/^Code:/gm)).toBeNull();
  });

  it('ignores what a client says of its own address', async () => {
    const { email } = ana;
    await start({ email }, { 'x-forwarded-for': '8.8.8.8', 'user-agent': 'test/1 <b>' });
    const [token] = tokensOf(gateway.folder, 's');
    const html = await (await fetch(`${gateway.url}/s/${token}`)).text();
    expect(html).toContain('127.0.0.1');
    expect(html).not.toContain('8.8.8.8');
    expect(html).toContain('test/1 &lt;b&gt;');
  });
});

describe('limits', () => {
  it('are five an hour for a mailbox, in any writing and after a restart', async () => {
    const writings = ['ana@example.com', 'ANA@example.com', 'Ana@Example.com', 'aNa@EXAMPLE.com'];
    for (const email of [...writings, 'anA@example.com']) {
      expect((await start({ email })).status).toBe(200);
      clock.advance(MINUTE_MS);
    }
    const sixth = await start({ email: 'ana@example.com' });
    expect([sixth.status, sixth.code, sixth.details]).toEqual([
      429,
      'RATE_LIMITED',
      { retry_after: 55 * 60 },
    ]);
    expect(sixth.headers.get('retry-after')).toBe('3300');
    await gateway.stop({ keepFolder: true });
    gateway = await TestGateway.start({ clock, signIn: true, folder: gateway.folder });
    expect((await start({ email: 'ana@example.com' })).code).toBe('RATE_LIMITED');
    expect((await start({ email: 'bob@example.com' })).status).toBe(200);
    expect(mailsOf(gateway.folder)).toHaveLength(6);
    clock.advance(55 * MINUTE_MS);
    expect((await start({ email: 'ana@example.com' })).status).toBe(200);
    expect((await start({ email: 'ana@example.com' })).code).toBe('RATE_LIMITED');
  });

  it('count by the mailbox, however its address is spelled', async () => {
    const spelled = ['ana', 'Ana', 'ana+1', 'ANA+2', 'ana+a+b'].map((one) => `${one}@example.com`);
    for (const email of spelled) expect((await start({ email })).status).toBe(200);
    expect((await start({ email: 'ana+3@Example.com' })).code).toBe('RATE_LIMITED');
    expect((await start({ email: '+1@example.com' })).status).toBe(200);
  });

  it('that were denied do not count: nobody is kept out by what somebody else begins', async () => {
    const links: string[] = [];
    for (let n = 0; n < 5; n += 1) links.push((await ana.start()).link);
    expect((await start({ email: 'ana@example.com' })).code).toBe('RATE_LIMITED');
    await visit(links[2] ?? '', { button: 'This was not me' });
    expect((await start({ email: 'ana@example.com' })).status).toBe(200);
    expect((await start({ email: 'ana@example.com' })).code).toBe('RATE_LIMITED');
  });

  it('are twenty an hour for a network address', async () => {
    for (let n = 0; n < 20; n += 1)
      expect((await start({ email: `p${n}@example.com` })).status).toBe(200);
    const refused = await start({ email: 'p20@example.com' });
    expect([refused.code, refused.details]).toEqual(['RATE_LIMITED', { retry_after: 3600 }]);
    expect(mailsOf(gateway.folder)).toHaveLength(20);
    clock.advance(HOUR_MS);
    expect((await start({ email: 'p20@example.com' })).status).toBe(200);
  });

  it('hold when many begin at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => start({ email: 'ana@example.com' })),
    );
    const codes = answers.map(({ code }) => code);
    expect(codes.filter((code) => code === null)).toHaveLength(5);
    expect(codes.filter((code) => code === 'RATE_LIMITED')).toHaveLength(7);
    expect(mailsOf(gateway.folder)).toHaveLength(5);
  });
});

describe('what is stored', () => {
  it('holds no address and no secret in clear', async () => {
    const { login_id, link, user_code } = await ana.start();
    await ana.confirm({ link, user_code });
    const headers = { 'idempotency-key': 'once' };
    const made = await ana.create(login_id, {}, { headers });
    await gateway.stop({ keepFolder: true });
    const secrets = [
      'ana@example.com',
      login_id,
      new URL(link).pathname.slice(3),
      String(made.body['api_key']),
    ];
    for (const secret of secrets) {
      const holding = filesHolding(gateway.folder, secret);
      expect(holding.filter((path) => !path.includes('outbox/'))).toEqual([]);
    }
    gateway = await TestGateway.start({ clock, signIn: true, folder: gateway.folder });
  });
});
