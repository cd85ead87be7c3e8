import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { resolveHome } from '../../daemon/home.ts';

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
    expect(() => resolveHome(env)).toThrow("isn't a private folder of this user");
    chmodSync(folder, 0o700);
    expect(resolveHome(env).socketPath).toContain(folder);
  });
});
