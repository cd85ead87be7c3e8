import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import numbers from './asvs-numbers.json' with { type: 'json' };
import { anchorsOf, titlesOf } from '../helpers/cited-tests.ts';

const LIST = readFileSync('test/security/ASVS.md', 'utf8');
const PAGE = readFileSync('docs/threat-model.md', 'utf8');

const levels = new Map<string, number>(Object.entries(numbers.levels));
const [answered = '', leftOut = ''] = LIST.split('\n## What does not apply\n');

const ROW = /^- \*\*([\d.]+)\*\* L([12]), (met|in part|not met): (.+)\.$/;
const TEST = /^ {2}- `(test\/[^`]+\.test\.ts)`: (.+)$/;
const PASSAGE = /^ {2}- \[([\w/.-]+\.md)\]\(\.\.\/\.\.\/\1#([a-z-]+)\)$/;
const LEFT_OUT = /^- ([\d., ]+): (.+)\.$/;

interface Row {
  readonly number: string;
  readonly level: number;
  readonly state: string;
  readonly shown: readonly string[];
}

const lines = answered.split('\n').filter((line) => /^ *- /.test(line));
const rows = lines.reduce<Row[]>((all, line) => {
  const [, number, level, state] = ROW.exec(line) ?? [];
  if (number !== undefined && state !== undefined) {
    return [...all, { number, level: Number(level), state, shown: [] }];
  }
  const last = all.at(-1);
  return last ? [...all.slice(0, -1), { ...last, shown: [...last.shown, line] }] : all;
}, []);
const others = [...leftOut.matchAll(new RegExp(LEFT_OUT, 'gm'))].flatMap(([, named = '']) =>
  named.split(', '),
);

/** The cells of the table of counts; null is for both levels. */
function count(level: number | null): string {
  const of = (state: string): number =>
    rows.filter((row) => row.state === state && (level ?? row.level) === row.level).length;
  const out = others.filter((number) => (level ?? levels.get(number)) === levels.get(number));
  const counts = [of('met'), of('in part'), of('not met'), out.length];
  const sum = counts.reduce((all, one) => all + one, 0);
  return [level ?? 'both', ...counts, sum].join(' | ');
}

describe('the list of the ASVS', () => {
  it('has every requirement of levels 1 and 2 once, at its level', () => {
    expect(levels.size).toBe(253);
    const named = [...rows.map(({ number }) => number), ...others];
    expect(named.toSorted()).toEqual([...levels.keys()].toSorted());
    expect(rows.filter(({ number, level }) => levels.get(number) !== level)).toEqual([]);
  });

  it('has no line that is not understood', () => {
    const known = [ROW, TEST, PASSAGE];
    expect(lines.filter((line) => !known.some((form) => form.test(line)))).toEqual([]);
    const listed = leftOut.split('\n').filter((line) => line !== '');
    expect(listed.filter((line) => !LEFT_OUT.test(line))).toEqual([]);
  });

  it('shows whatever is met, by tests and passages that there are', () => {
    const unshown = rows.filter(({ state, shown }) => state === 'met' && shown.length === 0);
    expect(unshown).toEqual([]);
    const missing = rows
      .flatMap(({ shown }) => shown)
      .filter((line) => {
        const [, file, title] = TEST.exec(line) ?? [];
        if (file === undefined || title === undefined) {
          const [, page = '', anchor = ''] = PASSAGE.exec(line) ?? [];
          return !anchorsOf(readFileSync(page, 'utf8')).has(anchor);
        }
        return !existsSync(file) || !titlesOf(file).has(title);
      });
    expect(missing).toEqual([]);
    for (const { number, shown } of rows) {
      expect([number, new Set(shown).size]).toEqual([number, shown.length]);
    }
  });

  it('is counted as it is, here and on the page', () => {
    for (const level of [1, 2, null]) {
      for (const text of [LIST, PAGE]) {
        expect(text.replaceAll(/ +/g, ' ')).toContain(`| ${count(level)} |`);
      }
    }
  });
});
