import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readSignUp } from '../../../../gateway/auth/sign-up.ts';
import { withRawDatabase } from '../../../helpers/database.ts';
import { TestGateway } from '../../../helpers/gateway.ts';
import { mailsOf } from '../../../helpers/outbox.ts';
import { parsedMail } from '../../mail/parsed-mail.ts';
import { Person, post } from '../sign-in/person.ts';

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await TestGateway.start({ signIn: true, signUp: readSignUp('closed') });
});
afterEach(() => gateway.stop());

const ana = () => new Person(gateway, 'ana@example.com');

/** What somebody gets by mail who tries to sign in and may not. */
async function refusedMail(email: string): Promise<string> {
  const before = mailsOf(gateway.folder).length;
  const answer = await post(gateway, '/v1/auth/start', { email });
  expect(answer.status).toBe(200);
  const { login_id } = answer.body as { login_id: string };
  const polled = await post(gateway, '/v1/auth/poll', { login_id });
  expect(polled.code).toBe('LOGIN_NOT_VERIFIED');
  const mail = parsedMail(mailsOf(gateway.folder)[before] ?? '');
  expect(mail.text).not.toMatch(/https?:/);
  return mail.text;
}

describe('a gateway where sign-up is closed', () => {
  it('takes the first person, and then only invited ones', async () => {
    const mine = await ana().project({ name: 'Shop' });
    expect(await refusedMail('ben@example.com')).toContain('svc gateway invite ben@example.com');
    const invited = await gateway.gateway.operator.invitations.invite('ben@example.com');
    expect(invited).toMatchObject({ status: 'invited' });
    const told = parsedMail(mailsOf(gateway.folder).at(-1) ?? '');
    expect(told.text).toContain(`svc login --gateway ${gateway.url} --email ben@example.com`);
    const his = await new Person(gateway, 'ben@example.com').project({ name: 'Other' });
    expect(his.project.id).not.toBe(mine.project.id);
    // Signing in used the invitation up; the account stays.
    expect((await gateway.gateway.operator.invitations.list()).items).toEqual([]);
    await new Person(gateway, 'ben@example.com').key(his.project.id);
    expect(await refusedMail('eve@example.com')).toContain('need an invitation');
  });

  it('takes no first comer once somebody is invited', async () => {
    await gateway.gateway.operator.invitations.invite('ana@example.com');
    expect(await refusedMail('eve@example.com')).toContain('need an invitation');
    await ana().project();
  });

  it('knows one account for all spellings of a mailbox', async () => {
    await ana().project();
    const text = await refusedMail('ana+two@example.com');
    expect(text).toContain('already has an account, under another spelling');
    const { invitations } = gateway.gateway.operator;
    expect(await invitations.invite('ANA@example.com')).toMatchObject({ status: 'has_account' });
  });

  it('forgets an invitation that was revoked, and says whether there was one', async () => {
    const { invitations } = gateway.gateway.operator;
    await invitations.invite('ben@example.com');
    expect(await invitations.invite('Ben+x@example.com')).toMatchObject({
      status: 'invited_already',
    });
    expect(await invitations.revoke('ben@example.com')).toMatchObject({ revoked: true });
    expect(await invitations.revoke('ben@example.com')).toMatchObject({ revoked: false });
    await ana().project();
    expect(await refusedMail('ben@example.com')).toContain('need an invitation');
  });

  it('lets one of two first people in who confirm at the same time', async () => {
    const [one, two] = [ana(), new Person(gateway, 'ben@example.com')];
    const [first, second] = [await one.start(), await two.start()];
    await one.confirm(first);
    await two.confirm(second);
    expect((await one.poll(first.login_id)).status).toBe(200);
    expect((await two.poll(second.login_id)).code).toBe('LOGIN_EXPIRED');
  });
});

it('accounts of an earlier release get their mailbox when the gateway starts', async () => {
  await ana().project();
  const { folder } = gateway;
  await gateway.gateway.close();
  withRawDatabase(`${folder}/control.db`, (control) =>
    control.run('UPDATE account SET mailbox_hash = NULL'),
  );
  const later = await TestGateway.start({ folder, signIn: true, signUp: readSignUp('open') });
  try {
    await post(later, '/v1/auth/start', { email: 'ana+two@example.com' });
    const mail = parsedMail(mailsOf(folder).at(-1) ?? '');
    expect(mail.text).toContain('already has an account');
  } finally {
    await later.stop();
  }
});
