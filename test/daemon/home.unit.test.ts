import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { resolveHome } from '../../daemon/home.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

describe('resolveHome', () => {
  it('puts everything under SVC_HOME', () => {
    const home = resolveHome({ SVC_HOME: '/srv/svc', XDG_DATA_HOME: '/ignored' });
    expect(home).toEqual({
      credentialsFile: '/srv/svc/credentials.json',
      daemonFile: '/srv/svc/daemon.json',
      settingsFile: '/srv/svc/data/settings.json',
      lockFile: '/srv/svc/data/lock',
      logFile: '/srv/svc/daemon.log',
      socketPath: '/srv/svc/svc.sock',
      dataFolder: '/srv/svc/data',
      ledgerHeadsFile: '/srv/svc/ledger-heads.json',
      loginsFolder: '/srv/svc/logins',
    });
  });

  it('makes a relative SVC_HOME absolute', () => {
    expect(resolveHome({ SVC_HOME: 'here' }).dataFolder).toBe(`${process.cwd()}/here/data`);
  });

  it('uses the XDG folders, and the usual ones where they are unset or not absolute', () => {
    const home = resolveHome({
      HOME: '/home/ada',
      XDG_CONFIG_HOME: '/config',
      XDG_STATE_HOME: 'relative',
      SVC_HOME: '',
    });
    expect(home.credentialsFile).toBe('/config/svc/credentials.json');
    expect(home.daemonFile).toBe('/home/ada/.local/state/svc/daemon.json');
    expect(home.socketPath).toBe('/home/ada/.local/state/svc/svc.sock');
    expect(home.lockFile).toBe('/home/ada/.local/share/svc/lock');
  });
});

describe('the socket of a long home', () => {
  const env = { SVC_HOME: `/tmp/${'long/'.repeat(30)}` };
  const folder = dirname(resolveHome(env).socketPath);

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('lies in a folder of the temp folder that is named by the home', () => {
    const path = resolveHome(env).socketPath;
    expect(path).toMatch(/^\/tmp\/svc-\d+-[0-9a-f]{16}\/svc\.sock$/);
    expect(resolveHome({ ...env, TMPDIR: '/elsewhere' }).socketPath).toBe(path);
    expect(resolveHome({ SVC_HOME: `${env.SVC_HOME}/other` }).socketPath).not.toBe(path);
  });

  it('is refused when others can write to that folder', () => {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o777);
    expect(() => resolveHome(env)).toThrow(`Run: chmod go= ${folder}`);
    chmodSync(folder, 0o700);
    expect(resolveHome(env).socketPath).toContain(folder);
  });
});

describe('a home that others can write to', () => {
  const folder = temporaryFolder();
  const env = { SVC_HOME: folder.path };
  afterEach(() => chmodSync(folder.path, 0o700));
  afterAll(() => folder.remove());

  it.each([0o777, 0o1777, 0o702])(
    'is refused with the mode %o: nobody’s socket gets our key',
    (mode) => {
      chmodSync(folder.path, mode);
      expect(() => resolveHome(env)).toThrow(`Run: chmod go-w ${folder.path}`);
    },
  );

  it('is refused through a link, too', () => {
    const link = `${folder.path}-link`;
    symlinkSync(folder.path, link);
    chmodSync(folder.path, 0o777);
    expect(() => resolveHome({ SVC_HOME: link })).toThrow('Others can put files into');
    rmSync(link);
  });

  it('may be one that others can read', () => {
    chmodSync(folder.path, 0o755);
    expect(resolveHome(env).socketPath).toBe(join(folder.path, 'svc.sock'));
  });
});

// Only root can give files to others.
describe.runIf(process.getuid?.() === 0)('what belongs to another user', () => {
  const folder = temporaryFolder();
  const env = { SVC_HOME: folder.path };
  const STRANGER = 54_321;
  afterAll(() => folder.remove());

  it.each(['svc.sock', 'credentials.json', 'daemon.json', 'data/settings.json'])(
    'is refused: %s',
    (name) => {
      const path = join(folder.path, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, '{}');
      chownSync(path, STRANGER, STRANGER);
      expect(() => resolveHome(env)).toThrow(`${path} belongs to another user (uid ${STRANGER}).`);
      rmSync(path);
    },
  );

  it('is not what a user of a container has, whom no list of users knows', () => {
    const home = mkdtempSync('/tmp/svc-home-');
    const long = join(home, 'a'.repeat(100));
    const whatItFinds = (mode: number, owner: number) => {
      for (const path of [home, long]) {
        mkdirSync(path, { recursive: true });
        chmodSync(path, mode);
        chownSync(path, owner, 0);
      }
      process.seteuid?.(STRANGER);
      try {
        return [home, long].map((path) => resolveHome({ SVC_HOME: path }).socketPath);
      } finally {
        process.seteuid?.(0);
      }
    };
    const found = [join(home, 'svc.sock'), expect.stringContaining(`/tmp/svc-${STRANGER}-`)];
    expect(whatItFinds(0o755, STRANGER)).toEqual(found);
    // As images for any user have them.
    expect(whatItFinds(0o775, 0)).toEqual(found);
    rmSync(home, { recursive: true });
  });

  it('is refused: the folder', () => {
    chownSync(folder.path, STRANGER, STRANGER);
    expect(() => resolveHome(env)).toThrow(`${folder.path} belongs to another user`);
    chownSync(folder.path, 0, 0);
  });
});
