import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openInBrowser } from '../../cli/browser.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

let folder: ReturnType<typeof temporaryFolder>;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  folder = temporaryFolder();
  const bin = join(folder.path, 'bin');
  mkdirSync(bin);
  for (const name of ['xdg-open', 'open']) {
    writeFileSync(join(bin, name), '#!/bin/sh\nprintf %s "$1" > "$SEEN"\n');
    chmodSync(join(bin, name), 0o755);
  }
  env = { PATH: `${bin}:/usr/bin:/bin`, DISPLAY: ':9', SEEN: join(folder.path, 'seen') };
});
afterEach(() => folder.remove());

describe('what a gateway gives to be opened', () => {
  it('is opened where it is an address of the web', async () => {
    const url = 'https://svc.example.com/ui/open/abc?page=requests';
    expect(await openInBrowser(url, env)).toBe(true);
    expect(readFileSync(join(folder.path, 'seen'), 'utf8')).toBe(url);
  });

  it.each([
    'file:///usr/share/applications/calculator.desktop',
    'smb://evil.example/share',
    'vscode://evil.example/run',
    'javascript:alert(1)',
    '-aCalculator',
    '--version',
    '/etc/passwd',
    '',
  ])('starts no other program, and is no option of one: %s', async (url) => {
    expect(await openInBrowser(url, env)).toBe(false);
    expect(existsSync(join(folder.path, 'seen'))).toBe(false);
  });
});
