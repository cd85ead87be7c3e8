import { describe, expect, it } from 'vitest';
import {
  hashApiKey,
  last4,
  newApiKey,
  newId,
  newProjectId,
  newRequestId,
  newToken,
  parseApiKey,
  parseToken,
  projectBody,
  projectIdFromBody,
} from '../../../shared/lib/ids.ts';

const PROJECT = 'prj_0123456789abcdef';

describe('newId', () => {
  it('is the prefix and a lower-case ULID that begins with the time', () => {
    const id = newId('evt', 1_700_000_000_000);
    expect(id).toMatch(/^evt_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(id.slice(4, 14)).toBe('01hf7yat00');
  });

  it('strictly increases within a millisecond and when the clock goes back', () => {
    const now = 1_800_000_000_000;
    const ids = Array.from({ length: 5000 }, (_, i) => newId('evt', now - (i % 7) * 1000));
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(ids.length);
    expect(newId('evt', now + 1) > (ids.at(-1) ?? '')).toBe(true);
  });

  it.each([-1, 0.5, Number.NaN, 2 ** 48])('refuses the time %s', (time) => {
    expect(() => newId('evt', time)).toThrow(RangeError);
  });
});

describe('project ids', () => {
  it('go to their body and back', () => {
    const id = newProjectId();
    expect(id).toMatch(/^prj_[0-9a-hjkmnp-tv-z]{16}$/);
    expect(projectIdFromBody(projectBody(id))).toBe(id);
    expect(newProjectId()).not.toBe(id);
  });

  it.each(['', 'prj_', 'prj_../../etc/passwd', 'prj_0123456789abcdeu', `${PROJECT}\n`])(
    'refuses %j',
    (text) => {
      expect(() => projectBody(text)).toThrow(TypeError);
      expect(() => projectIdFromBody(text.slice(4))).toThrow(TypeError);
    },
  );
});

describe('API keys', () => {
  it('carry their project and a checksum', () => {
    const key = newApiKey(PROJECT);
    expect(key).toMatch(/^svc_live_0123456789abcdef[0-9A-Za-z]{38}$/);
    expect(parseApiKey(key)).toEqual({ projectId: PROJECT });
    expect(last4(key)).toBe(key.slice(59));
    expect(newApiKey(PROJECT)).not.toBe(key);
  });

  it('have the checksum that scanners compute', () => {
    const key = `svc_live_0123456789abcdef${'0'.repeat(32)}`;
    // CRC-32 0x1304367a in six base62 digits, computed apart from this code.
    expect(parseApiKey(`${key}0Lafhy`)).toEqual({ projectId: PROJECT });
  });

  it('are refused when any character differs', () => {
    const key = newApiKey(PROJECT);
    for (let i = 0; i < key.length; i++) {
      const other = key[i] === '7' ? '8' : '7';
      expect(parseApiKey(key.slice(0, i) + other + key.slice(i + 1))).toBeNull();
    }
  });

  it.each(['', 'svc_live_', 'x'.repeat(63), 'svc_live_'.repeat(7), 'é'.repeat(100_000)])(
    'refuse junk',
    (text) => {
      expect(parseApiKey(text)).toBeNull();
    },
  );

  it('are refused with anything around them', () => {
    const key = newApiKey(PROJECT);
    for (const text of [` ${key}`, `${key} `, `${key}\n`, key.slice(1), key.toUpperCase()]) {
      expect(parseApiKey(text)).toBeNull();
    }
  });

  it('are hashed with SHA-256 in hex', () => {
    expect(hashApiKey('abc')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });

  it('draw every base62 character about equally often', () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < 2000; i++) {
      for (const char of newApiKey(PROJECT).slice(25, 57)) {
        counts.set(char, (counts.get(char) ?? 0) + 1);
      }
    }
    expect(counts.size).toBe(62);
    // 64,000 draws: 1,032 each, deviation 32. With a plain modulo the first eight had 25 % more.
    for (const count of counts.values()) expect(Math.abs(count - 1032)).toBeLessThan(200);
  });
});

describe('capability tokens', () => {
  it('carry their project', () => {
    const token = newToken(PROJECT);
    expect(token).toMatch(/^0123456789abcdef[0-9A-Za-z]{24}$/);
    expect(parseToken(token)).toEqual({ projectId: PROJECT });
    for (const text of ['', `${token}x`, token.slice(1), token.replace('0', 'u'), `${token}\n`]) {
      expect(parseToken(text)).toBeNull();
    }
  });
});

describe('request ids', () => {
  it('are short and differ', () => {
    expect(newRequestId()).toMatch(/^[0-9a-hjkmnp-tv-z]{16}$/);
    expect(newRequestId()).not.toBe(newRequestId());
  });
});
