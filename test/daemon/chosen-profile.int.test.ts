import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chosenProfile } from '../../daemon/chosen-profile.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

const TEAM = { gateway: 'https://gw.example', api_key: 'svc_live_1', project: 'prj_1' };

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, 'credentials.json');
});
afterEach(() => folder.remove());

function store(profiles: Record<string, object>, current: string): void {
  writeFileSync(path, JSON.stringify({ profiles, current }));
}

describe('the profile a daemon is for', () => {
  it('is the one that was asked for, otherwise the current one', () => {
    const local = { gateway: null, api_key: 'svc_live_2', project: 'prj_2' };
    store({ default: local, team: TEAM }, 'team');
    expect(chosenProfile(path, undefined)).toEqual({ ...TEAM, profileName: 'team' });
    expect(chosenProfile(path, 'team')).toEqual({ ...TEAM, profileName: 'team' });
    expect(chosenProfile(path, 'default')).toBeNull();
  });

  it('is that of local mode before anything is stored', () => {
    expect(chosenProfile(path, undefined)).toBeNull();
    expect(chosenProfile(path, 'default')).toBeNull();
  });

  it.each(['other', 'constructor', '__proto__', 'toString'])(
    'is refused where there is none called %s',
    (name) => {
      store({ team: TEAM }, 'team');
      expect(() => chosenProfile(path, name)).toThrow(`No profile "${name}".`);
    },
  );

  it.each(['ftp://gw.example', 'gw.example', 'javascript:alert(1)'])(
    'is refused where its gateway is %s',
    (gateway) => {
      store({ team: { ...TEAM, gateway } }, 'team');
      expect(() => chosenProfile(path, undefined)).toThrow('has no gateway address');
    },
  );
});
