import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { FakeDaemon, json } from './fake-daemon.ts';
import { TextSink } from './fake-output.ts';

let gateway: FakeDaemon;
afterEach(() => gateway.close());

async function svc(
  line: string,
  answer: unknown,
  command: readonly string[] = ['gateway', 'invite'],
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  gateway = new FakeDaemon((_, response) => json(response, answer));
  await gateway.listen(join(gateway.folder, 'operator.sock'));
  const [stdout, stderr] = [new TextSink(true, 100), new TextSink()];
  const env = { ...gateway.env, SVC_DATA: gateway.folder };
  const { signal } = new AbortController();
  const argv = [...command, ...line.split(' ').filter(Boolean), '--no-color'];
  const code = await run(argv, { env, stdout, stderr, signal });
  return { code, out: stdout.text, err: stderr.text };
}

describe('svc gateway invite', () => {
  it.each([
    ['invited', true, 'ana@example.com is invited. A mail says how to sign in.\n'],
    ['invited', false, 'ana@example.com is invited. No mail went out: tell them yourself.\n'],
    ['invited_already', true, 'ana@example.com is already invited. A mail says how to sign in.\n'],
    ['has_account', false, 'ana@example.com has an account already.\n'],
  ])('says what came of it: %s, mailed: %j', async (status, mailed, text) => {
    const email = 'ana@example.com';
    expect(await svc(email, { email, status, mailed })).toEqual({ code: 0, out: text, err: '' });
    const [seen] = gateway.seen;
    expect([seen?.method, seen?.url]).toEqual(['POST', '/invitations']);
    expect(JSON.parse(seen?.body ?? '')).toEqual({ email });
  });

  it.each([
    [true, 0, 'ana@example.com is no longer invited.\n'],
    [false, 3, "ana@example.com wasn't invited.\n"],
  ])('takes one back that was there: %j', async (revoked, code, out) => {
    const email = 'ana@example.com';
    expect(await svc(`${email} --revoke`, { email, revoked })).toEqual({ code, out, err: '' });
    expect(gateway.seen[0]?.url).toBe('/invitations/revoke');
  });

  it('lists who is invited, and says who else may sign up', async () => {
    const items = [{ email: 'ana@example.com', invited_at: '2020-01-01T00:00:00.000Z' }];
    const { code, out } = await svc('', { sign_up: 'listed', sends_mail: true, items });
    expect(code).toBe(0);
    expect(out).toContain('ana@example.com');
    expect(out).toContain('SVC_SIGN_UP also lets the addresses and domains it names sign up.');
    const nobody = await svc('', { sign_up: 'closed', sends_mail: true, items: [] });
    expect(nobody.code).toBe(3);
    expect(nobody.out).toMatch(/^Nobody is invited\. Sign-up is closed: /);
  });

  it.each([
    ['ana', '"ana" isn\'t an email address.'],
    ['--revoke', 'Name the person'],
    ['ana@example.com ben@example.com', 'Unexpected argument'],
  ])('%s is a usage error', async (line, text) => {
    const { code, err } = await svc(line, {});
    expect([code, err]).toEqual([2, expect.stringContaining(text)]);
    expect(gateway.seen).toEqual([]);
  });
});

describe('svc doctor', () => {
  const WARNS = 'anyone can create a project on the gateway here and send mail from your domain';

  it.each([
    ['open', true, true],
    ['open', false, false],
    ['closed', true, false],
  ])(
    'of a gateway here whose sign-up is %s, sends mail: %j',
    async (sign_up, sends_mail, warns) => {
      const { out } = await svc('', { sign_up, sends_mail, items: [] }, ['doctor']);
      expect(out.includes(WARNS)).toBe(warns);
    },
  );
});
