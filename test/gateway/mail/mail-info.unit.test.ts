import { describe, expect, it } from 'vitest';
import { mailInfo, ownNames } from '../../../gateway/mail/mail-info.ts';
import { readMailConfig } from '../../../gateway/mail/read-mail-config.ts';

const SMTP = { SVC_SMTP_URL: 'smtps://mail.example', SVC_MAIL_FROM: 'Desk@agents.example' };
const DOMAIN = { SVC_MAIL_DOMAIN: 'agents.example' };
const IMAP = { ...DOMAIN, SVC_IMAP_URL: 'imaps://Catch%40agents.example:pass@mail.example' };

describe('the addresses of projects', () => {
  it.each([
    ['on a host with a domain', { ...SMTP, ...DOMAIN }, true, 'agents.example', null],
    ['on a host without one', SMTP, true, null, 'Desk@agents.example'],
    ['on a machine without a mail server', {}, false, 'localhost', null],
    ['on a machine that sends', SMTP, false, 'localhost', 'Desk@agents.example'],
    ['on a machine with a domain', { ...SMTP, ...DOMAIN }, false, 'agents.example', null],
  ])('%s', (_, env, isHosted, domain, from) => {
    expect(mailInfo(readMailConfig(env), isHosted)).toMatchObject({ domain, from });
  });
});

describe('names that no project may have', () => {
  it('are those of the sender and of the mailbox, in the domain of the projects', () => {
    expect(ownNames(readMailConfig({ ...SMTP, ...IMAP }))).toEqual(['desk', 'catch']);
    const elsewhere = { ...SMTP, SVC_MAIL_FROM: 'desk@example.com', ...DOMAIN };
    expect(ownNames(readMailConfig(elsewhere))).toEqual([]);
    expect(ownNames(readMailConfig({}))).toEqual([]);
  });
});
