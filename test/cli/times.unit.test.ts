import { afterEach, describe, expect, it, vi } from 'vitest';
import { oneUnit, secondsValue, timeValue } from '../../cli/input/times.ts';

const NOW = Date.parse('2026-01-02T12:00:00.000Z');

describe('a time on the command line', () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each([
    ['90s', '2026-01-02T11:58:30.000Z'],
    ['30m', '2026-01-02T11:30:00.000Z'],
    ['1h', '2026-01-02T11:00:00.000Z'],
    ['2d', '2025-12-31T12:00:00.000Z'],
    ['1w', '2025-12-26T12:00:00.000Z'],
    ['1d12h', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T02:00:00+02:00', '2026-01-01T00:00:00.000Z'],
  ])('%s means %s', (text, time) => {
    expect(timeValue(text, '--since', 'past', NOW)).toBe(time);
  });

  it('may be copied from a terminal, where times are local', () => {
    vi.stubEnv('TZ', 'Asia/Kolkata');
    expect(timeValue('2026-01-02 05:30:01', '--since', 'past', NOW)).toBe(
      '2026-01-02T00:00:01.000Z',
    );
    expect(timeValue('2026-01-02', '--since', 'past', NOW)).toBe('2026-01-01T18:30:00.000Z');
  });

  it('counts a span forward where the time lies ahead', () => {
    expect(timeValue('30d', '--expires-at', 'future', NOW)).toBe('2026-02-01T12:00:00.000Z');
  });

  it.each([
    'yesterday',
    '1y',
    '1h1d',
    '1h1h',
    '-1h',
    '',
    '2026-02-30',
    '2026-01-01 25:00',
    '9999999d',
  ])('"%s" is refused with the flag and both forms', (text) => {
    expect(() => timeValue(text, '--since', 'past', NOW)).toThrow(
      expect.objectContaining({
        exit: 2,
        message: `--since must be a time or a span, not "${text}".`,
        hint: expect.stringMatching(/--since 2026-11-23T14:00:00Z.+--since 2h/) as string,
      }),
    );
  });

  it.each([
    ['1w', '7d'],
    ['1d12h', '36h'],
    ['1h30m', '90m'],
    ['30m', '30m'],
    ['1h1d', '1h1d'],
    ['soon', 'soon'],
  ])('%s is sent to the service, which takes one unit, as %s', (text, sent) => {
    expect(oneUnit(text)).toBe(sent);
  });

  it('is a wait of several units', () => {
    expect(secondsValue('1h30m', '--wait')).toBe(5400);
    expect(() => secondsValue('1w', '--wait')).toThrow('--wait must be a time up to 24h');
  });
});
