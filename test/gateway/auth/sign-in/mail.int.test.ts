import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readMailConfig } from '../../../../gateway/mail/read-mail-config.ts';
import { SIGN_UP_OPEN } from '../../../../gateway/auth/sign-up.ts';
import { Logins } from '../../../../gateway/auth/logins.ts';
import { createVault } from '../../../../gateway/lib/vault.ts';
import { ControlStore } from '../../../../gateway/store/control-store.ts';
import { FakeSmtp } from '../../../helpers/fake-smtp.ts';
import { FakeClock, temporaryFolder, TestGateway } from '../../../helpers/gateway.ts';
import { visit } from '../../../helpers/page-visitor.ts';
import { parsedMail, valuesOf } from '../../mail/parsed-mail.ts';
import { post } from './person.ts';

describe('a mail server', () => {
  let smtp: FakeSmtp;
  let gateway: TestGateway;
  beforeEach(async () => {
    smtp = await FakeSmtp.start();
    gateway = await TestGateway.start({
      clock: new FakeClock(),
      signIn: true,
      messaging: {
        mail: {
          ...readMailConfig({}),
          kind: 'smtp',
          host: '127.0.0.1',
          port: smtp.port,
          tls: 'off',
          credentials: null,
          from: 'svc@example.com',
        },
        telegram: null,
      },
    });
  });
  afterEach(async () => {
    await gateway.stop();
    await smtp.close();
  });

  const start = () => post(gateway, '/v1/auth/start', { email: 'ana@example.com' });

  it('is given the mail before the answer comes', async () => {
    const answer = await start();
    expect(answer.status).toBe(200);
    const [mail] = smtp.received.map(({ raw }) => parsedMail(raw));
    if (!mail) throw new Error('No mail came.');
    expect(valuesOf(mail, 'from')).toEqual(['svc@example.com']);
    expect(valuesOf(mail, 'to')).toEqual(['ana@example.com']);
    expect(valuesOf(mail, 'auto-submitted')).toEqual(['auto-generated']);
    const { login_id, user_code } = answer.body as Record<'login_id' | 'user_code', string>;
    expect(smtp.received[0]?.raw).not.toContain(user_code);
    expect(smtp.received[0]?.raw).not.toContain(login_id);
    const [link = ''] = /http\S+\/s\/\S+/.exec(mail.text) ?? [];
    await visit(link, { button: 'Confirm', typed: { code: user_code } });
    expect((await post(gateway, '/v1/auth/poll', { login_id })).status).toBe(200);
  });

  it.each(['550 5.1.1 No such user', '451 4.7.1 Later'])(
    'that answers %s fails the sign-in, which does not count',
    async (reply) => {
      smtp.script = { rcpt: { reply } };
      for (let n = 0; n < 6; n += 1) {
        const failed = await start();
        expect([failed.status, failed.code]).toEqual([502, 'EMAIL_DELIVERY_FAILED']);
        expect(failed.text).not.toContain('5.1.1');
      }
      smtp.script = {};
      expect((await start()).status).toBe(200);
    },
  );
});

describe('a mail that is not handed over in time', () => {
  const folder = temporaryFolder();
  let control: ControlStore;
  beforeEach(async () => {
    control = await ControlStore.open(
      { kind: 'file', path: join(folder.path, 'control.db') },
      () => undefined,
    );
  });
  afterEach(async () => {
    await control.close();
    folder.remove();
  });

  it('fails the sign-in, which counts: it may yet arrive', async () => {
    const troubles: string[] = [];
    const logins = new Logins({
      store: control.logins,
      accounts: control.accounts,
      signUp: SIGN_UP_OPEN,
      clock: new FakeClock(),
      vault: createVault(new Uint8Array(32)),
      publicUrl: 'https://gateway.example',
      mail: () => new Promise(() => undefined),
      projectsOf: async () => [],
      onTrouble: (reason) => troubles.push(reason),
      mailDomain: null,
      keepsMail: false,
      mailDeadlineMs: 5,
    });
    const start = () =>
      logins.start({ email: 'ana@example.com' }, { address: '192.0.2.1', userAgent: null });
    for (let n = 0; n < 5; n += 1) {
      await expect(start()).rejects.toMatchObject({ code: 'EMAIL_DELIVERY_FAILED', status: 502 });
    }
    expect(troubles).toEqual(Array(5).fill('The mail server does not answer in time.'));
    await expect(start()).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });
});
