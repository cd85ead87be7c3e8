import { describe, expect, it } from 'vitest';
import {
  isLoopback,
  listenText,
  parseListenAddress,
} from '../../../gateway/server/listen-address.ts';

describe('where to listen', () => {
  it.each([
    ['127.0.0.1:4780', { kind: 'tcp', host: '127.0.0.1', port: 4780 }, true],
    ['[::1]:0', { kind: 'tcp', host: '::1', port: 0 }, true],
    ['localhost:80', { kind: 'tcp', host: 'localhost', port: 80 }, true],
    ['0.0.0.0:80', { kind: 'tcp', host: '0.0.0.0', port: 80 }, false],
    ['[::]:443', { kind: 'tcp', host: '::', port: 443 }, false],
    ['unix:/run/svc.sock', { kind: 'unix', path: '/run/svc.sock' }, false],
  ])('%s', (text, address, loopback) => {
    const parsed = parseListenAddress(text);
    expect(parsed).toEqual(address);
    expect(isLoopback(parsed)).toBe(loopback);
  });

  it.each([
    '',
    '4780',
    ':4780',
    '127.0.0.1',
    '127.0.0.1:',
    '127.0.0.1:x',
    '::1:4780',
    '[127.0.0.1]:80',
    'svc.example.com:80',
    '127.0.0.1:65536',
    '127.0.0.1:999999',
    'unix:',
    'unix:run/svc.sock',
    `unix:/${'x'.repeat(103)}`,
  ])('not "%s"', (text) => {
    expect(() => parseListenAddress(text)).toThrow(/^SVC_LISTEN/);
  });

  it('is written with the port that was taken', () => {
    expect(listenText(parseListenAddress('[::1]:0'), 4711)).toBe('http://[::1]:4711');
    expect(listenText(parseListenAddress('127.0.0.1:0'), 4711)).toBe('http://127.0.0.1:4711');
    expect(listenText(parseListenAddress('unix:/a.sock'), 0)).toBe('unix:/a.sock');
  });
});
