import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ownCommand } from '../../cli/program-path.ts';
import { run } from '../../cli/run.ts';
import { TextSink } from './fake-output.ts';

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(realpathSync(tmpdir()), 'svc-path-'));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

/** A package at this path, with its program; npm links it, or nobody does. */
function packageAt(folder: string, link?: string): string {
  const script = join(place, folder, 'dist', 'svc.cjs');
  write(join(folder, 'package.json'), '{"name":"svc-agents"}');
  write(join(folder, 'dist', 'svc.cjs'), '#!/usr/bin/env node\n');
  if (link !== undefined) {
    mkdirSync(join(place, link, '..'), { recursive: true });
    symlinkSync(script, join(place, link));
  }
  return script;
}

function write(path: string, text: string): void {
  mkdirSync(join(place, path, '..'), { recursive: true });
  writeFileSync(join(place, path), text);
  chmodSync(join(place, path), 0o755);
}

/** npx's note of what it unpacked. */
function unpacked(spec: string, from: string): void {
  const manifest = { dependencies: { 'svc-agents': from }, _npx: { packages: [spec] } };
  write('_npx/3f3a/package.json', JSON.stringify(manifest));
}

function typed(script: string, cwd = place, path = join(place, 'bin')): string {
  return ownCommand({ script, env: { PATH: path }, cwd });
}

it('is svc where that is on PATH, as a link or as a small script', () => {
  const script = packageAt('lib/svc-agents', 'bin/svc');
  expect(typed(script)).toBe('svc');
  const other = packageAt('global/node_modules/svc-agents');
  write(
    'shims/svc',
    '#!/bin/sh\nexec node "$basedir/../global/node_modules/svc-agents/dist/svc.cjs" "$@"\n',
  );
  expect(typed(other, place, join(place, 'shims'))).toBe('svc');
});

it('is npx svc in a checkout, and where a folder above has installed the package', () => {
  const script = packageAt('checkout');
  mkdirSync(join(place, 'checkout', 'docs'));
  expect(typed(script, join(place, 'checkout', 'docs'))).toBe('npx svc');
  const installed = packageAt('app/node_modules/svc-agents', 'app/node_modules/.bin/svc');
  expect(typed(installed, join(place, 'app'))).toBe('npx svc');
  // npm's own folder is on PATH only while npx runs.
  expect(typed(installed, join(place, 'app'), join(place, 'app/node_modules/.bin'))).toBe(
    'npx svc',
  );
});

it('names the package that npx unpacked', () => {
  const script = packageAt('_npx/3f3a/node_modules/svc-agents');
  unpacked('svc-agents@0.1.0', '^0.1.0');
  expect(typed(script)).toBe('npx svc-agents@0.1.0');
  unpacked('./svc-agents-0.1.0.tgz', 'file:../../svc-agents-0.1.0.tgz');
  expect(typed(script)).toBe('npx ./svc-agents-0.1.0.tgz');
  // The same unpacked package, started from another folder.
  expect(typed(script, '/')).toBe(`npx .${place}/svc-agents-0.1.0.tgz`);
  expect(typed(script, join(place, 'bin'))).toBe(`npx ${place}/svc-agents-0.1.0.tgz`);
});

it('is the path that was typed where another program is called svc', () => {
  const script = packageAt('opt/svc-agents');
  write('bin/svc', '#!/bin/sh\nexec supervise "$@"\n');
  expect(typed(script)).toBe(script);
});

it('suggests commands by that word in hints, notes and help, and leaves the name svc alone', async () => {
  const script = packageAt('opt/svc-agents');
  const svc = async (...argv: string[]): Promise<string> => {
    const [stdout, stderr] = [new TextSink(true, 200), new TextSink()];
    const env = { SVC_HOME: join(place, 'home'), PATH: '' };
    await run(argv, { env, stdout, stderr, script, signal: new AbortController().signal });
    return (stdout.text + stderr.text).replaceAll(/\n(?=evt_)/g, ' ');
  };
  expect(await svc('status')).toContain(`Not running. Start it with: ${script} up\n`);
  expect(await svc('inbox', 'claim')).toContain(`For example: ${script} inbox claim evt_`);
  const help = await svc('ask', 'approval', '--help');
  expect(help).toContain(`  ${script} ask approval `);
  expect(help).toContain('; svc prints the');
});
