import { assert, oneof, property, string, webPath } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseUri, uriOf } from '../../../../shared/api/mcp/resources/uri.ts';
import { keyProblem } from '../../../../shared/rules/disk/disk-name.ts';

const NAMES = oneof(
  string({ minLength: 1, maxLength: 60, unit: 'grapheme' }),
  webPath({ size: 'small' }),
).filter((name) => keyProblem(name) === null);

describe('the address of a resource', () => {
  it('leads back to the name, and stays as it is when software for URLs reads it', () => {
    assert(
      property(NAMES, (name) => {
        const uri = uriOf({ scheme: 'kv', name });
        expect(parseUri(uri)).toEqual({ scheme: 'kv', name });
        expect(new URL(uri).href).toBe(uri);
        expect(uri).toMatch(/^[\x21-\x7e]+$/);
      }),
    );
  });

  it.each([
    ['reports/may.pdf', 'disk://reports/may.pdf'],
    ['Notes/Größe 1.md', 'disk://Notes/Gr%C3%B6%C3%9Fe%201.md'],
    ['a?b#c%d:e@f', 'disk://a%3Fb%23c%25d%3Ae%40f'],
    ['/a//b/', 'disk:///a//b/'],
  ])('of %s is %s', (name, uri) => {
    expect(uriOf({ scheme: 'disk', name })).toBe(uri);
  });

  it('fits the longest name there may be', () => {
    const name = 'ä'.repeat(256);
    expect(parseUri(uriOf({ scheme: 'kv', name }))?.name).toBe(name);
  });

  it.each(['', 'kv:', 'kv://', 'kv:a', 'KV://a', '://a', 'kv://%', 'kv://%ff', ' kv://a'])(
    'is not %j',
    (uri) => {
      expect(parseUri(uri)).toBeNull();
    },
  );
});
