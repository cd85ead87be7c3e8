import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareWithRemembered } from '../../cli/ledger-heads.ts';
import type { LedgerHead } from '../../daemon/ledger-heads.ts';
import { entryHash, sealEntry, type LedgerEntry } from '../../shared/rules/ledger-chain.ts';
import { Connection } from '../../shared/store/engine/connection.ts';
import type { SqlValue } from '../../shared/store/engine/driver.ts';
import { TestGateway } from '../helpers/gateway.ts';

interface Verified {
  readonly ok: boolean;
  readonly first_bad_seq: number | null;
  readonly head: LedgerHead | null;
}

type Rows = readonly LedgerEntry[];

let gateway: TestGateway;
let raw: Connection;
/** The ledger as it was, and the head that someone saved then. */
let original: Rows = [];
let remembered: LedgerHead;
beforeAll(async () => {
  gateway = await TestGateway.start();
  const url = await gateway.addSource({ name: 'open' });
  for (let n = 0; n < 3; n += 1) {
    const { body } = await gateway.deliver(url, `event ${n}`);
    const event = { body: { event_id: body['event_id'] } };
    await gateway.call('POST', '/v1/inbox/claim', event);
    await gateway.call('POST', '/v1/inbox/ack', event);
  }
  raw = new Connection(join(gateway.folder, 'projects', gateway.projectId, 'project.db'));
  // An idle gateway checkpoints its log; this connection waits then.
  raw.exec('PRAGMA wal_autocheckpoint=0; PRAGMA busy_timeout=20000');
  original = raw.all('SELECT * FROM ledger ORDER BY seq') as unknown as Rows;
  const { head } = await verify();
  if (!head) throw new Error('There is no ledger.');
  remembered = head;
});
afterAll(async () => {
  raw.close();
  await gateway.stop();
});

async function verify(): Promise<Verified> {
  return (await gateway.call<Verified>('POST', '/v1/ledger/verify', { body: {} })).body;
}

function replace(rows: Rows): void {
  raw.exec('BEGIN IMMEDIATE; DELETE FROM ledger');
  for (const row of rows) {
    const names = Object.keys(row);
    const marks = names.map(() => '?').join(', ');
    const values = Object.values(row) as SqlValue[];
    raw.run(`INSERT INTO ledger (${names.join(', ')}) VALUES (${marks})`, values);
  }
  raw.exec('COMMIT');
}

/** Where the damage is found: the entry that the chain names, or the verdict on the saved head. */
async function foundIn(rows: Rows): Promise<number | string> {
  replace(rows);
  try {
    const { ok, first_bad_seq, head } = await verify();
    if (!ok) return first_bad_seq ?? 0;
    const client = {
      call: async (_operation: string, { cursor }: { cursor: number }) =>
        (await gateway.call('GET', `/v1/ledger?cursor=${cursor}&limit=1`)).body,
    };
    const asClient = client as unknown as Parameters<typeof compareWithRemembered>[0];
    const witness = await compareWithRemembered(asClient, remembered, head);
    return witness.ok ? 'nowhere' : witness.reason;
  } finally {
    replace(original);
  }
}

const rehash = (row: LedgerEntry): LedgerEntry => ({
  ...row,
  hash: entryHash(gateway.projectId, row),
});

/** The entries numbered from 1, each linked to the one before and rehashed from `from` on. */
function sealed(rows: Rows, from: number): Rows {
  let prev = '0'.repeat(64);
  return rows.map((row, index) => {
    const seq = index + 1;
    const { hash: _, ...rest } = { ...row, seq, prev_hash: prev };
    const made = seq < from ? row : sealEntry(gateway.projectId, rest);
    prev = made.hash;
    return made;
  });
}

const places = (): number[] => original.map((_, index) => index);

function changed(value: SqlValue): SqlValue {
  if (typeof value === 'number') return value + 1000;
  return value === null
    ? 'x'
    : `${String(value).slice(0, -1)}${String(value).endsWith('0') ? '1' : '0'}`;
}

describe('a ledger in a file that somebody can write to', () => {
  it('is found to be whole as long as nobody does', async () => {
    expect(await foundIn(original)).toBe('nowhere');
    expect(original.length).toBeGreaterThan(10);
  });

  it('shows the change of any field of any entry, at that entry or at the link to it', async () => {
    const columns = Object.keys(original[0] ?? {}) as (keyof LedgerEntry)[];
    expect(columns.length).toBeGreaterThan(10);
    for (const place of places()) {
      for (const column of columns.filter((name) => name !== 'seq')) {
        const rows = original.map((row, index) =>
          index === place ? { ...row, [column]: changed(row[column] ?? null) } : row,
        );
        const found = await foundIn(rows);
        expect({ place, column, found }).toEqual({ place, column, found: place + 1 });
      }
    }
  });

  it('shows an entry that was changed and hashed again, also the last', async () => {
    for (const place of places()) {
      const rows = original.map((row, index) =>
        index === place ? rehash({ ...row, agent: 'forged' }) : row,
      );
      const isLast = place === original.length - 1;
      expect(await foundIn(rows)).toBe(isLast ? 'rewritten' : place + 2);
    }
  });

  it('shows an entry that was taken out, with its number and without, and the chain sealed again', async () => {
    for (const place of places()) {
      const rest = original.filter((_, index) => index !== place);
      const isLast = place === original.length - 1;
      expect(await foundIn(rest)).toBe(isLast ? 'truncated' : place + 1);
      expect(await foundIn(sealed(rest, place + 1))).toBe('truncated');
      const closed = rest.map((row, index) => ({ ...row, seq: index + 1 }));
      expect(await foundIn(closed)).toBe(isLast ? 'truncated' : place + 1);
    }
  });

  it('shows an entry that was put in, also with the chain sealed again', async () => {
    for (const place of places()) {
      const twice = original.flatMap((row, index) => (index === place ? [row, row] : [row]));
      const numbered = twice.map((row, index) => ({ ...row, seq: index + 1 }));
      expect(await foundIn(numbered)).toBe(place + 2);
      expect(await foundIn(sealed(twice, place + 2))).toBe(
        place === original.length - 1 ? 'nowhere' : 'rewritten',
      );
    }
  });

  it('shows entries that changed places', async () => {
    for (const place of places().slice(1)) {
      const rows = [...original];
      const [one, other] = [rows[place - 1], rows[place]] as [LedgerEntry, LedgerEntry];
      rows.splice(place - 1, 2, { ...other, seq: one.seq }, { ...one, seq: other.seq });
      expect(await foundIn(rows)).toBe(place);
      expect(await foundIn(sealed(rows, place))).toBe('rewritten');
    }
  });

  it('shows a tail that was cut off, wherever, to whoever remembers the head', async () => {
    for (const place of places()) {
      expect(await foundIn(original.slice(0, place))).toBe('truncated');
    }
  });

  it('shows that it was written anew, from any entry on, to whoever remembers the head', async () => {
    for (const place of places()) {
      const rows = original.map((row, index) =>
        index >= place ? { ...row, agent: 'forged' } : row,
      );
      expect(await foundIn(sealed(rows, place + 1))).toBe('rewritten');
      // A longer history than the saved one is still a different one.
      expect(await foundIn(sealed([...rows, ...rows], place + 1))).toBe('rewritten');
    }
  });
});
