import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  isOutdated,
  ReplicaFolder,
  type ReplicaRecord,
} from '../../../daemon/replica/sync/replica-folder.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

let temporary: ReturnType<typeof temporaryFolder>;
let folder: ReplicaFolder;

beforeEach(() => {
  temporary = temporaryFolder();
  folder = new ReplicaFolder(join(temporary.path, 'replicas', 'prj_1'));
});

afterEach(() => temporary.remove());

const record: ReplicaRecord = {
  gateway: 'https://svc.example',
  epoch: 'abc',
  position: 7,
  completeAt: null,
  contactAt: 5,
  aheadMs: -3,
  info: {
    project: { id: 'prj_1', slug: 'a', name: 'A' },
    server: {
      version: '1.0.0',
      urls: { api: 'a', mcp: 'b', hooks: 'c' },
      channels: ['email'],
      telegramBot: 'bot',
      mail: { domain: null, from: null, isKept: true },
    },
    schemaVersion: 3,
  },
};

describe('the folder of a copy', () => {
  it('is for this user alone', () => {
    folder.writeRecord(record);
    expect(statSync(folder.path).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder.path, 'replica.json')).mode & 0o777).toBe(0o600);
  });

  it('keeps the record', () => {
    expect(folder.readRecord()).toBeNull();
    folder.writeRecord(record);
    expect(folder.readRecord()).toEqual(record);
  });

  it.each([
    '',
    '{',
    '{}',
    '[]',
    '{"gateway":"x","epoch":"e","position":1,"contactAt":1,"aheadMs":0}',
    JSON.stringify({ ...record, contactAt: 8.64e15 }),
    JSON.stringify({ ...record, contactAt: -1 }),
    JSON.stringify({ ...record, completeAt: 'today' }),
    JSON.stringify({ ...record, aheadMs: null }),
  ])('takes no record from %j', (text) => {
    writeFileSync(join(folder.path, 'replica.json'), text);
    expect(folder.readRecord()).toBeNull();
  });

  it("writes and reads the client's notes in its own format", () => {
    // As the client itself wrote it.
    const theirs = '{"hash":2482571673,"version":0,"durable_frame_num":2,"generation":2}';
    writeFileSync(`${folder.databasePath}-info`, theirs);
    expect(folder.readSyncedTo()).toEqual({ generation: 2, frames: 2 });
    folder.writeSyncedTo({ generation: 2, frames: 2 });
    expect(readFileSync(`${folder.databasePath}-info`, 'utf8')).toBe(theirs);
  });

  it('believes no notes whose checksum is wrong', () => {
    const notes = '{"hash":2482571673,"version":0,"durable_frame_num":3,"generation":2}';
    writeFileSync(`${folder.databasePath}-info`, notes);
    expect(folder.readSyncedTo()).toBeNull();
  });

  it('erases all but what the witness has seen', () => {
    for (const name of ['replica.db', 'replica.db-wal', 'replica.db-shm', 'replica.db.part']) {
      writeFileSync(join(folder.path, name), 'x');
    }
    folder.writeSyncedTo({ generation: 1, frames: 0 });
    folder.writeRecord(record);
    writeFileSync(folder.witnessPath, '{}');
    expect([folder.hasCopy(), folder.hasTraces()]).toEqual([true, true]);
    folder.erase();
    expect([folder.hasCopy(), folder.hasTraces()]).toEqual([false, false]);
    expect(readdirSync(folder.path)).toEqual(['witness.json']);
  });

  it('is outdated after a week, and when it was written under a clock that was wrong', () => {
    const contactAt = Date.UTC(2026, 0, 2);
    const weekMs = 7 * 24 * 3_600_000;
    const isOld = (now: number): boolean => isOutdated({ ...record, contactAt }, now);
    expect([isOld(contactAt), isOld(contactAt + weekMs)]).toEqual([false, false]);
    expect([isOld(contactAt + weekMs + 1), isOld(contactAt - weekMs - 1)]).toEqual([true, true]);
  });

  it('tells whether anybody wrote to the files', () => {
    writeFileSync(folder.databasePath, 'x');
    const before = folder.fingerprint();
    expect(folder.fingerprint()).toBe(before);
    writeFileSync(`${folder.databasePath}-wal`, 'x');
    expect(folder.fingerprint()).not.toBe(before);
  });
});
