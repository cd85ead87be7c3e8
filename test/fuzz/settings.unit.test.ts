import * as fc from 'fast-check';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readServerConfig } from '../../gateway/server/config.ts';
import { SETTINGS } from '../../gateway/server/setting-names.ts';
import { readSettings } from '../../gateway/settings.ts';
import { StartRefusal } from '../../shared/host/start-refusal.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { hostileText, mutated } from './hostile.ts';
import { fuzz, unmet, HUNG_MS } from './runs.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeAll(() => {
  folder = temporaryFolder();
});
afterAll(() => folder.remove());

/** Values that are of the form and still wrong, or nearly right. */
const NEARLY = [
  'smtp://u:%zz@mail.example.com',
  'smtp://u:p%@h',
  'smtps://h?tls=off',
  'smtp://[::1]:99999',
  'smtp://h:25/x#y',
  'imaps://u:%ff@h/%ff',
  'imap://u:p@h/%00',
  'imap://u:p@h/a%2fb#c',
  'http://u:p@h',
  'https://svc.example.com/',
  'https://svc.example.com:99999',
  'https://[::1',
  'http://',
  'libsql://{project}.example.com',
  'libsql://{project}',
  'libsql://{project}.example.com?tls=0&x=1',
  'https://%zz{project}.example.com',
  's3://bucket?endpoint=https://u:p@h&region=x',
  's3://b?endpoint=%zz',
  's3://bucket?path_style=maybe&path_style=true',
  's3://../x?endpoint=http://h/',
  'file:/tmp/../x',
  'file:relative',
  'unix:/tmp/x.sock',
  'unix:',
  'unix:relative',
  '127.0.0.1:65536',
  '[::1]:-1',
  '[fe80::1%eth0]:1',
  ':4780',
  '0.0.0.0:0',
  '10.0.0.0/33',
  '::/129',
  '10.0.0.0/8,,',
  '1e3',
  '0x10',
  '-1',
  '999999999999999999999',
  '123456:AAAAAAAA',
  'debug',
  '/dev/null',
  '/proc/self/mem',
  'a.example',
  'a@b.example',
  '192.0.2.1:0',
  '[::1]:53,192.0.2.1',
];

/** No environment holds a NUL. */
const value = fc
  .oneof(
    fc.constantFrom(...NEARLY),
    hostileText,
    fc
      .constantFrom(...NEARLY)
      .chain((text) =>
        mutated(Buffer.from(text), [
          '%',
          ':',
          '/',
          '@',
          '?',
          '#',
          '[',
          ']',
          ',',
          '{project}',
          '\\',
        ]).map((bytes) => bytes.toString('utf8')),
      ),
  )
  .map((text) => text.replaceAll('\0', '').toWellFormed());

/** They are no part of what anybody is shown. */
const SECRET = ['SVC_SMTP_URL', 'SVC_IMAP_URL', 'SVC_TELEGRAM_TOKEN', 'SVC_METRICS_TOKEN'];
const AWS = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];
const NAMES = [...SETTINGS.filter((name) => name !== 'SVC_CONFIG'), ...AWS];

const environment = fc.dictionary(fc.constantFrom(...NAMES), value, { minKeys: 1, maxKeys: 6 });

/** A gateway's refusal of these settings; empty if it accepts them. */
function refusal(env: NodeJS.ProcessEnv, file: string | null): string {
  try {
    readServerConfig({ HOME: folder.path, ...env }, file);
    return '';
  } catch (error) {
    return error instanceof StartRefusal ? error.text() : '';
  }
}

/** The faults in how settings are read: it accepts them, or names every wrong one. */
function faultsOf(env: NodeJS.ProcessEnv, file: string | null = null): string[] {
  try {
    readServerConfig({ HOME: folder.path, ...env }, file);
    return [];
  } catch (error) {
    if (!(error instanceof StartRefusal)) {
      return [`it threw ${error instanceof Error ? error.stack : String(error)}`];
    }
    const { problems } = error;
    const named = new RegExp(`${NAMES.join('|')}|isn't a setting|, line \\d+:`);
    // Words that also appear without the secret don't give it away.
    const shown = (name: string, text: string): boolean =>
      error.text().includes(text) && !refusal({ ...env, [name]: undefined }, file).includes(text);
    const secrets = SECRET.map((name) => [name, env[name] ?? ''] as const);
    return unmet({
      'there are problems': problems.length > 0,
      [`each is named: ${problems.join(' ')}`]: problems.every((problem) => named.test(problem)),
      'no secret is shown': secrets.every(([name, text]) => text.length < 12 || !shown(name, text)),
    });
  }
}

describe('settings of a gateway', () => {
  it.each(NAMES)(
    '%s is taken, or named',
    async (name) => {
      expect(await fuzz(value, 60, (text) => faultsOf({ [name]: text }))).toBeNull();
    },
    HUNG_MS,
  );

  it(
    'are taken or named together',
    async () => {
      expect(await fuzz(environment, 400, (env) => faultsOf(env))).toBeNull();
    },
    HUNG_MS,
  );

  it(
    'in a file of any content are taken, or told with their line',
    async () => {
      const file = join(folder.path, 'fuzzed.env');
      const right = Buffer.from("# x\nSVC_RATE_LIMIT=5\nSVC_LOG_LEVEL='debug'\nSVC_DATA=/tmp/x\n");
      const texts = mutated(right, ['=', '\n', '#', '"', "'", '\xff', 'export ', '__proto__=1\n']);
      const fault = await fuzz(texts, 200, (bytes) => {
        writeFileSync(file, bytes);
        return faultsOf({}, file);
      });
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );

  it(
    'are read in local mode without a throw',
    async () => {
      const fault = await fuzz(environment, 200, (env) => {
        const problems: string[] = [];
        const settings = readSettings(env, (problem) => problems.push(problem));
        return unmet({
          'they are taken, or refused with a reason': settings !== null || problems.length > 0,
          [`each is named: ${problems.join(' ')}`]: problems.every((one) => /SVC_|AWS_/.test(one)),
        });
      });
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );
});
