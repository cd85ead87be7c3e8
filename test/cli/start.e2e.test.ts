import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildBundle } from '../helpers/bundle.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { required } from '../helpers/require.ts';

const NOBODY = 65_534;
const isRoot = process.geteuid?.() === 0;

const built = temporaryFolder();
let dist: string;
let place: ReturnType<typeof temporaryFolder>;
let home: string;

beforeAll(() => {
  dist = dirname(buildBundle(built.path));
});
afterAll(() => built.remove());
beforeEach(() => {
  place = temporaryFolder();
  cpSync(dist, join(place.path, 'dist'), { recursive: true });
  home = join(place.path, 'home');
  mkdirSync(home, { mode: 0o700 });
});
afterEach(() => place.remove());

interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly err: string;
}

/** Runs the executable of this test. */
function svc(words: readonly string[], env: NodeJS.ProcessEnv = { SVC_HOME: home }): Ran {
  const { status, signal, stderr } = spawnSync(
    process.execPath,
    [join(place.path, 'dist', 'svc.cjs'), ...words],
    { env: { PATH: process.env['PATH'], ...env }, encoding: 'utf8' },
  );
  return { code: status, signal, err: stderr };
}

/** A command that runs to its end without a daemon: exit code 7. */
const LIST = ['inbox', 'list'];
const UNREACHABLE = {
  code: 7,
  signal: null,
  err: expect.stringContaining("UNREACHABLE: The daemon isn't running"),
};

function caches(folder = join(place.path, 'dist')): string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.includes('.cache')) : [];
}

function soleCache(): string {
  const [name = '', ...others] = caches();
  expect(others).toEqual([]);
  return join(place.path, 'dist', name);
}

function forget(): void {
  for (const name of caches()) rmSync(join(place.path, 'dist', name));
}

describe('compiled code that is kept', () => {
  it('is made by the build for the command', () => {
    expect(caches()).toEqual([expect.stringMatching(/^cli-[0-9a-f]{8}\.cache$/)]);
  });

  it('is made by the first command that runs, and left alone by those that follow', () => {
    forget();
    expect(svc(LIST)).toEqual(UNREACHABLE);
    const kept = readFileSync(soleCache());
    expect(kept.length).toBeGreaterThan(100_000);
    expect(svc(['kv', 'list'])).toEqual(UNREACHABLE);
    expect(readFileSync(soleCache()).equals(kept)).toBe(true);
  });

  it('is not made by what compiles next to nothing', () => {
    forget();
    for (const words of [['--version'], ['bogus'], ['inbox', 'list', '--help'], ['help'], []]) {
      expect(svc(words).signal).toBeNull();
    }
    expect(caches()).toEqual([]);
  });

  // V8 itself checks no digest: each of these ended the process.
  it.each<[string, (whole: Buffer) => Buffer]>([
    ['a flipped byte', flipped],
    ['zeros at the end', (whole) => Buffer.from(whole).fill(0, whole.length >> 1)],
    ['half of it', (whole) => whole.subarray(0, whole.length >> 1)],
    ['nothing', () => Buffer.alloc(0)],
    ['something else', () => Buffer.from('not a cache\n'.repeat(100))],
  ])('is made anew where there is %s', (_, damaged) => {
    const path = soleCache();
    const whole = readFileSync(path);
    writeFileSync(path, damaged(whole));
    expect(svc(LIST)).toEqual(UNREACHABLE);
    const again = readFileSync(path);
    expect(again.length).toBeGreaterThan(100_000);
    expect(again.subarray(0, 64).equals(whole.subarray(0, 64))).toBe(true);
  });

  it('is that of the code: other code of the same length does not run it', () => {
    const start = join(place.path, 'dist', 'svc.cjs');
    const digest = /[0-9a-f]{64}/.exec(readFileSync(start, 'utf8'))?.[0] ?? '';
    const other = readFileSync(start, 'utf8').replace(digest, digest.replace(/^./, 'x'));
    const path = soleCache();
    const before = readFileSync(path);
    writeFileSync(start, other);
    expect(svc(LIST)).toEqual(UNREACHABLE);
    expect(caches()).toHaveLength(2);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('is done without where the installation goes away meanwhile', () => {
    const hook = join(place.path, 'hook.cjs');
    const folder = JSON.stringify(join(place.path, 'dist'));
    const remove = `require('node:fs').rmSync(${folder}, { recursive: true, force: true })`;
    writeFileSync(hook, `process.once('exit', () => ${remove});\n`);
    const ran = svc(LIST, { SVC_HOME: home, NODE_OPTIONS: `--require=${hook}` });
    expect(ran).toEqual(UNREACHABLE);
    expect(ran.err).not.toContain('ENOENT');
    expect(existsSync(join(place.path, 'dist'))).toBe(false);
  });

  it('is kept apart by the flags of Node, and at most four', () => {
    for (const megabytes of [200, 201, 202, 203, 204]) {
      const env = { SVC_HOME: home, NODE_OPTIONS: `--max-old-space-size=${megabytes}` };
      expect(svc(LIST, env)).toEqual(UNREACHABLE);
    }
    expect(caches()).toHaveLength(4);
  });
});

function flipped(whole: Buffer): Buffer {
  const copy = Buffer.from(whole);
  const at = Math.floor(copy.length * 0.9);
  copy[at] = (copy[at] ?? 0) ^ 0xff;
  return copy;
}

describe.runIf(required('an install of another user', isRoot, 'only root can make one'))(
  'an install of another user',
  () => {
    beforeEach(() => {
      forget();
      chownSync(join(place.path, 'dist'), NOBODY, NOBODY);
    });

    it('is not written to: the compiled code goes to the folder of the user', () => {
      expect(svc(LIST)).toEqual(UNREACHABLE);
      expect(caches()).toEqual([]);
      expect(caches(join(home, 'cache'))).toHaveLength(1);
    });

    it('has it in XDG_CACHE_HOME, or under HOME', () => {
      const cache = join(place.path, 'xdg');
      mkdirSync(cache);
      mkdirSync(join(home, '.cache'));
      expect(svc(LIST, { XDG_CACHE_HOME: cache })).toEqual(UNREACHABLE);
      expect(svc(LIST, { HOME: home })).toEqual(UNREACHABLE);
      expect(caches(join(cache, 'svc'))).toHaveLength(1);
      expect(caches(join(home, '.cache', 'svc'))).toHaveLength(1);
    });

    it('runs no file of somebody else, whoever can write to the folder by now', () => {
      expect(svc(LIST)).toEqual(UNREACHABLE);
      const [name = ''] = caches(join(home, 'cache'));
      const path = join(home, 'cache', name);
      chownSync(path, NOBODY, NOBODY);
      expect(svc(LIST)).toEqual(UNREACHABLE);
      expect(statSync(path).uid).toBe(0);
    });

    it('does without where there is no folder for it', () => {
      expect(svc(LIST, { HOME: join(place.path, 'nowhere') })).toEqual(UNREACHABLE);
      expect(svc(LIST, {})).toMatchObject({ signal: null });
      expect(existsSync(join(place.path, 'nowhere'))).toBe(false);
    });

    it.each<[string, (folder: string) => void]>([
      ['others may write to', (folder) => chmodSync(mkdir(folder), 0o777)],
      ['is of somebody else', (folder) => chownSync(mkdir(folder), NOBODY, NOBODY)],
      ['is a link', (folder) => symlinkSync(mkdir(join(place.path, 'target')), folder)],
    ])('neither reads from nor writes to a folder that %s', (_, spoil) => {
      const folder = join(home, 'cache');
      expect(svc(LIST)).toEqual(UNREACHABLE);
      const [name = ''] = caches(folder);
      const planted = readFileSync(join(folder, name));
      rmSync(folder, { recursive: true });
      spoil(folder);
      // What would be refused, if it were read, and replaced.
      const damaged = planted.subarray(0, 5000);
      writeFileSync(join(folder, name), damaged);
      expect(svc(LIST)).toEqual(UNREACHABLE);
      expect(readFileSync(join(folder, name)).equals(damaged)).toBe(true);
    });
  },
);

function mkdir(path: string): string {
  mkdirSync(path);
  return path;
}

/** Runs a command as if it were another platform or an older Node. */
function elsewhere(change: string): Ran {
  const preload = join(place.path, 'elsewhere.cjs');
  writeFileSync(preload, change);
  return svc(LIST, { SVC_HOME: home, NODE_OPTIONS: `--require ${preload}` });
}

describe('where it cannot run', () => {
  it('says on Windows that it runs in WSL', () => {
    const ran = elsewhere("Object.defineProperty(process, 'platform', { value: 'win32' });");
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(
      /^svc: svc runs on Linux and macOS, not on win32\. .* WSL: https:.*\n$/,
    );
  });

  it('names the Node that it needs', () => {
    const ran = elsewhere("Object.defineProperty(process.versions, 'node', { value: '18.20.4' });");
    expect(ran).toMatchObject({
      code: 1,
      err: 'svc: This is Node 18.20.4. Install Node 20.19 or newer.\n',
    });
  });
});
