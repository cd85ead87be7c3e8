import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallbackAllow } from '../../../gateway/callbacks/callback-allow.ts';
import { parseCallbackUrl } from '../../../gateway/callbacks/callback-url.ts';
import { ServiceError } from '../../../shared/lib/errors.ts';
import { HOSTILE_ANSWERS, HOSTILE_URLS, urlOf } from './hostile.ts';
import { growsInProportion } from '../../helpers/growth.ts';

function refusalOf(text: string, allow?: CallbackAllow): ServiceError | null {
  try {
    parseCallbackUrl(text, allow);
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

describe('hostile URLs', () => {
  const rows = HOSTILE_URLS.flatMap(([reason, urls]) => urls.map((url) => [url, reason] as const));

  it('are many, and no two of them equal', () => {
    expect(rows.length).toBeGreaterThan(140);
    expect(new Set(rows.map(([url]) => url)).size).toBe(rows.length);
  });

  it.each(rows)('%j is refused', (url, reason) => {
    expect(refusalOf(url)).toMatchObject({
      code: 'CALLBACK_URL_REJECTED',
      status: 400,
      hint: expect.stringMatching(reason) as string,
    });
  });

  it('whose names look harmless are for the lookup to refuse', () => {
    const passed = HOSTILE_ANSWERS.filter(([host]) => refusalOf(urlOf(host)) === null);
    expect(passed).toEqual(HOSTILE_ANSWERS);
  });
});

describe('good URLs', () => {
  it.each([
    ['https://hooks.example.com', 'hooks.example.com:443', 'https://hooks.example.com/'],
    ['https://hooks.example.com:443/a', 'hooks.example.com:443', 'https://hooks.example.com/a'],
    ['HTTPS://Hooks.Example.COM/A?b=C', 'hooks.example.com:443', 'https://hooks.example.com/A?b=C'],
    ['https://h.example.com:8443/', 'h.example.com:8443', 'https://h.example.com:8443/'],
    ['https://h.example.com:1024/', 'h.example.com:1024', 'https://h.example.com:1024/'],
    ['https://h.example.com:65535/', 'h.example.com:65535', 'https://h.example.com:65535/'],
    ['https://h.example.com/a@b', 'h.example.com:443', 'https://h.example.com/a@b'],
    ['https://h.example.com/?to=a@b', 'h.example.com:443', 'https://h.example.com/?to=a@b'],
    [
      'https://bücher.example.com/',
      'xn--bcher-kva.example.com:443',
      'https://xn--bcher-kva.example.com/',
    ],
    ['https://my_hooks.example.com/', 'my_hooks.example.com:443', 'https://my_hooks.example.com/'],
    [
      'https://localhost.example.com/',
      'localhost.example.com:443',
      'https://localhost.example.com/',
    ],
    [
      'https://notlocal.home-office.io/',
      'notlocal.home-office.io:443',
      'https://notlocal.home-office.io/',
    ],
    ['https://8.8.8.8/', '8.8.8.8:443', 'https://8.8.8.8/'],
    ['https://[2606:4700::1111]/', '[2606:4700::1111]:443', 'https://[2606:4700::1111]/'],
    [
      'https://[2606:4700:0::1111]:8443/',
      '[2606:4700::1111]:8443',
      'https://[2606:4700::1111]:8443/',
    ],
  ])('%s', (text, destination, href) => {
    const callback = parseCallbackUrl(text);
    expect(callback).toMatchObject({ destination, exception: null });
    expect(callback.url.href).toBe(href);
    expect(parseCallbackUrl(href).destination).toBe(destination);
  });

  it('may have 2048 characters', () => {
    const longest = 'https://hooks.example.com/'.padEnd(2048, 'a');
    expect(refusalOf(longest)).toBeNull();
    expect(refusalOf(`${longest}a`)).not.toBeNull();
  });

  it('name their host without brackets', () => {
    expect(parseCallbackUrl('https://[2606:4700::1111]/').host).toBe('2606:4700::1111');
    expect(parseCallbackUrl('https://hooks.example.com/').host).toBe('hooks.example.com');
  });
});

describe('with an allow list', () => {
  const allow = CallbackAllow.parse('127.0.0.0/8, ::1/128');

  it.each([
    'http://127.0.0.1:3000/hook',
    'http://127.0.0.1/',
    'http://127.1:81/',
    'https://127.0.0.2:22/',
    'http://[::1]:3000/',
    'http://[::ffff:127.0.0.1]:3000/',
  ])('%s is called for its address', (url) => {
    expect(refusalOf(url, allow)).toBeNull();
  });

  it.each([
    ['http://10.0.0.1:3000/', /not public/],
    ['http://8.8.8.8/', /https/],
    ['https://8.8.8.8:22/', /port/],
    ['https://169.254.169.254/', /not public/],
    ['http://user@127.0.0.1/', /user name/],
    ['http://127.0.0.1/#a', /fragment/],
    ['http://127.0.0.1:0/', /port 0/],
    ['ftp://127.0.0.1/', /https/],
    ['http://localhost./', /dot/],
  ])('%s is still refused', (url, reason) => {
    expect(refusalOf(url, allow)?.hint).toMatch(reason);
  });

  it.each([
    ['http://hooks.example.com/', /https/],
    ['https://hooks.example.com:25/', /port/],
    ['http://localhost:3000/', /local network/],
    ['https://receiver/', /local network/],
  ])('%s is to be looked up: only allowed addresses will do', (url, reason) => {
    expect(parseCallbackUrl(url, allow).exception).toMatch(reason);
    expect(parseCallbackUrl('https://hooks.example.com/', allow).exception).toBeNull();
  });
});

describe('any text', () => {
  it('is refused, or gives a URL that reads the same again', () => {
    const part = fc.oneof(
      fc.webUrl({ validSchemes: ['https', 'http', 'ftp'] }),
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.tuple(fc.ipV4Extended(), fc.nat(70_000)).map(([ip, port]) => `https://${ip}:${port}/`),
      fc.ipV6().map((ip) => `https://[${ip}]/`),
      fc.string({ unit: 'grapheme', maxLength: 20 }).map((host) => `https://${host}/`),
    );
    let read = 0;
    fc.assert(
      fc.property(part, (text) => {
        if (refusalOf(text) !== null) return;
        read += 1;
        const { url, destination } = parseCallbackUrl(text);
        expect(url.protocol).toBe('https:');
        expect(url.username + url.password + url.hash).toBe('');
        expect(parseCallbackUrl(url.href).destination).toBe(destination);
      }),
      { numRuns: 3000 },
    );
    expect(read).toBeGreaterThan(100);
  });

  it.each(['a', 'a.', '.', '%', '0x', ':', '@', '[', '-', 'ä', '１'])(
    'is judged in a time that grows with its length and no faster: %s',
    (filler) => {
      const judge = (length: number): void =>
        expect(refusalOf(`https://${filler.repeat(length)}`)).not.toBeNull();
      judge(500);
      expect(growsInProportion(judge, 500_000)).toBe(true);
    },
  );
});
