import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Connection } from '../../shared/store/engine/connection.ts';
import type { SqlValue } from '../../shared/store/engine/driver.ts';

let connection: Connection;
beforeEach(() => {
  connection = new Connection(':memory:');
  connection.exec('CREATE TABLE item (value ANY) STRICT');
});
afterEach(() => connection.close());

describe('a connection', () => {
  // Any of these, bound by the driver itself, ends the process or stores something else.
  const hazards: [string, unknown][] = [
    ['true', true],
    ['false', false],
    ['a plain object', { a: 1 }],
    ['an object without a prototype', Object.create(null)],
    ['an array', ['a']],
    ['a Date', new Date(0)],
    ['undefined', undefined],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['-Infinity', Number.NEGATIVE_INFINITY],
    ['text with NUL', 'cut\0here'],
    ['an ArrayBuffer', new ArrayBuffer(4)],
    ['a DataView', new DataView(new ArrayBuffer(4))],
    ['a String object', new String('boxed')],
  ];

  it.each(hazards)('refuses to bind %s, and goes on', (_name, value) => {
    const params = [value] as SqlValue[];
    expect(() => connection.run('INSERT INTO item VALUES (?)', params)).toThrow(TypeError);
    expect(() => connection.get('SELECT ? AS value', params)).toThrow(TypeError);
    expect(() => connection.all('SELECT ? AS value', params)).toThrow(TypeError);
    expect(connection.get('SELECT count(*) AS n FROM item')).toEqual({ n: 0 });
  });

  const values: [string, SqlValue, SqlValue][] = [
    ['text', 'naïve 🙂', 'naïve 🙂'],
    ['empty text', '', ''],
    ['an integer', 42, 42],
    ['a fraction', 0.5, 0.5],
    ['the largest safe integer', Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    ['a time in milliseconds', 1_767_323_045_000, 1_767_323_045_000],
    ['a bigint', 7n, 7],
    ['null', null, null],
  ];

  it.each(values)('stores %s and gives it back', (_name, value, read) => {
    expect(connection.run('INSERT INTO item VALUES (?)', [value])).toBe(1);
    expect(connection.get('SELECT value FROM item')).toEqual({ value: read });
  });

  it('stores bytes, also those with NUL, and a view of a part', () => {
    const bytes = Buffer.from('xx\0\u00ffyy').subarray(2);
    connection.run('INSERT INTO item VALUES (?)', [bytes]);
    const row = connection.get('SELECT value FROM item');
    expect(Buffer.from(row?.['value'] as Uint8Array)).toEqual(bytes);
  });

  it('gives rows that hold their columns and nothing else', () => {
    connection.run('INSERT INTO item VALUES (?)', ['a']);
    connection.run('INSERT INTO item VALUES (?)', ['b']);
    const rows = connection.all('SELECT value, length(value) AS chars FROM item ORDER BY 1');
    expect(rows.map((row) => Object.getOwnPropertyNames(row))).toEqual([
      ['value', 'chars'],
      ['value', 'chars'],
    ]);
    const row = connection.get('SELECT value FROM item WHERE value = ?', ['a']);
    expect(Object.getOwnPropertyNames(row)).toEqual(['value']);
    expect(row && '_metadata' in row).toBe(false);
    expect(connection.get('SELECT value FROM item WHERE value = ?', ['none'])).toBeUndefined();
  });

  it('uses a prepared statement again with other values, also after a failure', () => {
    connection.exec('CREATE UNIQUE INDEX one ON item (value)');
    const sql = 'INSERT INTO item VALUES (?)';
    connection.run(sql, ['a']);
    expect(() => connection.run(sql, ['a'])).toThrow(/UNIQUE/);
    expect(connection.run(sql, ['b'])).toBe(1);
    expect(connection.all('SELECT value FROM item ORDER BY value')).toEqual([
      { value: 'a' },
      { value: 'b' },
    ]);
  });
});
