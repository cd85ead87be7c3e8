import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DamageError, DamageRegister, type Damage } from '../../shared/store/sums/damage.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

const BLOB = { project: 'prj_a', file: 'projects/prj_a/blobs/ab/abcd', what: 'blob' };
const PAGE = { project: 'prj_a', file: 'projects/prj_a/project.db', what: 'page 17' };

function opened(folder: string): { register: DamageRegister; told: Damage[] } {
  const register = new DamageRegister(folder, () => 5);
  const told: Damage[] = [];
  register.subscribe((damage) => void told.push(damage));
  return { register, told };
}

describe('the register of damage', () => {
  let data: ReturnType<typeof temporaryFolder>;
  let folder: string;
  beforeEach(() => {
    data = temporaryFolder();
    folder = data.path;
  });
  afterEach(() => data.remove());

  it('keeps an object once, and tells of it once', () => {
    const { register, told } = opened(folder);
    register.report(BLOB);
    register.report(BLOB);
    register.report(PAGE);
    expect(register.list()).toEqual([
      { ...BLOB, foundAt: 5 },
      { ...PAGE, foundAt: 5 },
    ]);
    expect(told.map(({ what }) => what)).toEqual(['blob', 'page 17']);
  });

  it('shows a process what another one found and mended', () => {
    const { register: one, told } = opened(folder);
    const { register: other } = opened(folder);
    other.report(BLOB);
    other.report(PAGE);
    expect(one.has(BLOB.file, 'blob')).toBe(true);
    expect(told).toHaveLength(2);
    one.resolve(PAGE.file);
    expect(other.list()).toEqual([{ ...BLOB, foundAt: 5 }]);
    expect(new DamageRegister(folder).list()).toEqual([{ ...BLOB, foundAt: 5 }]);
    other.resolve(BLOB.file, 'blob');
    expect(one.list()).toEqual([]);
    expect(existsSync(join(folder, 'damage.jsonl'))).toBe(false);
  });

  it('forgets what another process mended right after this one found it', () => {
    const { register: one } = opened(folder);
    one.report(BLOB);
    opened(folder).register.resolve(BLOB.file);
    expect(one.list()).toEqual([]);
  });

  it('is bounded', () => {
    const { register } = opened(folder);
    for (let page = 1; page <= 1001; page += 1) register.report({ ...PAGE, what: `page ${page}` });
    expect(register.list()).toHaveLength(1000);
  });

  it('reads what a power cut left of its file', () => {
    opened(folder).register.report(BLOB);
    appendFileSync(join(folder, 'damage.jsonl'), '{"project":null,"fi');
    expect(new DamageRegister(folder).list()).toHaveLength(1);
  });

  it('works where nothing can be written', () => {
    const { register } = opened('/proc/nowhere');
    register.report(BLOB);
    expect(register.list()).toHaveLength(1);
    register.resolve(BLOB.file);
    expect(register.list()).toEqual([]);
  });

  it('names a file by its place in the data folder', () => {
    const register = new DamageRegister('/data');
    expect(register.nameOf('/data/projects/x/project.db')).toBe('projects/x/project.db');
    expect(register.nameOf('/blobs/projects/x')).toBe('/blobs/projects/x');
  });

  it('an error of it names the object and shows no stack', () => {
    const error = new DamageError(BLOB);
    expect(error.stack).toBe(`DamageError: ${BLOB.file} (blob) is damaged.`);
  });
});
