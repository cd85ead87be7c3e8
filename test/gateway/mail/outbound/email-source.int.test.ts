import { afterEach, describe, expect, it } from 'vitest';
import { FakeSmtp } from '../../../helpers/fake-smtp.ts';
import { parsedMail, valuesOf } from '../parsed-mail.ts';
import { refused } from '../../approvals/people.ts';
import { TestSending } from './sending.ts';

let mail: TestSending;
afterEach(() => mail.stop());

const REQUIRED = refused(409, 'EMAIL_SOURCE_REQUIRED');

describe('a project without a source of mail', () => {
  it('sends only what wants no replies', async () => {
    mail = await TestSending.start({ source: false });
    await mail.allowAll();
    expect(await mail.send()).toMatchObject({
      status: 409,
      body: { error: { code: 'EMAIL_SOURCE_REQUIRED', hint: 'Add an email source.' } },
    });
    expect(await mail.asked()).toBe(0);
    expect(await mail.ended(await mail.sent({ reply_to_inbox: false }))).toMatchObject([
      { status: 'sent' },
    ]);
    await mail.gateway.addSource({ type: 'email', name: 'mail' });
    expect(await mail.ended(await mail.sent())).toMatchObject([{ status: 'sent' }]);
    await mail.gateway.call('DELETE', '/v1/sources/mail');
    expect(await mail.send()).toMatchObject(REQUIRED);
  });
});

describe('a source of mail', () => {
  it('has no secret to give it another', async () => {
    mail = await TestSending.start({ source: false });
    await mail.gateway.addSource({ type: 'email', name: 'mail' });
    const answer = await mail.gateway.call('POST', '/v1/sources/mail/rotate', {
      body: { secret: 'of-nobody' },
    });
    expect(answer).toMatchObject(refused(400, 'VALIDATION_FAILED', { fields: [{ path: 'name' }] }));
  });
});

describe('a server that sends from one address for all', () => {
  it('takes no replies, and says so', async () => {
    const smtp = await FakeSmtp.start();
    try {
      mail = await TestSending.start({ smtp, mail: { domain: null } });
      await mail.allowAll();
      const answer = await mail.send();
      expect(answer).toMatchObject(REQUIRED);
      expect(answer.body.error?.hint).toContain('reply_to_inbox false');
      const id = await mail.sent({ reply_to_inbox: false });
      expect(await mail.ended(id)).toMatchObject([{ status: 'sent' }]);
      const [got] = smtp.received;
      expect(got?.from).toBe('svc@agents.test');
      expect(valuesOf(parsedMail(got?.raw ?? ''), 'from')).toEqual(['Test <svc@agents.test>']);
      expect(valuesOf(parsedMail(got?.raw ?? ''), 'reply-to')).toEqual([]);
    } finally {
      await smtp.close();
    }
  });
});

describe('a hosted server that takes no mail', () => {
  it('has no source of it', async () => {
    mail = await TestSending.start({ source: false, signIn: true, mail: { domain: null } });
    await mail.allowAll();
    const answer = await mail.gateway.call('POST', '/v1/sources', {
      body: { type: 'email', name: 'mail' },
    });
    expect(answer).toMatchObject(refused(400, 'VALIDATION_FAILED'));
    expect(await mail.send()).toMatchObject(REQUIRED);
    expect(await mail.ended(await mail.sent({ reply_to_inbox: false }))).toMatchObject([
      { status: 'sent' },
    ]);
  });
});

describe('a source of mail', () => {
  it('has the address of the project, and there is one', async () => {
    mail = await TestSending.start({ source: false });
    const add = (body: Record<string, unknown>) =>
      mail.gateway.call('POST', '/v1/sources', { body: { type: 'email', ...body } });
    const added = await add({ name: 'mail' });
    expect(added).toMatchObject({
      status: 201,
      body: { name: 'mail', type: 'email', verification: 'none', address: mail.address },
    });
    expect(await add({ name: 'more' })).toMatchObject(refused(409, 'EMAIL_SOURCE_EXISTS'));
    expect(await add({ name: 'mail' })).toMatchObject(refused(409, 'SOURCE_NAME_TAKEN'));
    for (const bad of [
      { verification: 'github', secret: 'x'.repeat(20) },
      { secret: 'x'.repeat(20) },
      { signature_header: 'x-y' },
    ]) {
      expect(await add({ name: 'more', ...bad })).toMatchObject(refused(400, 'VALIDATION_FAILED'));
    }
    await mail.gateway.call('DELETE', '/v1/sources/mail');
    expect(await add({ name: 'post' })).toMatchObject({ body: { address: mail.address } });
  });
});
