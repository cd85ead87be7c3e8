import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changeCredentials, type Profile } from '../../daemon/credentials.ts';
import { watchKey } from '../../daemon/key-watch.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

const FIRST: Profile = { gateway: 'https://gw.example', api_key: 'svc_live_1', project: 'prj_1' };

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
let stop: () => void;
let keys: string[];
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, 'credentials.json');
  keys = [];
});
afterEach(() => {
  stop();
  folder.remove();
});

function store(change: Partial<Profile>): void {
  changeCredentials(path, () => ({ profiles: { team: { ...FIRST, ...change } }, current: 'team' }));
}

function watchFirst(): void {
  const watched = {
    file: path,
    profileName: 'team',
    profile: FIRST,
    log: pino({ level: 'silent' }),
  };
  stop = watchKey(watched, (key) => keys.push(key));
}

describe('a key that is watched', () => {
  it('is told of each time another one is stored in its place', async () => {
    store({});
    watchFirst();
    store({ api_key: 'svc_live_2' });
    await expect.poll(() => keys).toEqual(['svc_live_2']);
    store({ api_key: 'svc_live_3' });
    await expect.poll(() => keys).toEqual(['svc_live_2', 'svc_live_3']);
  });

  it('is told of also where that was before it was watched', async () => {
    store({ api_key: 'svc_live_2' });
    watchFirst();
    await expect.poll(() => keys).toEqual(['svc_live_2']);
  });

  it('is not that of another gateway or project', async () => {
    store({});
    watchFirst();
    store({ api_key: 'svc_live_2', gateway: 'https://evil.example' });
    store({ api_key: 'svc_live_3', project: 'prj_2' });
    store({ api_key: 'svc_live_4' });
    await expect.poll(() => keys).toEqual(['svc_live_4']);
  });
});
