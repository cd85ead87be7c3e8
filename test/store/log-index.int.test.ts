import { fstatSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Connection } from '../../shared/store/engine/connection.ts';
import { openIndex, releaseIndex } from '../../shared/store/log/log-index.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

let folder: ReturnType<typeof temporaryFolder>;
let database: string;
let index: string;
beforeEach(() => {
  folder = temporaryFolder();
  database = join(folder.path, 'test.db');
  index = `${database}-shm`;
});
afterEach(() => folder.remove());

/** A connection that can really be closed: nothing is prepared. */
function connect(path: string): Connection {
  const connection = new Connection(path);
  connection.exec('PRAGMA journal_mode=WAL; CREATE TABLE IF NOT EXISTS item (name)');
  return connection;
}

function isOpen(file: number): boolean {
  try {
    fstatSync(file);
    return true;
  } catch {
    return false;
  }
}

describe('the index of a log', () => {
  it('stays open while SQLite has it, so that its locks stay, and serves whoever opens it next', () => {
    const connection = connect(database);
    const file = openIndex(index);
    releaseIndex(index, file);
    expect(isOpen(file)).toBe(true);
    expect(openIndex(index)).toBe(file);
    releaseIndex(index, file);
    connection.close();
    const other = connect(`${database}-other`);
    const next = openIndex(`${database}-other-shm`);
    // SQLite has deleted it: opening an index closes unused ones.
    expect(isOpen(file) && fstatSync(file).nlink === 0).toBe(false);
    other.close();
    releaseIndex(`${database}-other-shm`, next);
    expect(isOpen(next)).toBe(false);
  });

  it('is opened anew when SQLite has made another', () => {
    const connection = connect(database);
    const file = openIndex(index);
    releaseIndex(index, file);
    connection.close();
    const again = connect(database);
    const reopened = openIndex(index);
    expect(fstatSync(reopened).nlink).toBe(1);
    again.close();
    releaseIndex(index, reopened);
    expect(isOpen(reopened)).toBe(false);
  });
});
