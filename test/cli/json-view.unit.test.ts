import { describe, expect, it } from 'vitest';
import { testOutput } from './fake-output.ts';

describe('JSON that somebody stored', () => {
  it('is shown as JSON, not as fields of svc', () => {
    const { output, stdout } = testOutput({ terminal: true });
    output.answer({ key: 'k', value: { ok: true, n: [1] }, version: 1 });
    expect(stdout.text).toBe(
      'key      k\nversion  1\n\nvalue\n  {\n    "ok": true,\n    "n": [\n      1\n    ]\n  }\n',
    );
  });

  it.each([
    [true, 'true'],
    ['a "b"', String.raw`"a \"b\""`],
    [{}, '{}'],
    [[], '[]'],
  ])('is one line if it is as short as %j', (value, text) => {
    const { output, stdout } = testOutput({ terminal: true });
    output.answer({ key: 'k', value });
    expect(stdout.text).toBe(`key    k\nvalue  ${text}\n`);
  });

  it('is shown in colors, and content cannot add any', () => {
    const { output, stdout } = testOutput({ terminal: true, color: true, json: true });
    output.answer({ 'a:': ['x\u001b[31m": 1', 1.5, null, false] });
    expect(stdout.text.split('\n').slice(1, 6)).toEqual([
      '  \u001b[1;34m"a:"\u001b[0m: [',
      String.raw`    ${'\u001b'}[32m"x\u001b[31m\": 1"${'\u001b'}[0m,`,
      '    \u001b[33m1.5\u001b[0m,',
      '    \u001b[2mnull\u001b[0m,',
      '    \u001b[33mfalse\u001b[0m',
    ]);
  });

  it('has no colors in a pipe', () => {
    const { output, stdout } = testOutput({ json: true });
    output.answer({ a: [1] });
    expect(stdout.text).toBe('{"a":[1]}\n');
  });
});
