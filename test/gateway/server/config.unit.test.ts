import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readServerConfig, type ServerConfig } from '../../../gateway/server/config.ts';
import { StartRefusal } from '../../../shared/host/start-refusal.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

let folder: ReturnType<typeof temporaryFolder>;
let file: string;

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'gateway.env');
});
afterEach(() => folder.remove());

function problemsOf(env: NodeJS.ProcessEnv, text?: string): readonly string[] {
  try {
    configOf(env, text);
  } catch (error) {
    if (error instanceof StartRefusal) return error.problems;
    throw error;
  }
  return [];
}

function configOf(env: NodeJS.ProcessEnv, text?: string): ServerConfig {
  if (text !== undefined) writeFileSync(file, text, { mode: 0o600 });
  return readServerConfig(env, text === undefined ? null : file);
}

/** Whether a file of settings is remarked on for being open to everybody. */
function isOpenToAll(): boolean {
  const { warnings } = readServerConfig({}, file);
  return warnings.some((text) => text.includes('chmod 600'));
}

/** What is remarked on where mail is sent. */
function warningsOf(env: NodeJS.ProcessEnv, text?: string): readonly string[] {
  const mail = { SVC_SMTP_URL: 'smtp://127.0.0.1', SVC_MAIL_FROM: 'a@example.com' };
  return configOf({ ...mail, ...env }, text).warnings;
}

describe('the settings', () => {
  it('need nothing to be said for a try on one machine', () => {
    const config = configOf({ HOME: '/home/ana' });
    expect(config).toMatchObject({
      listen: { kind: 'tcp', host: '127.0.0.1', port: 4780 },
      publicUrl: null,
      hooksUrl: null,
      contentUrl: null,
      masterKeyFile: null,
      ratePerMinute: 600,
      openProjectsMax: 256,
      logLevel: 'info',
      metricsToken: null,
      settings: {
        blobs: { kind: 'file' },
        messaging: { mail: { kind: 'outbox' }, telegram: null },
      },
    });
    expect(config.settings.callbackAllow.isEmpty).toBe(true);
    expect(config.trustedProxies.has('127.0.0.1')).toBe(true);
    expect(config.trustedProxies.has('::1')).toBe(true);
    expect(config.trustedProxies.has('10.0.0.1')).toBe(false);
  });

  it('keep data of root with the system, and of others with the user', () => {
    const isRoot = process.geteuid?.() === 0;
    const shared = '/home/ana/.local/share/svc-gateway';
    expect(configOf({ HOME: '/home/ana' }).dataFolder).toBe(
      isRoot ? '/var/lib/svc-gateway' : shared,
    );
    expect(configOf({ SVC_DATA: '/srv/x/' }).dataFolder).toBe('/srv/x');
  });

  it('are all told at once where they are wrong', () => {
    const problems = problemsOf({
      SVC_LISTEN: '0.0.0.0',
      SVC_PUBLIC_URL: 'https://svc.example.com/path',
      SVC_HOOKS_URL: 'hooks.example.com',
      SVC_CONTENT_URL: 'https://content.example.net/files',
      SVC_RATE_LIMIT: 'many',
      SVC_OPEN_PROJECTS: '0',
      SVC_LOG_LEVEL: 'loud',
      SVC_METRICS_TOKEN: 'short',
      SVC_TRUSTED_PROXIES: '10.0.0.1/8,nonsense',
      SVC_CALLBACK_ALLOW: '999/8',
      SVC_BLOBS: 'ftp://x',
      SVC_SMTP_URL: 'mail.example.com',
      SVC_TELEGRAM_TOKEN: 'nonsense',
      SVC_TELEGRAM_MODE: 'push',
    });
    const named = problems.flatMap((problem) => problem.match(/SVC_[A-Z_]+/g) ?? []);
    expect([...new Set(named)].toSorted()).toEqual([
      'SVC_BLOBS',
      'SVC_CALLBACK_ALLOW',
      'SVC_CONTENT_URL',
      'SVC_HOOKS_URL',
      'SVC_LISTEN',
      'SVC_LOG_LEVEL',
      'SVC_MAIL_FROM',
      'SVC_METRICS_TOKEN',
      'SVC_OPEN_PROJECTS',
      'SVC_PUBLIC_URL',
      'SVC_RATE_LIMIT',
      'SVC_SMTP_URL',
      'SVC_TELEGRAM_MODE',
      'SVC_TELEGRAM_TOKEN',
      'SVC_TRUSTED_PROXIES',
    ]);
  });

  it('are told together with the names that nothing reads', () => {
    const env = { SVC_LISEN: '0.0.0.0:1', SVC_MAIL_FORM: 'a@example.com' };
    expect(problemsOf({ ...env, SVC_SMTP_URL: 'smtp://127.0.0.1' })).toEqual([
      expect.stringContaining('SVC_MAIL_FROM'),
      "SVC_LISEN isn't a setting of the gateway. Did you mean SVC_LISTEN?",
      "SVC_MAIL_FORM isn't a setting of the gateway. Did you mean SVC_MAIL_FROM?",
    ]);
  });

  it('have every wrong range on a line of its own', () => {
    expect(problemsOf({ SVC_TRUSTED_PROXIES: '10.0.0.1/8,nonsense' })).toEqual([
      'SVC_TRUSTED_PROXIES: `10.0.0.1/8` does not begin its range, which is `10.0.0.0/8`.',
      expect.stringMatching(/^SVC_TRUSTED_PROXIES: `nonsense` is not a range/),
    ]);
  });

  it.each(['0.0.0.0:4780', '[::]:4780', '192.0.2.1:80', 'unix:/run/svc.sock'])(
    'need a public address to listen on %s',
    (listen) => {
      expect(problemsOf({ SVC_LISTEN: listen })).toEqual([
        'SVC_PUBLIC_URL is not set: links and webhook addresses begin with it, such as `https://svc.example.com`.',
      ]);
      const named = { SVC_LISTEN: listen, SVC_PUBLIC_URL: 'https://SVC.example.com/' };
      expect(configOf(named).publicUrl).toBe('https://svc.example.com');
    },
  );

  it.each(['127.0.0.1:0', '[::1]:4780', 'localhost:80'])('need none for %s', (listen) => {
    expect(configOf({ SVC_LISTEN: listen }).publicUrl).toBeNull();
  });

  it.each([
    'https://user@svc.example.com',
    'https://svc.example.com?x=1',
    'https://svc.example.com#x',
    'https://svc.example.com/svc',
    'ws://svc.example.com',
    'svc.example.com',
  ])('take no public address like %s', (url) => {
    expect(problemsOf({ SVC_PUBLIC_URL: url })).toHaveLength(1);
  });

  it.each([
    ['https://svc.example.com', 'https://Content.example.NET/', 'https://content.example.net'],
    [
      'https://svc.example.com',
      'https://content.svc.example.com',
      'https://content.svc.example.com',
    ],
    ['http://127.0.0.1:4780', 'http://content.localhost:4780', 'http://content.localhost:4780'],
    ['', 'http://localhost:4780', 'http://localhost:4780'],
  ])('of %s may keep strangers at %s', (own, wanted, contentUrl) => {
    expect(configOf({ SVC_PUBLIC_URL: own, SVC_CONTENT_URL: wanted }).contentUrl).toBe(contentUrl);
  });

  it.each([
    ['https://svc.example.com', 'https://svc.example.com'],
    ['https://svc.example.com', 'https://SVC.example.com'],
    ['https://svc.example.com', 'https://svc.example.com.'],
    ['https://svc.example.com', 'https://svc.example.com:8443'],
    ['https://svc.example.com', 'https://hooks.example.com'],
    ['https://svc.example.com', 'http://content.example.net'],
    ['https://svc.example.com', 'http://content.localhost:4780'],
    ['http://svc.internal', 'http://content.internal'],
    ['http://svc.internal', 'https://content.example.net'],
    ['http://127.0.0.1:4780', 'http://127.0.0.1:4781'],
    ['https://svc.example.com', 'https://content.example.net/x'],
    ['https://svc.example.com', 'https://content.example.net?x'],
    ['https://svc.example.com', 'https://ana@content.example.net'],
    ['https://svc.example.com', 'content.example.net'],
    ['', 'http://127.0.0.1:4781'],
    ['', 'https://content.example.net'],
  ])('of %s keep no strangers at %s', (own, wanted) => {
    const hooks = own.startsWith('https:') ? 'https://hooks.example.com' : '';
    const env = { SVC_PUBLIC_URL: own, SVC_HOOKS_URL: hooks, SVC_CONTENT_URL: wanted };
    expect(problemsOf(env)).toEqual([expect.stringMatching(/^SVC_CONTENT_URL /)]);
  });

  it('let Telegram call https alone', () => {
    const env = { SVC_TELEGRAM_TOKEN: '123456:abcdefgh', SVC_TELEGRAM_MODE: 'webhook' };
    expect(problemsOf(env)).toHaveLength(1);
    expect(problemsOf({ ...env, SVC_PUBLIC_URL: 'https://svc.example.com' })).toEqual([]);
  });

  it('show no value of theirs', () => {
    const secret = 'hunter2-hunter2';
    const problems = problemsOf({
      SVC_SMTP_URL: `smtp://ana:${secret}@mail.example.com:0`,
      SVC_TELEGRAM_TOKEN: secret,
      SVC_METRICS_TOKEN: `${secret} with a space`,
      SVC_BLOBS: `s3://${secret}?endpoint=nowhere`,
    });
    expect(problems.length).toBeGreaterThan(4);
    expect(problems.join('\n')).not.toContain(secret);
  });
});

describe('a file of settings', () => {
  it('is read line by line, and gives way to the environment', () => {
    const text = [
      '# a comment',
      '',
      'SVC_DATA=/srv/of-file',
      'SVC_RATE_LIMIT=5',
      "SVC_LOG_LEVEL='debug'",
      '  SVC_METRICS_TOKEN="a-token=with-a-$sign"  ',
    ].join('\r\n');
    const config = configOf({ SVC_RATE_LIMIT: '7' }, text);
    expect(config).toMatchObject({
      dataFolder: '/srv/of-file',
      ratePerMinute: 7,
      logLevel: 'debug',
      metricsToken: 'a-token=with-a-$sign',
    });
  });

  it('may be named by SVC_CONFIG', () => {
    writeFileSync(file, 'SVC_RATE_LIMIT=9\n', { mode: 0o600 });
    expect(readServerConfig({ SVC_CONFIG: file }, null).ratePerMinute).toBe(9);
  });

  it('has its wrong lines told, by number and without what stands there', () => {
    expect(problemsOf({}, 'nonsense s3cret\nSVC_DATA=/a\n=x\nSVC_DATA=/b\n')).toEqual([
      `${file}, line 1: not in the form NAME=value.`,
      `${file}, line 3: not in the form NAME=value.`,
      `${file}, line 4: SVC_DATA is set twice.`,
    ]);
  });

  it('has to be there', () => {
    expect(() => readServerConfig({}, join(folder.path, 'none'))).toThrow(StartRefusal);
    expect(problemsOf({ SVC_CONFIG: '/nonexistent/file' })).toEqual([
      "The settings file /nonexistent/file can't be read (ENOENT).",
    ]);
  });

  it('takes names that objects have, too', () => {
    expect(configOf({}, '__proto__=1\nconstructor=2\n').warnings).toEqual(
      expect.arrayContaining([expect.stringContaining("__proto__ isn't a setting")]),
    );
  });

  it('should not be open to everybody', () => {
    writeFileSync(file, '', { mode: 0o600 });
    expect(isOpenToAll()).toBe(false);
    chmodSync(file, 0o644);
    expect(isOpenToAll()).toBe(true);
  });
});

describe('warnings', () => {
  it('name settings that there are not, and the nearest one', () => {
    expect(warningsOf({ SVC_RATE_LIMT: '1', SVC_LISTN: 'x', SVC_ZZZZZZZZZZ: '' })).toEqual([
      "SVC_RATE_LIMT isn't a setting of the gateway. Did you mean SVC_RATE_LIMIT?",
      "SVC_LISTN isn't a setting of the gateway. Did you mean SVC_LISTEN?",
      "SVC_ZZZZZZZZZZ isn't a setting of the gateway.",
    ]);
    expect(warningsOf({}, 'RATE_LIMIT=1\nAWS_ACCESS_KEY_ID=x\n')).toEqual([
      expect.stringContaining("RATE_LIMIT isn't a setting of the gateway."),
    ]);
  });

  it('leave alone what other parts of svc read, and other programs', () => {
    const env = {
      SVC_HOME: '/x',
      SVC_API_KEY: 'x',
      SVC_AGENT: 'a',
      SVC_TEST_REQUIRE: 'all',
      PATH: '',
    };
    expect(warningsOf(env)).toEqual([]);
  });

  it('tell what is seldom meant', () => {
    expect(warningsOf({ SVC_PUBLIC_URL: 'http://svc.example.com' })).toHaveLength(1);
    expect(warningsOf({ SVC_CALLBACK_ALLOW: '127.0.0.0/8' })).toHaveLength(1);
    expect(warningsOf({ SVC_SMTP_URL: '', SVC_MAIL_FROM: '' })).toEqual([
      'SVC_SMTP_URL is not set: mail to people stays in the folder `outbox` beside the data. To read it: svc gateway outbox',
    ]);
  });

  it('tell what is seldom meant of mail', () => {
    const SVC_MAIL_DOMAIN = 'agents.example.com';
    expect(warningsOf({ SVC_MAIL_DOMAIN })).toEqual([
      'SVC_IMAP_URL is not set: mail to SVC_MAIL_DOMAIN arrives only over HTTP.',
    ]);
    const SVC_IMAP_URL = 'imaps://ana:hunter2@mail.example.com';
    expect(warningsOf({ SVC_MAIL_DOMAIN, SVC_IMAP_URL })).toEqual([]);
    const key = join(folder.path, 'key.pem');
    const { privateKey } = generateKeyPairSync('ed25519');
    writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o644 });
    const dkim = { SVC_DKIM_KEY_FILE: key, SVC_DKIM_SELECTOR: 'svc1' };
    const open = 'SVC_DKIM_KEY_FILE: the file can be read by others on this machine. chmod 600 it.';
    expect(warningsOf(dkim)).toEqual([open]);
    expect(configOf(dkim).warnings).toEqual([
      'SVC_SMTP_URL is not set: mail to people stays in the folder `outbox` beside the data. To read it: svc gateway outbox',
      'SVC_DKIM_KEY_FILE is set: only mail sent through SVC_SMTP_URL is signed.',
      open,
    ]);
  });

  it('say where files are that other gateways of the store do not find', () => {
    const env = { SVC_DATABASE_URL: 'https://db.example.com/{project}/' };
    expect(warningsOf(env)).toEqual([
      "SVC_BLOBS isn't a bucket: files stay in the data folder, where other gateways can't find them.",
    ]);
    expect(warningsOf({ ...env, SVC_BLOBS: 'file:/mnt/svc' })).toEqual([]);
  });

  it('keep the passwords of mail servers out of the log', () => {
    const { secrets } = configOf({
      SVC_SMTP_URL: 'smtps://ana:smtp%40pass@mail.example.com',
      SVC_MAIL_FROM: 'a@example.com',
      SVC_IMAP_URL: 'imaps://ana:imap%40pass@mail.example.com',
      SVC_MAIL_DOMAIN: 'agents.example.com',
    });
    expect(secrets).toEqual([
      'smtps://ana:smtp%40pass@mail.example.com',
      'imaps://ana:imap%40pass@mail.example.com',
      'smtp%40pass',
      'imap%40pass',
      'smtp@pass',
      'imap@pass',
    ]);
  });
});
