import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  MailConfigError,
  readMailConfig,
  type SmtpPlace,
} from '../../../gateway/mail/mail-config.ts';

const SVC_MAIL_FROM = 'approvals@example.com';

function smtp(SVC_SMTP_URL: string): SmtpPlace {
  const config = readMailConfig({ SVC_SMTP_URL, SVC_MAIL_FROM });
  if (config.kind !== 'smtp') throw new Error('no mail server');
  return config;
}

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readMailConfig(env);
  } catch (error) {
    if (error instanceof MailConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('where mail goes', () => {
  it('is the outbox by default', () => {
    for (const env of [{}, { SVC_SMTP_URL: '', SVC_MAIL_FROM: '' }]) {
      expect(readMailConfig(env)).toEqual({ kind: 'outbox', from: 'svc@localhost' });
    }
    expect(readMailConfig({ SVC_MAIL_FROM })).toEqual({ kind: 'outbox', from: SVC_MAIL_FROM });
  });

  it('may be a mail server', () => {
    const place = smtp('smtps://me%40example.com:p%40ss%25word@mail.example.com');
    expect(place).toMatchObject({
      kind: 'smtp',
      host: 'mail.example.com',
      port: 465,
      tls: 'from_start',
      from: SVC_MAIL_FROM,
    });
    expect(place.credentials?.user).toBe('me@example.com');
    expect(place.credentials?.password.reveal()).toBe('p@ss%word');
  });

  it.each([
    ['smtp://mail.example.com', 587, 'starttls'],
    ['smtp://mail.example.com:25/', 25, 'starttls'],
    ['smtp://mailpit:1025?tls=off', 1025, 'off'],
    ['smtp://localhost:25', 25, 'off'],
    ['smtp://127.0.0.1:1025', 1025, 'off'],
    ['smtp://[::1]:1025', 1025, 'off'],
    ['smtp://[2001:db8::1]', 587, 'starttls'],
    ['smtp://localhost:25?tls=required', 25, 'starttls'],
    ['smtp://127.0.0.1.example.com', 587, 'starttls'],
    ['smtps://localhost:1465', 1465, 'from_start'],
  ])('%s is port %i with TLS %s', (url, port, tls) => {
    expect(smtp(url)).toMatchObject({ port, tls, credentials: null });
  });

  it('takes an IPv6 address without its brackets', () => {
    expect(smtp('smtp://[2001:db8::1]').host).toBe('2001:db8::1');
  });
});

describe('a password', () => {
  it('is seen in no print of the configuration', () => {
    const place = smtp('smtp://me:hidden@mail.example.com');
    const seen = [inspect(place, { depth: 9, showHidden: true }), JSON.stringify(place)];
    expect(seen.join()).not.toContain('hidden');
    expect(JSON.parse(JSON.stringify({ ...place.credentials }))).toEqual({
      user: 'me',
      password: {},
    });
  });
});

describe('what is wrong with it', () => {
  it('is told all at once, and shows no value', () => {
    const problems = problemsOf({
      SVC_SMTP_URL: 'smtps://hidden:hid%den@-hidden-:0/hidden?tls=off#hidden',
      SVC_MAIL_FROM: 'Hidden <hidden>',
    });
    expect(problems).toHaveLength(6);
    expect(problems.join('\n')).not.toMatch(/hidden/i);
  });

  it.each([
    'mail.example.com',
    'http://mail.example.com',
    'SMTP:mail.example.com',
    'smtp:mail.example.com',
    'smtp://',
    'smtp://user:p#ss@mail.example.com',
    'smtp://user:p@ss word@mail.example.com:x',
    'smtp://user@mail.example.com',
    'smtp://:password@mail.example.com',
    'smtp://user:%ff@mail.example.com',
    'smtp://mail.example.com:0',
    'smtp://mail.example.com/path',
    'smtp://mail.example.com?tls=maybe',
    'smtp://mail.example.com?tls=off&tls=off',
    'smtp://mail.example.com?tls.rejectUnauthorized=false',
    'smtps://mail.example.com?tls=off',
  ])('%s', (SVC_SMTP_URL) => {
    const problems = problemsOf({ SVC_SMTP_URL, SVC_MAIL_FROM });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^SVC_SMTP_URL/);
    expect(problems[0]).not.toMatch(/p@ss|p#ss/);
  });

  it('may be the sender, which a mail server needs', () => {
    expect(problemsOf({ SVC_SMTP_URL: 'smtp://mail.example.com' })).toEqual([
      'SVC_MAIL_FROM is not set: it says who writes.',
    ]);
    expect(problemsOf({ SVC_MAIL_FROM: 'a@b, c@d' })).toHaveLength(1);
  });
});
