import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Replica } from '../../../daemon/replica/replica.ts';
import type { VerifierStatus } from '../../../daemon/replica/status.ts';
import { caughtUp, collectingLog, until } from './open-replica.ts';
import { Stage, tamper } from './stage.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.open();
});

afterEach(() => stage.end());

function untilWitness(
  replica: Replica,
  isThere: (witness: VerifierStatus) => boolean,
): Promise<VerifierStatus> {
  return until(() => replica.status.witness, isThere);
}

async function headSeq(): Promise<number> {
  const answer = await stage.gateway.call<{ items: { seq: number }[] }>(
    'GET',
    '/v1/ledger?limit=1',
    { key: stage.apiKey },
  );
  return answer.body.items[0]?.seq ?? 0;
}

/** Files of the project at the gateway, whose log is folded in. */
const databaseFile = (): string => join(stage.projectFolder, 'project.db');
const saved = (): string => join(stage.folder, 'saved.db');
const anotherHistory = (): void => {
  rmSync(join(stage.projectFolder, 'generations'), { recursive: true, force: true });
};

const heads = (): string => join(stage.folder, 'ledger-heads.json');
const known = (): unknown => JSON.parse(readFileSync(heads(), 'utf8'))[stage.projectId];
const goBack = (): Promise<void> =>
  stage.restart(() => {
    anotherHistory();
    rmSync(`${databaseFile()}-wal`, { force: true });
    cpSync(saved(), databaseFile());
  });

describe('the witness', () => {
  it('checks each entry as it comes, and remembers the newest for svc ledger verify', async () => {
    const replica = stage.replica();
    await caughtUp(replica, await stage.write('a'));
    for (let n = 0; n < 10; n += 1) await stage.write('n', n);
    const seq = await headSeq();
    await untilWitness(replica, (witness) => witness.ok && witness.seq === seq);
    await stage.close(replica);
    const remembered = JSON.parse(readFileSync(join(stage.folder, 'ledger-heads.json'), 'utf8'));
    expect(remembered[stage.projectId]).toMatchObject({
      seq,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('finds out that an old copy was put back, and says so until that is accepted', async () => {
    const { log, lines } = collectingLog();
    const replica = stage.replica({ log });
    await caughtUp(replica, await stage.write('a'));
    await stage.restart(() => cpSync(databaseFile(), saved()));
    for (let n = 0; n < 5; n += 1) await stage.write('n', n);
    const seq = await headSeq();
    await untilWitness(replica, (witness) => witness.ok && witness.seq === seq);
    await stage.restart(() => {
      anotherHistory();
      rmSync(`${databaseFile()}-wal`, { force: true });
      cpSync(saved(), databaseFile());
    });
    const alarm = await untilWitness(replica, ({ ok }) => !ok);
    expect(alarm).toEqual({ ok: false, seq, reason: 'truncated', file: expect.any(String) });
    const errors = lines.filter(({ level }) => level === 50);
    expect(errors).toEqual([expect.objectContaining({ seq, reason: 'truncated' })]);
    expect(errors[0]?.['msg']).toContain('Once you know why: svc ledger verify --accept');
    await stage.close(replica);
    const second = stage.replica();
    expect(second.status.witness).toEqual(alarm);
    await stage.close(second);
    const third = stage.replica();
    await caughtUp(third, await stage.write('b'));
    expect(third.status.witness).toEqual(alarm);
    await third.acceptLedger();
    const now = await headSeq();
    await untilWitness(third, (witness) => witness.ok && witness.seq === now);
    await stage.close(third);
    expect(stage.replica().status.witness).toEqual({ ok: true, seq: now });
  });

  describe('has told svc ledger verify what it saw last when it says that the gateway went back', () => {
    let replica: Replica;
    let seq: number;
    beforeEach(async () => {
      replica = stage.replica();
      await caughtUp(replica, await stage.write('a'));
      await stage.restart(() => cpSync(databaseFile(), saved()));
      await stage.write('n', 1);
      seq = await headSeq();
      await untilWitness(replica, (witness) => witness.ok && witness.seq === seq);
    });

    it('even seconds after the last write', async () => {
      await goBack();
      await untilWitness(replica, ({ ok }) => !ok);
      expect(known()).toMatchObject({ seq });
    });

    it('if the daemon was killed before it noted what it saw', async () => {
      await stage.close(replica);
      // As the files are until the next save.
      const first = { seq: 1, hash: '', at: '' };
      const witness = join(stage.replicaFolder, 'witness.json');
      const [entry] = (
        await stage.gateway.call<{ items: (typeof first)[] }>(
          'GET',
          '/v1/ledger?cursor=2&limit=1',
          {
            key: stage.apiKey,
          },
        )
      ).body.items;
      expect(existsSync(witness)).toBe(true);
      writeFileSync(witness, JSON.stringify({ head: entry, alarm: null }));
      writeFileSync(heads(), JSON.stringify({ [stage.projectId]: entry, other: first }));
      await goBack();
      const second = stage.replica();
      expect(await untilWitness(second, ({ ok }) => !ok)).toMatchObject({ seq });
      expect(known()).toMatchObject({ seq });
      // The entries of other projects stay.
      expect(JSON.parse(readFileSync(heads(), 'utf8'))).toMatchObject({ other: first });
    });

    it('if its file was removed, before or after', async () => {
      rmSync(heads(), { force: true });
      await goBack();
      const alarm = await untilWitness(replica, ({ ok }) => !ok);
      expect(known()).toMatchObject({ seq });
      await stage.close(replica);
      rmSync(heads());
      expect(stage.replica().status.witness).toEqual(alarm);
      expect(known()).toMatchObject({ seq });
    });
  });

  it('finds out that the ledger was written anew', async () => {
    const replica = stage.replica();
    await caughtUp(replica, await stage.write('a'));
    const seq = await headSeq();
    await untilWitness(replica, (witness) => witness.ok && witness.seq === seq);
    await stage.close(replica);
    await stage.restart(() => {
      anotherHistory();
      tamper(databaseFile(), `UPDATE ledger SET hash = '${'a'.repeat(64)}' WHERE seq = ${seq}`);
    });
    const second = stage.replica();
    const alarm = await untilWitness(second, ({ ok }) => !ok);
    expect(alarm).toMatchObject({ seq, reason: 'rewritten' });
  });

  it('finds out that an entry it never saw was changed', async () => {
    for (let n = 0; n < 5; n += 1) await stage.write('n', n);
    await stage.restart(() =>
      tamper(databaseFile(), "UPDATE ledger SET op = 'kv.get' WHERE seq = 4"),
    );
    const alarm = await untilWitness(stage.replica(), ({ ok }) => !ok);
    expect(alarm).toMatchObject({ seq: 4, reason: 'hash_mismatch' });
  });

  it('outlives a key that was refused', async () => {
    const replica = stage.replica();
    await caughtUp(replica, await stage.write('a'));
    const seq = await headSeq();
    await untilWitness(replica, (witness) => witness.ok && witness.seq === seq);
    await stage.close(replica);
    const unknown = `${stage.apiKey.slice(0, -8)}00000000`;
    const second = stage.replica({ apiKey: unknown });
    await until(
      () => second.status.state,
      (state) => state === 'refused',
    );
    expect(second.status.witness).toEqual({ ok: true, seq });
  });
});
