import { generateKeyPairSync } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hasMailLab, MailLab } from '../../../../helpers/mail-lab.ts';
import { mailAbout, SOON } from './mailbox-world.ts';

let lab: MailLab;

/** The first mail of a user with something in it. */
async function arrived(user: string, what: string): Promise<string> {
  return vi.waitFor(() => {
    const found = lab.mails('', user).find((raw) => raw.includes(what));
    if (found === undefined) throw new Error(`No mail with ${what}\n${lab.logs()}`);
    return found;
  }, SOON);
}

async function txt(name: string): Promise<string> {
  const resolver = new Resolver();
  resolver.setServers(lab.dnsServers);
  return (await resolver.resolveTxt(name)).map((strings) => strings.join('')).join();
}

describe.runIf(hasMailLab())('the mail servers of the tests', () => {
  beforeAll(async () => {
    lab = await MailLab.start();
  });
  afterAll(() => lab.stop());

  it('sign what people.test sends, and bring all of inbox.test to one mailbox', async () => {
    const to = ['shop+r.1@inbox.test', 'other@inbox.test'];
    await lab.send({ from: 'ann@people.test', to, raw: mailAbout('hello') });
    for (const recipient of to) {
      const mail = await arrived(lab.user, `X-Original-To: ${recipient}`);
      expect(mail).toMatch(/^DKIM-Signature: [^]*d=people\.test; s=sel;/m);
      expect(mail).toMatch(/^Delivered-To: catchall@inbox\.test/m);
    }
  });

  it('bring mail to people, without a signature where we sign ourselves', async () => {
    const raw = mailAbout('to a person').replace('ann@people.test', 'shop@inbox.test');
    await lab.send({ from: 'shop@inbox.test', to: 'ben@people.test', raw });
    expect(await arrived('ben@people.test', 'to a person')).not.toContain('DKIM-Signature');
  });

  it('report what bounce.test refuses to whom it came from', async () => {
    const raw = mailAbout('refused');
    await lab.send({ from: 'shop+b.2@inbox.test', to: 'nobody@bounce.test', raw });
    const report = await arrived(lab.user, 'report-type=delivery-status');
    expect(report).toContain('X-Original-To: shop+b.2@inbox.test');
    expect(report).toContain('Final-Recipient: rfc822; nobody@bounce.test');
    expect(report).toContain('Status: 5.1.1');
  });

  it('answer for the names of the lab, with the key that a test publishes', async () => {
    expect(await txt('sel._domainkey.people.test')).toMatch(/^v=DKIM1; k=rsa; p=MII/);
    expect(await txt('_dmarc.people.test')).toContain('p=reject');
    expect(await txt('people.test')).toBe('v=spf1 ip4:127.0.0.1 -all');
    for (const [selector, type, length] of [
      ['r1', 'rsa', 392],
      ['e1', 'ed25519', 44],
    ] as const) {
      const made =
        type === 'rsa'
          ? generateKeyPairSync('rsa', { modulusLength: 2048 })
          : generateKeyPairSync('ed25519');
      const pem = made.publicKey.export({ type: 'spki', format: 'pem' }).toString();
      await lab.publishKey(selector, pem);
      const [head, key] = (await txt(`${selector}._domainkey.inbox.test`)).split(' p=');
      expect(head).toBe(`v=DKIM1; k=${type};`);
      expect(key).toHaveLength(length);
    }
    await expect(txt('_dmarc.nowhere.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });
});
