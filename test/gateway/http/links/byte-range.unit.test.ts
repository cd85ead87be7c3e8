import { describe, expect, it } from 'vitest';
import { askedRange } from '../../../../gateway/http/links/byte-range.ts';

const HUGE = '9'.repeat(400);

describe('a Range header', () => {
  it.each([
    ['bytes=0-0', { start: 0, end: 0 }],
    ['bytes=2-5', { start: 2, end: 5 }],
    ['BYTES=2-5', { start: 2, end: 5 }],
    ['bytes= 2-5 ', { start: 2, end: 5 }],
    ['bytes=9-', { start: 9, end: 9 }],
    ['bytes=0-99', { start: 0, end: 9 }],
    [`bytes=3-${HUGE}`, { start: 3, end: 9 }],
    ['bytes=-3', { start: 7, end: 9 }],
    ['bytes=-10', { start: 0, end: 9 }],
    [`bytes=-${HUGE}`, { start: 0, end: 9 }],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=10-20', 'unsatisfiable'],
    [`bytes=${HUGE}-`, 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
  ])('%.40s is understood', (header, asked) => {
    expect(askedRange(header, 10)).toEqual(asked);
  });

  it.each([
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=5-4',
    'bytes=a-b',
    'bytes=1.5-2',
    'bytes=--1',
    'bytes=0-1,3-4',
    'bytes=0-1,',
    'bytes = 0-1',
    'items=0-1',
  ])('%s is answered with the whole', (header) => {
    expect(askedRange(header, 10)).toBe('whole');
  });

  it('has nothing to ask of an empty file', () => {
    expect(askedRange('bytes=0-', 0)).toBe('unsatisfiable');
    expect(askedRange('bytes=-5', 0)).toBe('whole');
  });
});
