import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isReservedPath,
  isStateKey,
  keyProblem,
  pathOf,
  pathProblem,
  prefixProblem,
  referenceTo,
} from '../../../shared/rules/disk/disk-name.ts';

const EMPTY = 'Must not be empty.';
const UNICODE = 'Not valid Unicode.';
const CONTROL = 'Control characters are not allowed.';
const LONG = 'Longer than 512 bytes in UTF-8.';
const DOTS = 'The segments `.` and `..` are not allowed.';
const SEGMENTS = 'Write a path without empty segments: `a/b.txt`.';

describe('a key', () => {
  it.each([
    'a',
    'a/b',
    '/',
    '//',
    '/a/',
    ' ',
    ' a ',
    '%2F',
    '?#',
    '...',
    '.a',
    'a.',
    'a/.b/..c',
    'state/x',
    'evt_x',
    '__proto__',
    'é',
    'e\u0301',
    '\u00a0',
    '\u2028',
    '\ufeff',
    '\ufffd',
    '\ud7ff\ue000',
    '\u{10ffff}',
    'x'.repeat(512),
    'é'.repeat(256),
    '😀'.repeat(128),
  ])('may be %j', (key) => {
    expect(keyProblem(key)).toBeNull();
  });

  it.each([
    ['', EMPTY],
    ['\0', CONTROL],
    ['a\u0001', CONTROL],
    ['a\tb', CONTROL],
    ['a\n', CONTROL],
    ['\u001f', CONTROL],
    ['\u007f', CONTROL],
    ['\u0080', CONTROL],
    ['\u0085', CONTROL],
    ['\u009f', CONTROL],
    ['\ud800', UNICODE],
    ['a\udfff', UNICODE],
    ['\udc00\ud800', UNICODE],
    ['x'.repeat(513), LONG],
    [`x${'é'.repeat(256)}`, LONG],
    [`x${'😀'.repeat(128)}`, LONG],
    ['.', DOTS],
    ['..', DOTS],
    ['./a', DOTS],
    ['a/..', DOTS],
    ['a/../b', DOTS],
    ['a//./b', DOTS],
  ])('may not be %j', (key, problem) => {
    expect(keyProblem(key)).toBe(problem);
  });

  it('is bounded by its bytes, whatever characters they are', () => {
    const key = fc.string({ unit: 'binary', maxLength: 600 });
    const property = fc.property(key, (text) => {
      expect(keyProblem(text) === LONG && Buffer.byteLength(text) <= 512).toBe(false);
      expect(keyProblem(text) === null && Buffer.byteLength(text) > 512).toBe(false);
    });
    fc.assert(property);
  });
});

describe('a path', () => {
  it.each(['a', 'a/b.txt', ' /x', 'a b', '.hidden', '...', 'evt_x', 'disk:a', 'x'.repeat(512)])(
    'may be %j',
    (path) => {
      expect(pathProblem(path)).toBeNull();
    },
  );

  it.each([
    ['', EMPTY],
    ['/', SEGMENTS],
    ['/a', SEGMENTS],
    ['a/', SEGMENTS],
    ['a//b', SEGMENTS],
    ['disk://a', SEGMENTS],
    ['a\0', CONTROL],
    ['\ud83d', UNICODE],
    ['x'.repeat(513), LONG],
    ['a/../b', DOTS],
  ])('may not be %j', (path, problem) => {
    expect(pathProblem(path)).toBe(problem);
  });

  it('is what stands behind disk://, once', () => {
    expect(pathOf('disk://a/b')).toBe('a/b');
    expect(pathOf('a/b')).toBe('a/b');
    expect(pathOf('disk:///a')).toBe('/a');
    expect(pathOf('disk://disk://a')).toBe('disk://a');
    expect(pathOf('DISK://a')).toBe('DISK://a');
    expect(pathOf('disk://')).toBe('');
    expect(referenceTo('a/b')).toBe('disk://a/b');
    expect(pathOf(referenceTo('ä b'))).toBe('ä b');
  });
});

describe('the beginning of a name', () => {
  it.each(['', 'a', 'a/', '/', '.', '..', 'a/..', 'x'.repeat(512), '\u{10ffff}'])(
    'may be %j',
    (prefix) => {
      expect(prefixProblem(prefix)).toBeNull();
    },
  );

  it.each([
    ['\0', CONTROL],
    ['a\u0080', CONTROL],
    ['\udfff', UNICODE],
    ['x'.repeat(513), LONG],
    ['é'.repeat(257), LONG],
  ])('may not be %j, which no name begins with', (prefix, problem) => {
    expect(prefixProblem(prefix)).toBe(problem);
  });
});

describe('names that are reserved', () => {
  it('are the keys of task states', () => {
    expect(['state/', 'state/x', 'state//'].every(isStateKey)).toBe(true);
    expect(['state', 'states/x', '/state/x', 'State/x', 'a/state/x'].some(isStateKey)).toBe(false);
  });

  it('are the paths of attachments', () => {
    expect(['evt_', 'evt_x', 'evt_x/a.pdf'].every(isReservedPath)).toBe(true);
    expect(['evt', 'evt/x', 'a/evt_x', 'EVT_x', ' evt_x'].some(isReservedPath)).toBe(false);
  });
});
