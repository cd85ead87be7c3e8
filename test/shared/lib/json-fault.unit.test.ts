import { describe, expect, it } from 'vitest';
import { jsonFault } from '../../../shared/lib/json/json-fault.ts';

describe('where a text stops being JSON', () => {
  it.each([
    ['{bad', 'line 1, column 2'],
    ['{"a":}', 'line 1, column 6'],
    ['{"a":1,}', 'line 1, column 8'],
    ['[1,]', 'line 1, column 4'],
    ['[1 2]', 'line 1, column 4'],
    ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3'],
    ['{"a":1} x', 'line 1, column 9'],
    ['{"a":01}', 'line 1, column 7'],
    ['["a\n"]', 'line 1, column 2'],
    [String.raw`["\x"]`, 'line 1, column 2'],
    ["{'a':1}", 'line 1, column 2'],
    ['', 'line 1, column 1'],
    ['[', 'line 1, column 2'],
    ['[[1]', 'line 1, column 5'],
    ['{"a"', 'line 1, column 5'],
    ['}', 'line 1, column 1'],
    ['nul', 'line 1, column 1'],
  ])('%j: %s', (text, place) => {
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
    expect(jsonFault(text)).toBe(place);
  });

  it.each(['{}', '[]', ' [ 1 , {"a":[null,true,false]} , "x\\u00e9\\n" , -1.5e+3 ] ', '"a"', '0'])(
    '%j is JSON',
    (text) => {
      expect(() => JSON.parse(text) as unknown).not.toThrow();
      expect(jsonFault(text)).toBeNull();
    },
  );

  it('takes long and deep texts', () => {
    expect(jsonFault(`["${'x'.repeat(1_000_000)}"`)).toBe('line 1, column 1000004');
    expect(jsonFault('['.repeat(500_000))).toBe('line 1, column 500001');
  });
});
