import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { svc } from '../helpers/daemon.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { findProgram } from '../helpers/programs.ts';
import { required } from '../helpers/require.ts';

const folder = temporaryFolder();
const home = join(folder.path, 'home');
const bin = join(folder.path, 'bin');
const analyze = findProgram('systemd-analyze');
const python = findProgram('python3');

/** The commands of the page after this mark. */
function blockOf(mark: string): string {
  const page = readFileSync('docs/keep-running.md', 'utf8');
  return page.split(`<!-- docs: ${mark} -->\n\n\`\`\`sh\n`)[1]?.split('```')[0] ?? '';
}

beforeAll(() => {
  mkdirSync(bin);
  mkdirSync(home);
  symlinkSync(resolve('dist/svc.cjs'), join(bin, 'svc'));
  symlinkSync(process.execPath, join(bin, 'node'));
  // They write down how they were called.
  for (const name of ['systemctl', 'loginctl', 'launchctl']) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $*" >> ${folder.path}/calls\n`);
    chmodSync(join(bin, name), 0o755);
  }
  for (const mark of ['unit', 'agent']) {
    const env = { HOME: home, PATH: `${bin}:${process.env['PATH']}` };
    execFileSync('bash', ['-e', '-c', blockOf(mark)], { env });
  }
});
afterAll(() => folder.remove());

const UNIT = '.config/systemd/user/svc.service';

/** The lines of the unit file that systemd reads. */
function unit(): string {
  return readFileSync(join(home, UNIT), 'utf8');
}

/** What systemd says of a unit. */
function said(text: string): string {
  const file = join(folder.path, 'svc.service');
  writeFileSync(file, text);
  const run = spawnSync(analyze ?? '', ['verify', '--user', '--man=no', file], {
    encoding: 'utf8',
    env: { ...process.env, XDG_RUNTIME_DIR: folder.path },
  });
  return run.stderr
    .split('\n')
    .filter((line) => line.includes('svc.service'))
    .join('\n');
}

describe.runIf(required('systemd-analyze', analyze !== null, 'apt-get install -y systemd'))(
  'the unit of one user',
  () => {
    it('has nothing that systemd would not take', () => {
      expect(said(unit())).toBe('');
      expect(said(unit().replace('on-failure', 'on-failing'))).toContain('on-failing');
    });
  },
);

it('starts a daemon that ends when it is told to', async () => {
  const [, command = ''] = /^ExecStart=(.*)$/m.exec(unit()) ?? [];
  const [program = '', ...args] = command.split(' ');
  const env = { HOME: home, SVC_HOME: join(home, '.svc'), PATH: '/' };
  const child = spawn(program, [...args, '--port', '0'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  for await (const line of child.stderr.setEncoding('utf8')) {
    if ((line as string).includes('127.0.0.1:')) break;
  }
  const status = await svc(join(home, '.svc'), ['status', '--json']);
  expect(JSON.parse(status)).toMatchObject({ state: 'ready' });
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});

it.runIf(required('python3', python !== null, 'apt-get install -y python3'))(
  'has an agent for launchd with the same command',
  () => {
    const script =
      'import json,plistlib,sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))';
    const plist = readFileSync(join(home, 'Library/LaunchAgents/svc.plist'));
    const read: unknown = JSON.parse(
      execFileSync(python ?? '', ['-c', script], { input: plist, encoding: 'utf8' }),
    );
    const program = [join(bin, 'node'), resolve('dist/svc.cjs'), 'up', '--foreground'];
    expect(read).toMatchObject({ Label: 'svc', ProgramArguments: program, RunAtLoad: true });
    expect(unit()).toContain(`ExecStart=${program.join(' ')}\n`);
  },
);

it('tells the system to start them', () => {
  expect(readFileSync(join(folder.path, 'calls'), 'utf8').split('\n')).toEqual([
    'systemctl --user daemon-reload',
    'systemctl --user enable --now svc',
    'loginctl enable-linger',
    expect.stringMatching(/^launchctl bootstrap gui\/\d+ .*\/Library\/LaunchAgents\/svc\.plist$/),
    '',
  ]);
});
