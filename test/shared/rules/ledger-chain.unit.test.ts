import { createHash, createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../shared/rules/canonical-json.ts';
import {
  CHAIN_START,
  GENESIS_HASH,
  entryHash,
  keyedDigest,
  sealEntry,
  verifyChunk,
  type LedgerEntry,
} from '../../../shared/rules/ledger-chain.ts';
import { growsInProportion } from '../../helpers/growth.ts';

const PROJECT = 'prj_0123456789abcdef';

const text = fc.string({ unit: 'binary', maxLength: 20 });
const optional = fc.option(text);
const entryArbitrary = fc.record({
  seq: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  at: text,
  op: text,
  actor: optional,
  agent: optional,
  platform: optional,
  key_id: optional,
  subject: optional,
  request_id: optional,
  outcome: fc.constantFrom('ok' as const, 'error' as const),
  code: optional,
  input_digest: optional,
  result_digest: optional,
  prev_hash: text,
});

function chain(length: number, actor: string | null = null): LedgerEntry[] {
  const entries: LedgerEntry[] = [];
  for (let seq = 1; seq <= length; seq++) {
    entries.push(
      sealEntry(PROJECT, {
        seq,
        at: '2026-01-02T03:04:05.678Z',
        op: 'kv_set',
        actor,
        agent: 'tester',
        platform: null,
        key_id: 'key_1',
        subject: `k${seq}`,
        request_id: null,
        outcome: 'ok',
        code: null,
        input_digest: 'a'.repeat(64),
        result_digest: null,
        prev_hash: entries.at(-1)?.hash ?? GENESIS_HASH,
      }),
    );
  }
  return entries;
}

const rehash = (entry: LedgerEntry): LedgerEntry => ({
  ...entry,
  hash: entryHash(PROJECT, entry),
});

describe('entryHash', () => {
  it('is SHA-256 over the prefix and the general JCS text', () => {
    fc.assert(
      fc.property(entryArbitrary, fc.string(), (entry, project) => {
        const { actor, ...rest } = entry;
        const [version, covered] = actor === null ? ['v1', rest] : ['v2', entry];
        const jcs = canonicalJson({ project, ...covered });
        const hashed = `svc-ledger-${version}\n${jcs}`;
        const expected = createHash('sha256').update(hashed).digest('hex');
        expect(entryHash(project, entry)).toBe(expected);
        const stored = { ...entry, hash: 'ignored' };
        expect(entryHash(project, stored)).toBe(expected);
      }),
    );
  });

  it('is pinned, since stored ledgers depend on it', () => {
    expect(chain(2).map((entry) => entry.hash)).toMatchInlineSnapshot(`
      [
        "8c83d8c0a4d5beb508e77b0de717ff89e8155f8394762ecc6e6234c7bd30d2ec",
        "4aa32f3b81e26b81d81089515c728ff1d222ec0e4120ed5462b4dd986d1264dc",
      ]
    `);
    expect(chain(2, 'key_1').map((entry) => entry.hash)).toMatchInlineSnapshot(`
      [
        "a0012a05d6e1d97f54361d26dc38530a09e09d8f223e9e51d6a964c3150fed77",
        "865eea9b1a50c0e30626e6484fe6ab84207f2f289772cfddb1bb0447d6806510",
      ]
    `);
  });
});

describe('a chain in which entries begin to name who did it', () => {
  it('is intact, and broken where a name is taken away', () => {
    const old = chain(2);
    const named = sealEntry(PROJECT, {
      ...(chain(3, 'chn_1')[2] as LedgerEntry),
      prev_hash: old[1]?.hash ?? '',
    });
    expect(verifyChunk(PROJECT, CHAIN_START, [...old, named])).toMatchObject({ ok: true });
    const { actor: _, ...nameless } = named;
    for (const entry of [nameless, { ...named, actor: null }, { ...named, actor: 'service' }]) {
      expect(verifyChunk(PROJECT, CHAIN_START, [...old, entry])).toEqual({
        ok: false,
        fault: { seq: 3, reason: 'hash_mismatch' },
      });
    }
  });
});

describe('sealEntry', () => {
  it('keeps only text that a database gives back unchanged', () => {
    const [entry] = chain(1);
    if (entry === undefined) throw new Error('no entry');
    const sealed = sealEntry(PROJECT, { ...entry, agent: 'a\ud800b', subject: 'c\0d' });
    expect(sealed).toMatchObject({ agent: 'a\ufffdb', subject: 'c\ufffdd', platform: null });
    expect(entryHash(PROJECT, sealed)).toBe(sealed.hash);
  });
});

describe('keyedDigest', () => {
  it('is HMAC-SHA-256 over the canonical text', () => {
    const key = Buffer.from('k'.repeat(32));
    const expected = createHmac('sha256', key).update('{"a":1,"b":[]}').digest('hex');
    expect(keyedDigest(key, { b: [], a: 1 })).toBe(expected);
    expect(keyedDigest(Buffer.from('other'), { b: [], a: 1 })).not.toBe(expected);
  });
});

const edit = (entries: LedgerEntry[], seq: number, change: Partial<LedgerEntry>) =>
  entries.map((entry) => (entry.seq === seq ? { ...entry, ...change } : entry));

describe('verifyChunk', () => {
  it('accepts a chain in chunks of any size', () => {
    const entries = chain(10);
    let state = CHAIN_START;
    for (const size of [1, 0, 4, 5]) {
      const chunk = entries.slice(state.expectedSeq - 1, state.expectedSeq - 1 + size);
      const result = verifyChunk(PROJECT, state, chunk);
      if (!result.ok) throw new Error(result.fault.reason);
      state = result.state;
    }
    expect(state).toEqual({ expectedSeq: 11, prevHash: entries[9]?.hash, anchored: true });
  });

  it('begins in the middle with a hash taken on trust', () => {
    const entries = chain(5);
    const start = { expectedSeq: 3, prevHash: entries[1]?.hash ?? '', anchored: false };
    expect(verifyChunk(PROJECT, start, entries.slice(2))).toEqual({
      ok: true,
      state: { expectedSeq: 6, prevHash: entries[4]?.hash, anchored: false },
    });
  });

  it.each<[string, (entries: LedgerEntry[]) => LedgerEntry[], number, string]>([
    ['an edited field', (all) => edit(all, 3, { op: 'kv_delete' }), 3, 'hash_mismatch'],
    ['an edited hash', (all) => edit(all, 3, { hash: 'f'.repeat(64) }), 3, 'hash_mismatch'],
    [
      'an edited field that became null',
      (all) => edit(all, 3, { agent: null }),
      3,
      'hash_mismatch',
    ],
    [
      'an entry edited and hashed anew',
      (all) => all.map((entry) => (entry.seq === 3 ? rehash({ ...entry, op: 'x' }) : entry)),
      4,
      'link_broken',
    ],
    ['a missing entry', (all) => all.filter((entry) => entry.seq !== 3), 3, 'seq_gap'],
    ['a missing first entry', (all) => all.slice(1), 1, 'seq_gap'],
    ['a repeated entry', (all) => [...all.slice(0, 3), ...all.slice(2)], 4, 'seq_gap'],
    [
      'two entries exchanged',
      (all) => [...all.slice(0, 2), ...all.slice(2, 4).toReversed(), ...all.slice(4)],
      3,
      'seq_gap',
    ],
    [
      'an entry removed and the rest renumbered',
      (all) =>
        all.filter((entry) => entry.seq !== 3).map((entry, i) => rehash({ ...entry, seq: i + 1 })),
      3,
      'link_broken',
    ],
  ])('finds %s', (_, tamper, seq, reason) => {
    expect(verifyChunk(PROJECT, CHAIN_START, tamper(chain(6)))).toEqual({
      ok: false,
      fault: { seq, reason },
    });
  });

  it('refuses the ledger of another project', () => {
    expect(verifyChunk('prj_other', CHAIN_START, chain(1))).toMatchObject({
      fault: { seq: 1, reason: 'hash_mismatch' },
    });
  });

  it('checks a whole ledger in a time that grows with its entries and no faster', () => {
    const entries = chain(20_000);
    const check = (count: number): void =>
      expect(verifyChunk(PROJECT, CHAIN_START, entries.slice(0, count)).ok).toBe(true);
    expect(growsInProportion(check, entries.length)).toBe(true);
  });
});
