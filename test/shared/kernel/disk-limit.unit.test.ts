import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refuseOutside, scannedPrefixes } from '../../../shared/kernel/disk-limit.ts';
import { ServiceError } from '../../../shared/lib/errors.ts';
import type { Scope } from '../../../shared/lib/scopes.ts';

type Kind = 'key' | 'task' | 'path';

function limited(diskPrefixes: readonly string[] | null, ...scopes: Scope[]) {
  return { diskPrefixes, scopes };
}

function mayName(caller: ReturnType<typeof limited>, kind: Kind, ...names: string[]): boolean {
  try {
    refuseOutside({ field: 'name', kind }, { name: names.length === 1 ? names[0] : names }, caller);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'SCOPE_MISSING') return false;
    throw error;
  }
}

describe('a key without prefixes', () => {
  it('may name everything', () => {
    const all = limited(null);
    expect(mayName(all, 'path', 'evt_1/a')).toBe(true);
    expect(mayName(all, 'key', 'state/a')).toBe(true);
    expect(scannedPrefixes(all, 'key', 'x')).toEqual(['x']);
    expect(scannedPrefixes(all, 'path', '')).toEqual(['']);
  });
});

describe('a prefix', () => {
  const team = limited(['team-a/'], 'disk');

  it('is compared with names byte by byte', () => {
    expect(mayName(team, 'key', 'team-a/x')).toBe(true);
    expect(mayName(team, 'key', 'team-a/')).toBe(true);
    expect(mayName(team, 'path', 'team-a/x/y')).toBe(true);
    for (const name of ['team-a', 'team-b/x', 'Team-a/x', '/team-a/x', 'x/team-a/y']) {
      expect(mayName(team, 'key', name)).toBe(false);
      expect(mayName(team, 'path', name)).toBe(false);
    }
    // One letter that Unicode can write in two ways.
    expect(mayName(limited(['caf\u00e9/']), 'key', 'cafe\u0301/x')).toBe(false);
    expect(mayName(limited(['a', '😀']), 'key', '😀x')).toBe(true);
  });

  it('covers the states of tasks that start with it, under both of their names', () => {
    expect(mayName(team, 'task', 'team-a/deploy')).toBe(true);
    expect(mayName(team, 'key', 'state/team-a/deploy')).toBe(true);
    expect(mayName(team, 'task', 'deploy')).toBe(false);
    expect(mayName(team, 'key', 'state/deploy')).toBe(false);
  });

  it('covers the keys of states where it names them', () => {
    const states = limited(['state/deploy-'], 'disk');
    expect(mayName(states, 'task', 'deploy-42')).toBe(true);
    expect(mayName(states, 'key', 'state/deploy-42')).toBe(true);
    expect(mayName(states, 'task', 'other')).toBe(false);
  });

  it('must cover every name of a list', () => {
    expect(mayName(team, 'key', 'team-a/1', 'team-a/2')).toBe(true);
    expect(mayName(team, 'key', 'team-a/1', 'team-b/2')).toBe(false);
  });

  it('gives no attachments of mails; inbox:read does', () => {
    const path = 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3/a.pdf';
    expect(mayName(limited(['evt_'], 'disk'), 'path', path)).toBe(false);
    expect(mayName(limited(['team-a/'], 'disk', 'inbox:read'), 'path', path)).toBe(true);
    expect(scannedPrefixes(limited(['e'], 'disk'), 'path', 'evt_')).toEqual([]);
  });

  it('is in the refusal and its hint', () => {
    const caller = limited(['team-a/', 'b'], 'disk');
    const call = () => refuseOutside({ field: 'key', kind: 'key' }, { key: 'x' }, caller);
    expect(call).toThrow(
      expect.objectContaining({
        code: 'SCOPE_MISSING',
        details: { scope: 'disk', prefixes: ['team-a/', 'b'] },
        hint: 'This key is limited to names on the disk that start with "team-a/", "b".',
      }) as Error,
    );
  });
});

describe('a list', () => {
  it('reads only what the key may see', () => {
    const caller = limited(['b/', 'a/x', 'a/'], 'disk');
    expect(scannedPrefixes(caller, 'path', '')).toEqual(['a/', 'b/']);
    expect(scannedPrefixes(caller, 'path', 'a')).toEqual(['a/']);
    expect(scannedPrefixes(caller, 'path', 'a/x/y')).toEqual(['a/x/y']);
    expect(scannedPrefixes(caller, 'path', 'c')).toEqual([]);
    expect(scannedPrefixes(caller, 'key', '')).toEqual(['a/', 'b/', 'state/a/', 'state/b/']);
    expect(scannedPrefixes(caller, 'key', 'state/')).toEqual(['state/a/', 'state/b/']);
  });

  it('keeps the order of bytes', () => {
    // In UTF-16 the second one starts with a smaller code unit.
    expect(scannedPrefixes(limited(['😀', '\uffee']), 'path', '')).toEqual(['\uffee', '😀']);
  });

  const text = fc.string({
    unit: fc.constantFrom('a', 'b', '/', 'state/', '😀', '\uffee'),
    maxLength: 4,
  });
  const prefixes = fc.array(
    text.filter((one) => one !== ''),
    { minLength: 1, maxLength: 10 },
  );

  it('finds a name exactly if the key may name it and it starts with the wanted prefix', () => {
    fc.assert(
      fc.property(
        prefixes,
        text,
        text,
        fc.constantFrom<Kind>('key', 'path'),
        (own, wanted, name, kind) => {
          const caller = limited(own, 'disk');
          const found = scannedPrefixes(caller, kind, wanted).filter((one) => name.startsWith(one));
          const isFound = mayName(caller, kind, name) && name.startsWith(wanted);
          expect(found).toHaveLength(isFound ? 1 : 0);
        },
      ),
    );
  });
});
