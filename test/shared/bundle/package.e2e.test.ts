import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildBundle } from '../../helpers/bundle.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { required } from '../../helpers/require.ts';

/** What stands in the package beside the built program. */
const BESIDE_CODE = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'SKILL.md',
  'docs',
  'package.json',
];
/** How npm says that it could not reach what it needs. */
const UNREACHABLE = /ENOTFOUND|ENOTCACHED|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH/;

const place = temporaryFolder();
const home = join(place.path, 'home');
const there = join(place.path, 'there');
let tarball: string;
let refusal: string;

/** Packs what is built, as publishing does, and installs it where nothing else is. */
beforeAll(() => {
  const folder = join(place.path, 'built');
  buildBundle(folder);
  rmSync(join(folder, 'package.json'));
  for (const name of BESIDE_CODE) cpSync(resolve(name), join(folder, name), { recursive: true });
  const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--json'], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  tarball = join(folder, (JSON.parse(packed) as { filename: string }[])[0]?.filename ?? '');
  mkdirSync(home);
  mkdirSync(there);
  writeFileSync(join(there, 'package.json'), '{ "private": true }\n');
  const { status, stderr } = spawnSync(
    'npm',
    ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball],
    { cwd: there, encoding: 'utf8' },
  );
  refusal = status === 0 ? '' : stderr;
  if (refusal !== '' && !UNREACHABLE.test(refusal)) throw new Error(refusal);
});
afterAll(() => {
  if (refusal === '') svc('down');
  place.remove();
});
beforeEach(({ skip }) => {
  skip(!required('the installed package', refusal === '', 'npm reaches no registry'));
});

/** `npx svc …` in the folder of the install. */
function svc(...words: string[]): string {
  return execFileSync('npx', ['--no-install', 'svc', ...words], {
    cwd: there,
    encoding: 'utf8',
    env: { ...process.env, SVC_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function answer(...words: string[]): Record<string, unknown> {
  return JSON.parse(svc(...words)) as Record<string, unknown>;
}

function listed(folder: string): string[] {
  return readdirSync(join(there, 'node_modules', folder)).toSorted();
}

describe('the package from npm', () => {
  it('holds what runs, what is to be read, and nothing else', () => {
    expect(listed('svc')).toEqual([...BESIDE_CODE, 'dist'].toSorted());
    expect(listed('svc/dist')).toEqual([
      'THIRD-PARTY-LICENSES.txt',
      'code',
      'daemon.js',
      'gateway-admin.js',
      'gateway.js',
      'mail-reader.js',
      'migrations',
      'package.json',
      'replica-child.js',
      'svc.cjs',
      'writer.js',
    ]);
  });

  it('needs one package beside itself: the native one', () => {
    const names = listed('').filter((name) => !name.startsWith('.'));
    expect(names).toEqual(['@libsql', '@neon-rs', 'detect-libc', 'libsql', 'svc']);
  });

  it('runs: a daemon, a source, an event, its work', () => {
    expect(answer('up', '--port', '0')).toMatchObject({ mode: 'local' });
    expect(answer('source', 'add', 'shop')).toMatchObject({ name: 'shop' });
    expect(svc('trigger', 'webhook', '--source', 'shop')).toContain('evt_');
    svc('inbox', 'work', '--exec', 'cat', '--max', '1');
    expect(answer('inbox', 'list', '--status', 'done')).toMatchObject({
      items: [{ type: 'webhook.received', source: 'shop' }],
    });
    expect(answer('ledger', 'verify')).toMatchObject({ ok: true });
  });

  it('is installed, or run without that, as the README says', () => {
    const lines = readFileSync('README.md', 'utf8').match(/^np[mx] .*\.tgz.*$/gm) ?? [];
    expect(lines).toHaveLength(2);
    const prefix = join(place.path, 'prefix');
    const env = {
      ...process.env,
      PATH: `${join(prefix, 'bin')}${delimiter}${process.env['PATH'] ?? ''}`,
      npm_config_prefix: prefix,
      npm_config_prefer_offline: 'true',
      npm_config_yes: 'true',
      SVC_HOME: home,
    };
    for (const line of lines) {
      // A daemon runs already.
      const command = line.replace(/ up(?= )/, ' whoami');
      const ran = spawnSync('sh', ['-c', command], {
        cwd: dirname(tarball),
        env,
        encoding: 'utf8',
      });
      expect([line, ran.status, ran.stdout]).toEqual([
        line,
        0,
        expect.stringContaining('"project"'),
      ]);
    }
  });

  it('reads mail', () => {
    svc('source', 'add', 'mail', '--type', 'email');
    expect(svc('trigger', 'email')).toContain('evt_');
    expect(answer('inbox', 'wait', '--source', 'mail')).toMatchObject({
      event: { type: 'email.received' },
    });
  });

  it('ends', () => {
    expect(answer('down')).toMatchObject({ stopped: true });
  });
});
