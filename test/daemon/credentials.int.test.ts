import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  changeCredentials,
  readCredentials,
  replaceStoredKey,
  storeLocalKey,
  type Profile,
} from '../../daemon/credentials.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

/** Ids of processes end below. */
const NOBODY = 2 ** 22 + 1;

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, 'credentials.json');
});
afterEach(() => folder.remove());

function profile(apiKey: string, gateway: string | null = 'https://gw.example'): Profile {
  return { gateway, api_key: apiKey, project: 'prj_1' };
}

function refuse(): never {
  throw new Error('No.');
}

describe('the credentials file', () => {
  it('is read as an earlier release wrote it', () => {
    const before = {
      profiles: { default: { gateway: null, api_key: 'svc_live_1', project: 'prj_1' } },
      current: 'default',
    };
    writeFileSync(path, JSON.stringify(before));
    expect(readCredentials(path)).toEqual(before);
  });

  it('is for this user alone, also where it was not before', () => {
    writeFileSync(path, JSON.stringify({ profiles: {}, current: 'default' }), { mode: 0o644 });
    storeLocalKey(path, { apiKey: 'svc_live_1', project: 'prj_1' });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('takes the key of local mode beside profiles, and the current one stays', () => {
    const acme = { ...profile('svc_live_2'), slug: 'acme', name: 'Acme', email: 'a***@x.example' };
    writeFileSync(path, JSON.stringify({ profiles: { acme }, current: 'acme' }));
    storeLocalKey(path, { apiKey: 'svc_live_1', project: 'prj_l' });
    expect(readCredentials(path)).toEqual({
      profiles: { acme, default: { gateway: null, api_key: 'svc_live_1', project: 'prj_l' } },
      current: 'acme',
    });
  });

  it('takes a rotated key for every profile that had the old one, and keeps the rest', () => {
    const [a, b] = [{ ...profile('old'), slug: 'acme' }, profile('other')];
    writeFileSync(path, JSON.stringify({ profiles: { a, b, c: a }, current: 'b' }));
    expect(replaceStoredKey(path, 'old', 'new')).toBe(true);
    const rotated = { ...a, api_key: 'new' };
    expect(readCredentials(path)).toEqual({
      profiles: { a: rotated, b, c: rotated },
      current: 'b',
    });
    expect(replaceStoredKey(path, 'old', 'newer')).toBe(false);
  });

  it('is not made to look for a key in it', () => {
    const nowhere = join(folder.path, 'none', 'credentials.json');
    expect(replaceStoredKey(nowhere, 'old', 'new')).toBe(false);
    expect(existsSync(join(folder.path, 'none'))).toBe(false);
  });

  it('stays as it is when a change is not wanted, fails, or the file is damaged', () => {
    storeLocalKey(path, { apiKey: 'svc_live_1', project: 'prj_1' });
    const before = readFileSync(path, 'utf8');
    changeCredentials(path, () => null);
    expect(() => changeCredentials(path, refuse)).toThrow('No.');
    expect(readFileSync(path, 'utf8')).toBe(before);
    writeFileSync(path, 'damaged');
    expect(() => changeCredentials(path, (stored) => stored)).toThrow("svc can't read");
    expect(readFileSync(path, 'utf8')).toBe('damaged');
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});

describe('the lock of the credentials file', () => {
  it('is taken from a process that was killed', () => {
    symlinkSync(String(NOBODY), `${path}.lock`);
    storeLocalKey(path, { apiKey: 'svc_live_1', project: 'prj_1' });
    expect(readCredentials(path)?.current).toBe('default');
    expect(existsSync(`${path}.lock.stale`)).toBe(false);
  });

  it('is taken also where another was killed while it did so', () => {
    symlinkSync(String(NOBODY), `${path}.lock`);
    symlinkSync(String(NOBODY), `${path}.lock.stale`);
    storeLocalKey(path, { apiKey: 'svc_live_1', project: 'prj_1' });
    expect(readCredentials(path)?.current).toBe('default');
    expect(existsSync(`${path}.lock.stale`)).toBe(false);
  });
});
