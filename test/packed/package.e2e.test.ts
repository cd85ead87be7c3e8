import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { installPackage } from './installed.ts';
import { Machine } from './machine.ts';

const installed = await installPackage();
let machine: Machine;

beforeEach(() => {
  machine = new Machine(installed);
});
afterEach(() => machine.remove());

function modules(...path: readonly string[]): string {
  return join(installed?.folder ?? '', 'node_modules', ...path);
}

/** What node finds by a name, out of all that stands in quotes after `from`, `import` or `import(`. */
function importsOf(file: string): string[] {
  const text = readFileSync(modules('svc-agents', 'dist', file), 'utf8');
  return [...text.matchAll(/^(?:import|export)\b[^'"]*?["']([^'"]+)["']|\bimport\("([^"]+)"\)/gm)]
    .map(([, still = '', late = '']) => still || late)
    .filter((name) => !name.startsWith('.') && !name.startsWith('node:'));
}

function packageOf(name: string): string {
  return name.split('/', name.startsWith('@') ? 2 : 1).join('/');
}

describe.runIf(installed)('the package from npm', () => {
  it('holds what runs, what is to be read, and nothing else', () => {
    expect(readdirSync(modules('svc-agents')).toSorted()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'SKILL.md',
      'dist',
      'docs',
      'gateway',
      'llms.txt',
      'package.json',
    ]);
    const dist = readdirSync(modules('svc-agents', 'dist'));
    expect(
      dist.filter((name) => !/^[a-z-]+-[0-9A-Z]{8}\.js$|\.cache$/.test(name)).toSorted(),
    ).toEqual([
      'client',
      'code',
      'daemon.js',
      'gateway-admin.js',
      'gateway.js',
      'mail-reader.js',
      'migrations',
      'plugin',
      'replica-child.js',
      'scrub.js',
      'svc.cjs',
      'third-party.txt',
      'writer.js',
    ]);
  });

  it('runs nothing where it is installed', () => {
    const text = readFileSync(modules('svc-agents', 'package.json'), 'utf8');
    const { scripts } = JSON.parse(text) as { scripts: Record<string, string> };
    const atInstall = ['preinstall', 'install', 'postinstall', 'prepare'];
    expect(Object.keys(scripts).filter((name) => atInstall.includes(name))).toEqual([]);
  });

  it('names every package that runs, with an exact version, and no other', () => {
    const text = readFileSync(modules('svc-agents', 'package.json'), 'utf8');
    const { dependencies } = JSON.parse(text) as { dependencies: Record<string, string> };
    const files = readdirSync(modules('svc-agents', 'dist')).filter((name) => name.endsWith('.js'));
    const loaded = new Set(files.flatMap(importsOf).map(packageOf));
    expect(loaded.size).toBeGreaterThan(10);
    expect([...loaded].filter((name) => builtinModules.includes(name))).toEqual([]);
    // The command has one package in its own file, so that it starts faster, and loads another late, for --jq.
    const ofCommand = ['commander', 'jq-wasm'];
    expect(Object.keys(dependencies).toSorted()).toEqual([...loaded, ...ofCommand].toSorted());
    for (const version of Object.values(dependencies))
      expect(version).toMatch(/^\d+\.\d+\.\d+(?:-[\w.-]+)?$/);
  });

  it('brings no packages of which it uses a part, and few in all', () => {
    const text = readFileSync(modules('.package-lock.json'), 'utf8');
    const { packages } = JSON.parse(text) as { packages: Record<string, object> };
    const folders = Object.keys(packages);
    expect(folders).toContain('node_modules/svc-agents');
    expect(
      folders.filter((path) => /\/(?:express|@modelcontextprotocol\/sdk)$/.test(path)),
    ).toEqual([]);
    expect(folders.length).toBeLessThanOrEqual(125);
  });

  it('hands on the licences of the packages that lie in its own files', () => {
    const text = readFileSync(modules('svc-agents', 'dist', 'third-party.txt'), 'utf8');
    const parts = text.split(/^-{80}$/m);
    const names = parts.map((part) => /^(\S+) \d+\.\d+\.\d+$/m.exec(part)?.[1]);
    expect(names).toEqual(
      expect.arrayContaining([
        '@modelcontextprotocol/sdk',
        'commander',
        'mailauth',
        'tldts',
        'zod',
      ]),
    );
    for (const part of parts)
      expect(part).toMatch(/Permission is hereby granted|Redistribution and use/);
  });

  it.each([
    [['inbox', 'list'], false],
    [['mcp'], true],
  ])('%s loads the SDK of MCP: %s', async (args, loads) => {
    await machine.svc('up', '--port', '0');
    const started = machine.start(args, { NODE_DEBUG: 'module' });
    started.child.stdin.end();
    const { code, err } = await started.ended;
    expect(code).toBe(0);
    expect(err).toContain('dist/svc.cjs');
    expect(err.includes('dist/code/mcp-sdk.cjs')).toBe(loads);
  });

  it('has every file that its pages link to, but for those of the checkout', () => {
    const pages = [modules('svc-agents'), modules('svc-agents', 'docs')].flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.endsWith('.md'))
        .map((name) => join(folder, name)),
    );
    expect(pages.length).toBeGreaterThan(15);
    const missing = pages.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/\]\(([^)#:\s]+)[^):]*\)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !existsSync(join(dirname(page), target))),
    );
    // For those who build: they have the checkout.
    const ours = /^(?:\.\.\/)?(?:CONTRIBUTING|(?:cli|daemon|gateway|shared|test)\/.*)\.md$/;
    expect(missing.filter((target) => !ours.test(target))).toEqual([]);
  });

  it('runs: a daemon, a source, an event, its work, a mail', async () => {
    expect(await machine.json('up', '--port', '0')).toMatchObject({ mode: 'local' });
    expect(await machine.json('source', 'add', 'shop')).toMatchObject({ name: 'shop' });
    expect(await machine.svc('trigger', 'webhook', '--source', 'shop')).toContain('evt_');
    await machine.svc('inbox', 'work', '--exec', 'cat', '--max', '1');
    expect(await machine.json('inbox', 'list', '--status', 'done')).toMatchObject({
      items: [{ type: 'webhook.received', source: 'shop' }],
    });
    await machine.svc('source', 'add', 'mail', '--type', 'email');
    expect(await machine.svc('trigger', 'email')).toContain('evt_');
    expect(await machine.json('inbox', 'wait', '--source', 'mail')).toMatchObject({
      event: { type: 'email.received' },
    });
    expect(await machine.json('ledger', 'verify')).toMatchObject({ ok: true });
    expect(await machine.json('down')).toMatchObject({ stopped: true });
  });

  it('is installed, or run without that, as the README says', async () => {
    const lines = readFileSync('README.md', 'utf8').match(/^np[mx] .*\.tgz.*$/gm) ?? [];
    expect(lines).toHaveLength(2);
    const cwd = dirname(installed?.tarball ?? '');
    const prefix = mkdtempSync(join(tmpdir(), 'svc-readme-'));
    const env = {
      ...process.env,
      PATH: [join(prefix, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter),
      npm_config_prefix: prefix,
      npm_config_prefer_offline: 'true',
      npm_config_yes: 'true',
      SVC_HOME: machine.folder('svc'),
    };
    // On a port of its own; what follows finds it running.
    await machine.run(['up', '--port', '0'], { SVC_HOME: env.SVC_HOME });
    try {
      for (const line of lines) {
        const ran = spawnSync('sh', ['-c', `${line.replace(/#.*/, '')} --json`], {
          cwd,
          env,
          encoding: 'utf8',
        });
        expect([line, ran.status, ran.stdout]).toEqual([
          line,
          0,
          expect.stringContaining('"base_url"'),
        ]);
      }
    } finally {
      await machine.run(['down'], { SVC_HOME: env.SVC_HOME });
      rmSync(prefix, { recursive: true, force: true });
    }
  });
});
