import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { titlesOf } from '../helpers/cited-tests.ts';

const TEXT = readFileSync('test/fault/README.md', 'utf8');
const SHOWN = /^- `(test\/[^`]+\.test\.ts)`: (.+)$/;

interface Shown {
  readonly file: string;
  readonly title: string;
}

const lines = TEXT.split('\n');
const shown: readonly Shown[] = lines.flatMap((line) => {
  const [, file, title] = SHOWN.exec(line) ?? [];
  return file !== undefined && title !== undefined ? [{ file, title }] : [];
});

describe('the table of faults', () => {
  it('names tests that there are', () => {
    expect(shown.length).toBeGreaterThan(150);
    const missing = shown.filter(
      ({ file, title }) => !existsSync(file) || !titlesOf(file).has(title),
    );
    expect(missing).toEqual([]);
  });

  it('lists every fault once, in order, each with what happens and what shows it', () => {
    const headings = lines.filter((line) => line.startsWith('## ')).map((line) => line.slice(3));
    expect(headings.map((heading) => heading.split(' ')[0])).toEqual(
      Array.from({ length: 36 }, (_, index) => `F${index + 1}`),
    );
    const listed = [...TEXT.matchAll(/^\| \[(F\d+ [^\]]+)\]\(#([^)]+)\)/gm)];
    expect(listed.map(([, heading]) => heading)).toEqual(headings);
    for (const [, heading = '', anchor] of listed) {
      expect(anchor).toBe(
        heading
          .toLowerCase()
          .replaceAll(/[^a-z0-9 -]/g, '')
          .replaceAll(' ', '-'),
      );
    }
    const sections = TEXT.split(/^## .*$/m).slice(1);
    for (const [index, section] of sections.entries()) {
      const [words = ''] = section.trim().split('\n\n');
      expect({ fault: headings[index], isTold: /^[A-Z0-9][^]*\.$/.test(words) }).toEqual({
        fault: headings[index],
        isTold: true,
      });
      expect({ fault: headings[index], isShown: /^- `/m.test(section) }).toEqual({
        fault: headings[index],
        isShown: true,
      });
    }
  });

  it('names no test twice for a fault, and writes no line that is not understood', () => {
    const items = lines.filter((line) => line.startsWith('- '));
    expect(items.filter((line) => !SHOWN.test(line))).toEqual([]);
    for (const section of TEXT.split(/^## /m)) {
      const named = section.split('\n').filter((line) => SHOWN.test(line));
      expect(new Set(named).size).toBe(named.length);
    }
  });
});
