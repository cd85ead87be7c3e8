import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createVault } from '../../gateway/lib/vault.ts';

const PLACE = 'channel|prj_a|chn_1|address';
const SECRET = Buffer.from('ana@example.com');
const master = randomBytes(32);
const vault = createVault(master);

function opens(place: string, sealed: Uint8Array): boolean {
  try {
    vault.open(place, sealed);
    return true;
  } catch {
    return false;
  }
}

describe('a sealed value', () => {
  it('opens in its place alone, and by its key alone', () => {
    const sealed = vault.seal(PLACE, SECRET);
    expect(Buffer.from(createVault(master).open(PLACE, sealed))).toEqual(SECRET);
    for (const place of ['channel|prj_b|chn_1|address', 'channel|prj_a|chn_2|address', '']) {
      expect(opens(place, sealed)).toBe(false);
    }
    expect(() => createVault(randomBytes(32)).open(PLACE, sealed)).toThrow('another master key');
  });

  it('is refused with any of its bytes changed, and cut short', () => {
    const sealed = Buffer.from(vault.seal(PLACE, SECRET));
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(opens(PLACE, changed)).toBe(false);
    }
    // Of nothing, a part of the tag is what would be left: GCM knows tags of four bytes, which can be guessed.
    for (const whole of [sealed, vault.seal(PLACE, Buffer.alloc(0))]) {
      for (let length = 0; length < whole.length; length++) {
        expect(opens(PLACE, whole.subarray(0, length))).toBe(false);
      }
    }
  });

  it('is another each time, and shows nothing but its length', () => {
    const all = Array.from({ length: 200 }, () => Buffer.from(vault.seal(PLACE, SECRET)));
    expect(new Set(all.map((sealed) => sealed.toString('hex'))).size).toBe(all.length);
    // The nonce follows the format and the key's id.
    const nonces = all.map((sealed) => sealed.subarray(5, 17).toString('hex'));
    expect(new Set(nonces).size).toBe(all.length);
    for (const sealed of all) expect(sealed.includes(SECRET)).toBe(false);
  });
});

describe('a signature', () => {
  it('is of one text and one key, and says nothing of what seals', () => {
    const signature = vault.sign('GET|file|1|prj_a|x|1|2');
    expect(createVault(master).sign('GET|file|1|prj_a|x|1|2')).toBe(signature);
    expect(vault.sign('GET|file|1|prj_b|x|1|2')).not.toBe(signature);
    expect(createVault(randomBytes(32)).sign('GET|file|1|prj_a|x|1|2')).not.toBe(signature);
    expect(Buffer.from(signature, 'base64url')).toHaveLength(32);
  });
});
