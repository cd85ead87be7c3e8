import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { FieldShape } from '../../cli/call/operation-shape.ts';
import { stringifyExact } from '../../shared/lib/json/exact-json.ts';
import { bytesOf, fieldValue, StandardInput } from '../../cli/input/values.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-values-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return `@${path}`;
}

function stdin(text = ''): StandardInput {
  async function* chunks() {
    yield Buffer.from(text);
  }
  return new StandardInput(new AbortController().signal, chunks);
}

function field(type: FieldShape['type'], more: Partial<FieldShape> = {}): FieldShape {
  return { name: 'some_field', type, summary: '', required: false, ...more };
}

const TEXT = field('string', { text: true });

describe('the value of a flag', () => {
  it.each([
    [field('integer'), '60', 60],
    [field('integer'), '-5', -5],
    [field('number'), '1.5', 1.5],
    [field('boolean'), 'true', true],
    [field('boolean'), 'false', false],
    [field('string'), '@plain', '@plain'],
    [field('string'), '-', '-'],
    [TEXT, 'as it is', 'as it is'],
    [TEXT, '@@handle', '@handle'],
    [field('json'), '{"a": [1]}', { a: [1] }],
    [field('json'), 'null', null],
    [field('array'), ['a,b', ' c '], ['a', 'b', 'c']],
    [field('string', { span: true }), '1w', '7d'],
    [field('array', { span: true }), ['req_1,+1d12h'], ['req_1', '+36h']],
  ])('%j %j', async (shape, given, value) => {
    expect(await fieldValue(shape, given, stdin())).toEqual(value);
  });

  it.each([
    [field('integer'), '1.5', '--some-field must be a whole number, not "1.5".'],
    [field('integer'), '', '--some-field must be a whole number, not "".'],
    [field('integer'), '9007199254740993', 'whole number'],
    [field('number'), 'NaN', 'a number'],
    [field('number'), '9007199254740993', 'a number up to 9007199254740991, not'],
    [field('json'), 'done', "--some-field isn't JSON: it's wrong at line 1, column 1."],
    [field('json'), '{\n "a": b}', "--some-field isn't JSON: it's wrong at line 2, column 7."],
    [field('json'), '-', "--some-field isn't JSON."],
    [field('json'), '', "--some-field isn't JSON."],
    [TEXT, '@/nowhere/at-all', '(ENOENT)'],
  ])('refuses %j %j', async (shape, given, message) => {
    const value = fieldValue(shape, given, stdin());
    await expect(value).rejects.toMatchObject({
      exit: 2,
      message: expect.stringContaining(message),
    });
  });

  it('keeps the numbers in JSON as they are typed', async () => {
    const value = await fieldValue(field('json'), '{"id": 1234567890123456789}', stdin());
    expect(stringifyExact(value)).toBe('{"id":1234567890123456789}');
  });

  it('comes from a file without its last line end', async () => {
    expect(await fieldValue(TEXT, file('secret', 'whsec\n\n'), stdin())).toBe('whsec\n');
    expect(await fieldValue(TEXT, file('crlf', 'whsec\r\n'), stdin())).toBe('whsec');
    expect(await fieldValue(field('json'), file('j.json', '{"a":1}\n'), stdin())).toEqual({ a: 1 });
  });

  it('refuses a file that is no text', async () => {
    const value = fieldValue(TEXT, file('bytes', new Uint8Array([0xff, 0xfe])), stdin());
    await expect(value).rejects.toThrow("isn't UTF-8 text");
  });

  it('comes from standard input with @- as well, as curl has it', async () => {
    expect(await fieldValue(field('json'), '@-', stdin('{"a":1}'))).toEqual({ a: 1 });
    expect(await fieldValue(TEXT, '@-', stdin('from outside\n'))).toBe('from outside');
  });

  it('comes from standard input, once', async () => {
    const input = stdin('from outside\n');
    expect(await fieldValue(TEXT, '-', input)).toBe('from outside');
    await expect(fieldValue(TEXT, '-', input)).rejects.toThrow("can't both read");
  });

  it('is bytes as they are where bytes are wanted', async () => {
    const bytes = await bytesOf(file('raw', new Uint8Array([0xff, 10])), '--body', stdin());
    expect([...bytes]).toEqual([0xff, 10]);
  });
});
