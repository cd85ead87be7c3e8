import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { titlesOf } from '../helpers/cited-tests.ts';

const PAGE = readFileSync('docs/threat-model.md', 'utf8');
const [, section = ''] = /\n## Who can't do what, and how we know\n([^]+?)\n## /.exec(PAGE) ?? [];

const TEST = /^ {2}- `(test\/[^`]+\.test\.ts)`: (.+)$/;

/** Each claim, followed by the tests that show it. */
const claims = section.split('\n- ').slice(1);

describe('what the threat model says that somebody can’t do', () => {
  it('is shown by tests that there are', () => {
    expect(claims.length).toBeGreaterThanOrEqual(20);
    const unshown = claims.filter((claim) => {
      const [, ...shown] = claim.trimEnd().split('\n');
      return (
        shown.length === 0 ||
        shown.some((line) => {
          const [, file = '', title = ''] = TEST.exec(line) ?? [];
          return !existsSync(file) || !titlesOf(file).has(title);
        })
      );
    });
    expect(unshown).toEqual([]);
  });

  it('is short enough to read where a key has leaked', () => {
    expect(readFileSync('SECURITY.md').byteLength).toBeLessThanOrEqual(8 * 1024);
  });
});
