import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Screen } from '../docs/screen.ts';
import { svc, svcUp } from '../helpers/daemon.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { required } from '../helpers/require.ts';
import { hasTerminals, Terminal } from './signin/terminal.ts';

const PATIENCE = { timeout: 60_000, interval: 50 };
const WATCH = ['kv', 'list', '--watch', '1s'];
const place = temporaryFolder();

beforeAll(async () => {
  await svcUp(place.path);
});
afterAll(async () => {
  await svc(place.path, ['down']);
  place.remove();
});

describe('--watch with a daemon', () => {
  it('prints each change in a pipe until it is interrupted', async () => {
    const env = { ...process.env, SVC_HOME: place.path };
    const child = spawn(process.execPath, [resolve('dist/svc.cjs'), ...WATCH], { env });
    const ended = once(child, 'close');
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await vi.waitFor(() => expect(text).toMatch(/^\{.*\}\n$/), PATIENCE);
    await svc(place.path, ['kv', 'set', 'fresh', '1']);
    await vi.waitFor(() => expect(text).toMatch(/^.*\n.*"fresh".*\n$/), PATIENCE);
    child.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
  });

  const onTerminal = required('--watch', hasTerminals(), 'needs `script` of util-linux');

  it.runIf(onTerminal)('redraws on a terminal, and Ctrl-C leaves the last view', async () => {
    const terminal = new Terminal(place.path, WATCH);
    const shown = () => new Screen().write(terminal.text).text();
    await terminal.shows('Every 1s: svc kv list');
    await svc(place.path, ['kv', 'set', 'later', '1']);
    await terminal.shows('later');
    terminal.type('\u0003');
    expect(await terminal.ended()).toBe(130);
    expect(shown().filter((line) => line.startsWith('Every'))).toHaveLength(1);
    expect(shown().filter((line) => line.startsWith('later '))).toHaveLength(1);
  });
});
