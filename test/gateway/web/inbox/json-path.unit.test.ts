import { describe, expect, it } from 'vitest';
import { pathText, pointerOf, valueAt } from '../../../../gateway/web/ui/json/json-path.ts';

const DOCUMENT = { a: { 'b/c~d': [{ e: 1 }, null] }, 'é "x"': { '': 2 } };

describe('a place in a payload', () => {
  it.each([
    [[], DOCUMENT, '.'],
    [['a'], DOCUMENT.a, '.a'],
    [['a', 'b/c~d', 0, 'e'], 1, '.a["b/c~d"][0].e'],
    [['a', 'b/c~d', 1], null, '.a["b/c~d"][1]'],
    [['é "x"', ''], 2, '.["\\u00e9 \\"x\\""][""]'],
  ])('%j goes into a URL and back, and is written as jq reads it', (keys, value, path) => {
    expect(valueAt(DOCUMENT, pointerOf(keys))).toEqual({ keys, value });
    expect(pathText(keys)).toBe(path);
  });

  it.each([
    'a',
    '/b',
    '/a/b~1c~0d/2',
    '/a/b~1c~0d/-1',
    '/a/b~1c~0d/0/e/f',
    '/__proto__',
    '/constructor',
  ])('%s is none', (pointer) => expect(valueAt(DOCUMENT, pointer)).toBeNull());
});
