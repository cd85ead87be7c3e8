import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVICE } from '../../../../shared/rules/actor.ts';
import { entryHash, sealEntry, type LedgerEntry } from '../../../../shared/rules/ledger-chain.ts';
import type { Connection } from '../../../../shared/store/engine/connection.ts';
import type { SqlValue } from '../../../../shared/store/engine/driver.ts';
import { caller } from '../../../helpers/calls.ts';
import { withRawDatabase } from '../../../helpers/database.ts';
import { FakeClock, temporaryFolder, TestGateway } from '../../../helpers/gateway.ts';
import { writerOf } from '../../../helpers/writers.ts';

interface Verified {
  readonly ok: boolean;
  readonly first_bad_seq: number | null;
  readonly reason: string | null;
  readonly checked: number;
  readonly anchored: boolean;
  readonly head: { seq: number; hash: string } | null;
}

/** A folder with a ledger of some sixty entries, to be copied and spoilt. */
const original = temporaryFolder();
let projectId: string;
let apiKey: string;
let head: number;
beforeAll(async () => {
  const gateway = await TestGateway.start({ folder: original.path });
  ({ projectId, apiKey } = gateway);
  const url = await gateway.addSource({ name: 'open' });
  // 64 at once, and what follows them: the chain has one order whatever came in which.
  await Promise.all(
    Array.from({ length: 64 }, async (_, n) => {
      const { body } = await gateway.deliver(url, `event ${n}`);
      const event = { body: { event_id: body['event_id'] } };
      await gateway.call('POST', '/v1/inbox/claim', event);
      await gateway.call('POST', '/v1/inbox/ack', event);
    }),
  );
  head = (await verify(gateway)).head?.seq ?? 0;
  await gateway.stop();
});
afterAll(() => original.remove());

async function verify(gateway: TestGateway, range: object = {}): Promise<Verified> {
  const answer = await gateway.call<Verified>('POST', '/v1/ledger/verify', {
    body: range,
    key: apiKey,
  });
  expect(answer.status).toBe(200);
  return answer.body;
}

/** Spoils a copy of the database file with the gateway closed, and verifies what it finds on opening. */
async function verifySpoilt(
  spoil: (raw: Connection) => void,
  range: object = {},
): Promise<Verified> {
  const folder = temporaryFolder();
  cpSync(original.path, folder.path, { recursive: true });
  withRawDatabase(join(folder.path, 'projects', projectId, 'project.db'), spoil);
  const gateway = await TestGateway.start({ folder: folder.path });
  try {
    return await verify(gateway, range);
  } finally {
    await gateway.stop();
    folder.remove();
  }
}

const entry = (raw: Connection, seq: number) =>
  raw.get('SELECT * FROM ledger WHERE seq = ?', [seq]) as unknown as LedgerEntry;

function store(raw: Connection, row: LedgerEntry, verb = 'INSERT OR REPLACE'): void {
  const names = Object.keys(row);
  const marks = names.map(() => '?').join(', ');
  raw.run(
    `${verb} INTO ledger (${names.join(', ')}) VALUES (${marks})`,
    Object.values(row) as SqlValue[],
  );
}

function rehash(row: LedgerEntry): LedgerEntry {
  return { ...row, hash: entryHash(projectId, row) };
}

describe('a ledger that nobody touched', () => {
  it('verifies whole and in every range', async () => {
    const whole = await verifySpoilt(() => undefined);
    expect(whole).toMatchObject({ ok: true, anchored: true, first_bad_seq: null, reason: null });
    expect(whole.checked).toBe(head);
    expect(head).toBeGreaterThanOrEqual(2 + 3 * 64);
    const part = await verifySpoilt(() => undefined, { from_seq: 10, to_seq: 30 });
    expect(part).toMatchObject({ ok: true, anchored: false, checked: 21 });
  });
});

const cut = (raw: Connection) => void raw.run('DELETE FROM ledger WHERE seq > 100');
const spoil = (raw: Connection) => void raw.run("UPDATE ledger SET op = 'x' WHERE seq IN (20, 40)");

describe('a ledger in which somebody', () => {
  const columns: [string, SqlValue][] = [
    ['at', '2026-01-01T00:00:00.000Z'],
    ['op', 'inbox_nack'],
    ['agent', 'somebody'],
    ['key_id', null],
    ['subject', 'evt_other'],
    ['outcome', 'error'],
    ['code', 'NOT_FOUND'],
    ['result_digest', '0'.repeat(64)],
    ['hash', '0'.repeat(64)],
  ];

  it.each(columns)('edited %s is found at that entry', async (column, value) => {
    const row = withRawDatabase(join(original.path, 'projects', projectId, 'project.db'), (raw) =>
      raw.get("SELECT seq FROM ledger WHERE op = 'inbox_ack' ORDER BY seq LIMIT 1"),
    );
    const seq = Number(row?.['seq']);
    const found = await verifySpoilt((raw) =>
      raw.run(`UPDATE ledger SET ${column} = ? WHERE seq = ?`, [value, seq]),
    );
    expect(found).toMatchObject({ ok: false, first_bad_seq: seq, reason: 'hash_mismatch' });
  });

  it('edited an entry and hashed it again is found at the next', async () => {
    const found = await verifySpoilt((raw) => {
      store(raw, rehash({ ...entry(raw, 20), subject: 'evt_other' }));
    });
    expect(found).toMatchObject({ ok: false, first_bad_seq: 21, reason: 'link_broken' });
  });

  it.each([1, 20])('deleted entry %i is found there', async (seq) => {
    const found = await verifySpoilt((raw) => raw.run('DELETE FROM ledger WHERE seq = ?', [seq]));
    expect(found).toMatchObject({ ok: false, first_bad_seq: seq, reason: 'seq_gap' });
  });

  it('deleted an entry and closed the gap is found there', async () => {
    const found = await verifySpoilt((raw) => {
      raw.run('DELETE FROM ledger WHERE seq = 20');
      raw.run('UPDATE ledger SET seq = -seq WHERE seq > 20');
      raw.run('UPDATE ledger SET seq = -seq - 1 WHERE seq < 0');
    });
    expect(found).toMatchObject({ ok: false, first_bad_seq: 20, reason: 'hash_mismatch' });
  });

  it('inserted an entry is found there', async () => {
    const found = await verifySpoilt((raw) => {
      raw.run('UPDATE ledger SET seq = -seq WHERE seq >= 20');
      raw.run('UPDATE ledger SET seq = -seq + 1 WHERE seq < 0');
      const forged = { ...entry(raw, 19), seq: 20, prev_hash: entry(raw, 19).hash };
      store(raw, rehash(forged), 'INSERT');
    });
    expect(found).toMatchObject({ ok: false, first_bad_seq: 21, reason: 'hash_mismatch' });
  });

  it('swapped two entries is found at the first', async () => {
    const found = await verifySpoilt((raw) => {
      const [one, two] = [entry(raw, 20), entry(raw, 30)];
      store(raw, { ...two, seq: 20 });
      store(raw, { ...one, seq: 30 });
    });
    expect(found).toMatchObject({ ok: false, first_bad_seq: 20, reason: 'hash_mismatch' });
  });

  it('cut the tail off is found by whoever kept the head', async () => {
    expect(await verifySpoilt(cut, { to_seq: head })).toMatchObject({
      ok: false,
      first_bad_seq: 101,
      reason: 'truncated',
    });
    // Without that knowledge the shorter chain is a chain: its head is what differs.
    expect(await verifySpoilt(cut)).toMatchObject({ ok: true, head: { seq: 100 } });
  });

  it('wrote all of it anew has another head', async () => {
    const before = await verifySpoilt(() => undefined);
    const after = await verifySpoilt((raw) => {
      let prev = '0'.repeat(64);
      for (const row of raw.all('SELECT * FROM ledger ORDER BY seq') as unknown as LedgerEntry[]) {
        const { hash: _old, ...rest } = row;
        const sealed = sealEntry(projectId, { ...rest, agent: 'forged', prev_hash: prev });
        store(raw, sealed);
        prev = sealed.hash;
      }
    });
    expect(after).toMatchObject({ ok: true, head: { seq: before.head?.seq } });
    expect(after.head?.hash).not.toBe(before.head?.hash);
  });

  it('touched an entry outside the range is not found in it', async () => {
    expect(await verifySpoilt(spoil, { from_seq: 22, to_seq: 39 })).toMatchObject({ ok: true });
    expect(await verifySpoilt(spoil, { from_seq: 22 })).toMatchObject({ first_bad_seq: 40 });
    expect(await verifySpoilt(spoil, { to_seq: 19 })).toMatchObject({ ok: true, checked: 19 });
  });
});

describe('a long ledger', () => {
  it('is verified without holding the event loop', async () => {
    const gateway = await TestGateway.start();
    const project = await gateway.gateway.projects.find(gateway.projectId);
    if (!project) throw new Error('no project');
    const ledgerWriter = await project.ledgerWriter();
    const jobs = Array.from({ length: 500 }, () =>
      writerOf(project).write(async (repositories) => {
        for (let n = 0; n < 100; n += 1) {
          const action = { actor: SERVICE, op: 'test.filled', subject: `n${n}` };
          await ledgerWriter.record(repositories, action, Date.now());
        }
      }),
    );
    await Promise.all(jobs);
    const { call } = await caller(gateway, gateway.apiKey);
    /** How many times others had had a turn before each read. */
    const turnsBefore: number[] = [];
    let turns = 0;
    let next = setImmediate(function turn() {
      turns += 1;
      next = setImmediate(turn);
    });
    const read = project.store.read.bind(project.store);
    project.store.read = (look) => {
      turnsBefore.push(turns);
      return read(look);
    };
    const { value } = await call('ledger_verify', {});
    clearImmediate(next);
    expect(value).toMatchObject({ ok: true, first_bad_seq: null });
    expect(value['checked']).toBeGreaterThan(50_000);
    // A thousand entries at a time, and a turn for others in between.
    expect(new Set(turnsBefore).size).toBeGreaterThan(50);
    await gateway.stop();
  });
});

describe('what the ledger records', () => {
  interface Entry {
    readonly op: string;
    readonly outcome: string;
    readonly code: string | null;
    readonly at: string;
    readonly seq: number;
    readonly subject: string | null;
  }

  it('is each refusal by state once, and no refusal by form, scope or repeat', async () => {
    const gateway = await TestGateway.start();
    const url = await gateway.addSource({ name: 'open' });
    const event_id = String((await gateway.deliver(url, 'one')).body['event_id']);
    const entries = async (): Promise<Entry[]> =>
      (await gateway.call<{ items: Entry[] }>('GET', '/v1/ledger?limit=500')).body.items;
    const start = (await entries()).length;

    expect((await gateway.call('POST', '/v1/inbox/ack', { body: { event_id } })).status).toBe(409);
    const refused = (await entries())[0];
    expect(refused).toMatchObject({
      op: 'inbox_ack',
      outcome: 'error',
      code: 'EVENT_NOT_CLAIMABLE',
      subject: event_id,
    });
    expect(await entries()).toHaveLength(start + 1);

    const reader = await gateway.key('inbox:read');
    const silent: [string, string, object, string][] = [
      ['POST', '/v1/inbox/claim', { event_id: 'nonsense' }, gateway.apiKey],
      ['POST', '/v1/inbox/claim', { event_id, extra: 1 }, gateway.apiKey],
      ['POST', '/v1/inbox/claim', { event_id }, reader],
      ['POST', '/v1/keys', { name: 'k', scopes: ['admin'] }, reader],
    ];
    const before = (await entries()).length;
    for (const [method, path, body, key] of silent) {
      expect((await gateway.call(method, path, { body, key })).status).toBeGreaterThanOrEqual(400);
    }
    expect(await entries()).toHaveLength(before);

    const headers = { 'idempotency-key': 'once' };
    for (let n = 0; n < 3; n += 1) {
      const claimed = await gateway.call('POST', '/v1/inbox/claim', {
        body: { event_id },
        headers,
      });
      expect(claimed.status).toBe(200);
    }
    const claims = (await entries()).filter(({ op }) => op === 'inbox_claim');
    expect(claims).toHaveLength(1);
    await gateway.deliver(url, 'one');
    expect(await entries()).toHaveLength(before + 1);
    expect((await gateway.call('POST', '/v1/ledger/verify', { body: {} })).body).toMatchObject({
      ok: true,
    });
    await gateway.stop();
  });

  it('is found by time: at or after since, before until', async () => {
    const clock = new FakeClock();
    const gateway = await TestGateway.start({ clock });
    const url = await gateway.addSource({ name: 'open' });
    const times: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      clock.advance(1000);
      times.push(new Date(clock.now()).toISOString());
      await gateway.deliver(url, `a${n}`);
      await gateway.deliver(url, `b${n}`);
    }
    const at = async (query: string): Promise<string[]> => {
      const path = `/v1/ledger?op=event.received&${query}`;
      const { body } = await gateway.call<{ items: Entry[] }>('GET', path);
      return body.items.map((one) => one.at);
    };
    const newestFirst = (from: number, to: number) =>
      times
        .slice(from, to)
        .flatMap((time) => [time, time])
        .toReversed();
    expect(await at(`since=${times[2]}`)).toEqual(newestFirst(2, 6));
    expect(await at(`until=${times[2]}`)).toEqual(newestFirst(0, 2));
    expect(await at(`since=${times[1]}&until=${times[4]}`)).toEqual(newestFirst(1, 4));
    expect(await at(`since=${times[4]}&until=${times[1]}`)).toEqual([]);
    expect(await at('since=2099-01-01T00:00:00Z')).toEqual([]);
    expect(await at('until=2000-01-01T00:00:00Z')).toEqual([]);

    const walked: number[] = [];
    for (let cursor = ''; ;) {
      const path = `/v1/ledger?limit=4${cursor}`;
      const { body } = await gateway.call<{ items: Entry[]; next_cursor: number | null }>(
        'GET',
        path,
      );
      walked.push(...body.items.map(({ seq }) => seq));
      if (body.next_cursor === null) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(walked).toEqual(Array.from({ length: walked.length }, (_, n) => walked.length - n));
    await gateway.stop();
  });
});
