import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isoTime, parseIso, systemClock } from '../../../shared/lib/clock.ts';
import { growsInProportion } from '../../helpers/growth.ts';

describe('systemClock', () => {
  it('holds still during a small step back and follows a large one', () => {
    let wall = 1_000_000;
    const clock = systemClock(() => wall);
    expect(clock.now()).toBe(1_000_000);
    wall = 940_000;
    expect(clock.now()).toBe(1_000_000);
    wall = 1_000_001.7;
    expect(clock.now()).toBe(1_000_001);
    wall = 940_000;
    expect(clock.now()).toBe(940_000);
    wall = 940_001;
    expect(clock.now()).toBe(940_001);
  });

  it('tells the time of the machine', () => {
    const before = Date.now();
    const told = systemClock().now();
    expect(told).toBeGreaterThanOrEqual(before);
    expect(told).toBeLessThanOrEqual(Date.now());
  });
});

describe('isoTime', () => {
  it('always has milliseconds and Z', () => {
    expect(isoTime(0)).toBe('1970-01-01T00:00:00.000Z');
    expect(isoTime(253_402_300_799_999)).toBe('9999-12-31T23:59:59.999Z');
    expect(isoTime(-62_167_219_200_000)).toBe('0000-01-01T00:00:00.000Z');
  });

  it.each([253_402_300_800_000, -62_167_219_200_001, Number.NaN, Infinity])(
    'refuses %s',
    (time) => {
      expect(() => isoTime(time)).toThrow(RangeError);
    },
  );
});

const refuse = (length: number): void =>
  expect(parseIso(`2026-01-02T03:04:05.${'1'.repeat(length)}`)).toBeNull();

describe('parseIso', () => {
  it.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05.6Z', '2026-01-02T03:04:05.600Z'],
    ['2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.678Z'],
    ['2026-01-02T03:04:05.678999999Z', '2026-01-02T03:04:05.678Z'],
    ['2026-01-02T03:04:05+05:30', '2026-01-01T21:34:05.000Z'],
    ['2026-01-02T03:04:05.678-08:00', '2026-01-02T11:04:05.678Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ])('reads %s', (text, expected) => {
    expect(isoTime(parseIso(text) ?? Number.NaN)).toBe(expected);
  });

  it.each([
    '',
    '2026-01-02',
    '2026-01-02T03:04:05',
    '2026-01-02T03:04Z',
    '2026-01-02 03:04:05Z',
    '2026-01-02t03:04:05z',
    '2026-1-2T03:04:05Z',
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T23:60:00Z',
    '2016-12-31T23:59:60Z',
    '2026-01-02T03:04:05.Z',
    '2026-01-02T03:04:05,5Z',
    '2026-01-02T03:04:05+24:00',
    '2026-01-02T03:04:05+0530',
    '+02026-01-02T03:04:05Z',
    '0000-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    ' 2026-01-02T03:04:05Z',
    '2026-01-02T03:04:05Z\n',
    '٢٠٢٦-01-02T03:04:05Z',
  ])('refuses %j', (text) => {
    expect(parseIso(text)).toBeNull();
  });

  it('refuses a megabyte in a time that grows with it and no faster', () => {
    expect(growsInProportion(refuse, 1_000_000)).toBe(true);
  });

  it('reads back what isoTime wrote', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 }), (ms) => {
        expect(parseIso(isoTime(ms))).toBe(ms);
      }),
    );
  });
});
