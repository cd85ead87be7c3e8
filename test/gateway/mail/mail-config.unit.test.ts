import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { Resolver } from 'node:dns';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MailConfigError, type SmtpConfig } from '../../../gateway/mail/mail-config.ts';
import { readMailConfig } from '../../../gateway/mail/read-mail-config.ts';

const SVC_MAIL_FROM = 'approvals@example.com';

function smtp(SVC_SMTP_URL: string): SmtpConfig {
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
      expect(readMailConfig(env)).toEqual({
        kind: 'outbox',
        from: 'svc@localhost',
        domain: null,
        imap: null,
        dkim: null,
        dnsServers: [],
      });
    }
    expect(readMailConfig({ SVC_MAIL_FROM })).toMatchObject({
      kind: 'outbox',
      from: SVC_MAIL_FROM,
    });
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

const SVC_MAIL_DOMAIN = 'agents.example.com';

const imap = (SVC_IMAP_URL: string) => readMailConfig({ SVC_MAIL_DOMAIN, SVC_IMAP_URL }).imap;

describe('where mail comes from', () => {
  it('is a mailbox of a server', () => {
    const place = imap('imaps://svc%40example.com:p%40ss@Mail.example.com/Projects/svc%20in');
    expect(place).toMatchObject({
      host: 'Mail.example.com',
      port: 993,
      tls: 'from_start',
      user: 'svc@example.com',
      mailbox: 'Projects/svc in',
    });
    expect(place?.password.reveal()).toBe('p@ss');
    expect(JSON.stringify(place)).not.toContain('p@ss');
  });

  it.each([
    ['imap://u:p@mail.example.com', 143, 'starttls', 'INBOX'],
    ['imap://u:p@mail.example.com:1143/?tls=off', 1143, 'off', 'INBOX'],
    ['imap://u:p@127.0.0.1/INBOX', 143, 'off', 'INBOX'],
    ['imap://u:p@localhost/INBOX?tls=required', 143, 'starttls', 'INBOX'],
    ['imaps://u:p@[2001:db8::1]:1993/Eing%C3%A4nge', 1993, 'from_start', 'Eingänge'],
    ['IMAPS://u:p@mail.example.com/100%25', 993, 'from_start', '100%'],
  ])('%s is port %i with TLS %s and the mailbox %s', (url, port, tls, mailbox) => {
    expect(imap(url)).toMatchObject({ port, tls, mailbox });
  });

  it('has a domain, in small letters', () => {
    expect(readMailConfig({ SVC_MAIL_DOMAIN: 'Agents.Example.COM' }).domain).toBe(SVC_MAIL_DOMAIN);
    expect(problemsOf({ SVC_IMAP_URL: 'imaps://u:p@mail.example.com' })).toEqual([
      'SVC_MAIL_DOMAIN is not set: it says whose mail SVC_IMAP_URL holds.',
    ]);
  });

  it.each([
    'example..com',
    '.example.com',
    'a@example.com',
    '127.0.0.1',
    'münchen.example',
    'a b',
    `${'a.'.repeat(130)}com`,
  ])('has no domain like %s', (domain) => {
    expect(problemsOf({ SVC_MAIL_DOMAIN: domain })).toEqual([
      'SVC_MAIL_DOMAIN is not the name of a domain such as `agents.example.com`.',
    ]);
  });

  it.each([
    'mail.example.com',
    'smtp://u:p@mail.example.com',
    'imaps://mail.example.com',
    'imaps://u@mail.example.com',
    'imaps://u:%ff@mail.example.com',
    'imaps://u:p@mail.example.com:0',
    'imaps://u:p@mail.example.com/%ff',
    'imaps://u:p@mail.example.com/a%0db',
    'imaps://u:p@mail.example.com/INBOX#1',
    'imaps://u:p@mail.example.com/INBOX?tls=off',
    'imap://u:p@mail.example.com/INBOX?folder=x',
    `imap://u:p@mail.example.com/${'x'.repeat(256)}`,
  ])('is no place like %s', (SVC_IMAP_URL) => {
    const problems = problemsOf({ SVC_MAIL_DOMAIN, SVC_IMAP_URL });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^SVC_IMAP_URL/);
  });
});

const servers = (SVC_DNS_SERVERS: string) => readMailConfig({ SVC_DNS_SERVERS }).dnsServers;

describe('who is asked for the records of domains', () => {
  it('is a list of addresses with ports', () => {
    expect(servers('192.0.2.1, 192.0.2.2:5353,2001:db8::1,[2001:db8::2],[::1]:5353')).toEqual([
      '192.0.2.1:53',
      '192.0.2.2:5353',
      '[2001:db8::1]:53',
      '[2001:db8::2]:53',
      '[::1]:5353',
    ]);
    expect(servers(' ')).toEqual([]);
    expect(() =>
      new Resolver().setServers(servers('192.0.2.1,2001:db8::1,[::1]:5353')),
    ).not.toThrow();
  });

  it.each([
    'dns.example.com',
    '192.0.2.1,',
    '192.0.2.1:0',
    '192.0.2.1:65536',
    '[192.0.2.1]',
    '[::1',
    '::1]:53',
    '1.2.3',
  ])('is not %s', (text) => {
    expect(problemsOf({ SVC_DNS_SERVERS: text })).toEqual([
      'SVC_DNS_SERVERS is not a list of addresses with commas between them, such as `192.0.2.1,[2001:db8::1]:5353`.',
    ]);
  });
});

const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).privateKey;

describe('a key that signs mail', () => {
  const SVC_DKIM_SELECTOR = 'svc1';
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-dkim-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function keyFile(key: KeyObject, { mode = 0o600, passphrase = '' } = {}): string {
    const path = join(folder, 'key.pem');
    const cipher = passphrase === '' ? {} : { cipher: 'aes-256-cbc', passphrase };
    rmSync(path, { force: true });
    writeFileSync(path, key.export({ type: 'pkcs8', format: 'pem', ...cipher }));
    chmodSync(path, mode);
    return path;
  }

  const dkim = (SVC_DKIM_KEY_FILE: string) =>
    readMailConfig({ SVC_DKIM_KEY_FILE, SVC_DKIM_SELECTOR }).dkim;

  it('may be of two kinds', () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    expect(dkim(keyFile(privateKey))).toMatchObject({ selector: 'svc1', remarks: [] });
    const config = dkim(keyFile(rsa(2048)));
    expect(config).toMatchObject({ key: { asymmetricKeyType: 'rsa' }, remarks: [] });
    expect(inspect(config, { depth: 9, showHidden: true })).not.toContain('PRIVATE KEY');
    expect(JSON.stringify(config)).toBe('{"selector":"svc1","key":{},"remarks":[]}');
  });

  it('is remarked on when it is short, or others can read it', () => {
    expect(dkim(keyFile(rsa(1024), { mode: 0o640 }))?.remarks).toEqual([
      'SVC_DKIM_KEY_FILE: the file can be read by others on this machine. chmod 600 it.',
      'SVC_DKIM_KEY_FILE: an RSA key of 1024 bits is short. Make one of 2048.',
    ]);
  });

  it.each([
    ['is too short', () => keyFile(rsa(768))],
    [
      'is of another kind',
      () => keyFile(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey),
    ],
    ['is locked', () => keyFile(rsa(1024), { passphrase: 'x' })],
    ['is none', () => fileURLToPath(import.meta.url)],
  ])('is none that %s', (_what, path) => {
    expect(problemsOf({ SVC_DKIM_KEY_FILE: path(), SVC_DKIM_SELECTOR })).toEqual([
      'SVC_DKIM_KEY_FILE holds no private key in PEM without a passphrase: Ed25519, or RSA of 1024 bits or more.',
    ]);
  });

  it('is a file with a name in the DNS', () => {
    const SVC_DKIM_KEY_FILE = join(folder, 'none.pem');
    expect(problemsOf({ SVC_DKIM_KEY_FILE })).toEqual([
      'SVC_DKIM_SELECTOR is not set: SVC_DKIM_KEY_FILE needs it.',
      'SVC_DKIM_KEY_FILE: the file cannot be read (ENOENT).',
    ]);
    expect(problemsOf({ SVC_DKIM_SELECTOR })).toEqual([
      'SVC_DKIM_KEY_FILE is not set: SVC_DKIM_SELECTOR needs it.',
    ]);
    const path = keyFile(rsa(1024));
    for (const selector of ['a_b', '-a', 'a;b=c', 'a..b', 'a b', 'x'.repeat(64)]) {
      expect(problemsOf({ SVC_DKIM_KEY_FILE: path, SVC_DKIM_SELECTOR: selector })).toEqual([
        "SVC_DKIM_SELECTOR isn't a DNS name such as `svc1`.",
      ]);
    }
    expect(dkim(path)?.selector).toBe('svc1');
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
    const more = problemsOf({
      SVC_IMAP_URL: 'imaps://hidden:hid%den@-hidden-:0/hid%den?tls=off#hidden',
      SVC_MAIL_DOMAIN: 'hidden..example',
      SVC_DNS_SERVERS: 'hidden',
      SVC_DKIM_KEY_FILE: '/hidden/key.pem',
      SVC_DKIM_SELECTOR: 'hidden;',
    });
    expect(more).toHaveLength(9);
    expect([...problems, ...more].join('\n')).not.toMatch(/hidden/i);
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
