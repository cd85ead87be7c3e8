import { describe, expect, it } from 'vitest';
import { boundLines, boundValues } from '../../../gateway/approvals/bound-values.ts';

const lines = (bind: string) => boundLines(boundValues(bind));

describe('the values that an approval binds', () => {
  it('stand line by line when they are flat', () => {
    expect(lines('{"draft":false,"number":12,"sha":"3f2a"}')).toBe(
      'draft: false\nnumber: 12\nsha: 3f2a',
    );
  });

  it('tell a text from a number, and a number from its nearest double', () => {
    expect(lines('{"a":"12","b":12,"c":"true","d":null,"e":12345678901234567890}')).toBe(
      'a: "12"\nb: 12\nc: "true"\nd: null\ne: 12345678901234567890',
    );
  });

  it.each([
    ['{"a\\nb":"x"}', '"a\\nb": x'],
    ['{"a":"x\\nb: y"}', 'a: "x\\nb: y"'],
    ['{"a: 1":2}', '"a: 1": 2'],
    ['{"a":" x"}', 'a: " x"'],
    ['{"a":""}', 'a: ""'],
    ['{"a":"\\"x\\""}', 'a: "\\"x\\""'],
  ])('cannot pass for other values: %s', (bind, shown) => {
    expect(lines(bind)).toBe(shown);
  });

  it.each([
    ['[1,2]', '[\n  1,\n  2\n]'],
    ['{"a":{"b":1}}', '{\n  "a": {\n    "b": 1\n  }\n}'],
    ['{}', '{}'],
    ['5', '5'],
  ])('stand as formatted JSON otherwise: %s', (bind, shown) => {
    expect(boundValues(bind)).toEqual({ json: shown });
  });
});
