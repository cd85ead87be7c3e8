import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  endHistory,
  readState,
  resume,
  writeFirstState,
  writeState,
  type DiskState,
  type LogState,
} from '../../shared/store/log/log-state.ts';

const told: LogState = {
  epoch: 'abcdefghijABCDEFGHIJ12',
  generation: 7,
  salts: '0011223344556677',
  followedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
  isCheckpointed: false,
  fileMarks: null,
};
const untold: LogState = { ...told, salts: null, fileMarks: '4096-1' };
const eighth = { ...told, generation: 8, salts: null, fileMarks: '4096-1' };

function found(salts: string | null, hasArchive = false, fileMarks = '4096-1'): DiskState {
  return { salts, hasArchive, fileMarks };
}

describe('a history, when its database is opened again', () => {
  const { salts } = told;

  it.each<[string, LogState, DiskState, LogState | null]>([
    ['the log is the one that was told of', told, found(salts), told],
    [
      'it is, and was about to be rotated',
      told,
      found(salts, true),
      { ...told, isCheckpointed: true },
    ],
    ['it was archived and emptied', told, found(null, true), eighth],
    ['it was archived and begun in place', told, found('ff'.repeat(8), true), eighth],
    ['it was emptied by somebody else', told, found(null), null],
    ['it was begun anew by somebody else', told, found('ff'.repeat(8)), null],
    ['nobody was told of a frame, and there is none', untold, found(null), untold],
    ['nobody was told of a frame, and there are some', untold, found(salts), untold],
    ['somebody else wrote to the file', untold, found(null, false, '8192-2'), null],
    ['somebody else wrote to the file and the log', untold, found(salts, false, '4096-2'), null],
    [
      'it was archived and emptied, after an earlier try',
      { ...told, isCheckpointed: true },
      found(null, true),
      eighth,
    ],
  ])('%s', (_what, state, what, expected) => {
    expect(resume(state, what)).toEqual(expected);
  });
});

describe('the file of the state', () => {
  let parent: string;
  let folder: string;
  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'svc-test-'));
    folder = join(parent, 'generations');
  });
  afterEach(() => rmSync(parent, { recursive: true }));
  const file = (): string => join(folder, 'state.json');

  it('is read as it was written', () => {
    writeFirstState(folder, { followedAt: 0, fileMarks: '1-2' });
    for (const state of [told, untold, { ...told, isCheckpointed: true }]) {
      writeState(folder, state);
      expect(readState(folder)).toEqual(state);
    }
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({
      epoch: told.epoch,
      generation: 7,
      salts: told.salts,
      followed_at: '2026-01-02T03:04:05.000Z',
      folded_in: true,
      file: null,
    });
  });

  it('begins a history of its own each time, with nothing of the one before', () => {
    const one = writeFirstState(folder, { followedAt: 5, fileMarks: '1-2' });
    expect(one).toMatchObject({ generation: 1, salts: null, followedAt: 5, isCheckpointed: false });
    writeFileSync(join(folder, '1.wal'), 'of another history');
    const other = writeFirstState(folder, { followedAt: 5, fileMarks: '1-2' });
    expect(other.epoch).not.toBe(one.epoch);
    expect(() => readFileSync(join(folder, '1.wal'))).toThrow(/ENOENT/);
    endHistory(folder);
    expect(readState(folder)).toBeNull();
    expect(() => endHistory(folder)).not.toThrow();
  });

  it.each([
    ['no JSON', '{"epoch"'],
    ['a list', '[]'],
    ['a short epoch', { epoch: 'abc' }],
    ['an epoch that is a path', { epoch: '../../../../../../etc' }],
    ['no generation', { generation: undefined }],
    ['generation 0', { generation: 0 }],
    ['half a generation', { generation: 1.5 }],
    ['salts that are a number', { salts: 1 }],
    ['both salts and marks', { file: '1-2' }],
    ['neither salts nor marks', { salts: null }],
    ['no time', { followed_at: 'yesterday' }],
    ['an odd flag', { folded_in: 1 }],
  ])('is not believed with %s', (_what, change) => {
    writeFirstState(folder, { followedAt: 0, fileMarks: '1-2' });
    writeState(folder, told);
    const whole = JSON.parse(readFileSync(file(), 'utf8')) as object;
    expect(readState(folder)).toEqual(told);
    writeFileSync(
      file(),
      typeof change === 'string' ? change : JSON.stringify({ ...whole, ...change }),
    );
    expect(readState(folder)).toBeNull();
  });
});
