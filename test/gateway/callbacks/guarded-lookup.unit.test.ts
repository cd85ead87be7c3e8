import type { LookupAddress } from 'node:dns';
import { describe, expect, it, vi } from 'vitest';
import { CallbackAllow } from '../../../gateway/callbacks/callback-allow.ts';
import { parseCallbackUrl } from '../../../gateway/callbacks/callback-url.ts';
import {
  checkHost,
  GuardError,
  guardedLookup,
  sharingResolve,
  systemResolve,
  type Resolve,
} from '../../../gateway/callbacks/guarded-lookup.ts';
import type { ServiceError } from '../../../shared/lib/errors.ts';
import { HOSTILE_ANSWERS, resolved, urlOf } from './hostile.ts';

const allowLocal = CallbackAllow.parse('127.0.0.0/8');

function answering(...addresses: string[]): Resolve {
  return () => Promise.resolve(resolved(...addresses));
}

const unknown: Resolve = () =>
  Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }));

const silent: Resolve = () => new Promise(() => undefined);

interface Found {
  readonly error: Error | null;
  readonly addresses: string | LookupAddress[];
  readonly family: number | undefined;
}

/** What a connection is told when it asks, for all addresses or for one. */
function lookUp(url: string, resolve: Resolve, allow = CallbackAllow.none, all = true) {
  const callback = parseCallbackUrl(url, allow);
  return new Promise<Found>((done) => {
    guardedLookup(callback, allow, resolve)(callback.host, { all }, (error, addresses, family) => {
      done({ error, addresses, family });
    });
  });
}

/** Why addresses are refused, at both checks alike; `passes` where they are not. */
async function hintOf(url: string, addresses: readonly string[]): Promise<string> {
  const callback = parseCallbackUrl(url, allowLocal);
  const refusal = checkHost(callback, allowLocal, answering(...addresses));
  const [outcome] = await Promise.allSettled([refusal]);
  const found = await lookUp(url, answering(...addresses), allowLocal);
  expect(found.error === null).toBe(outcome.status === 'fulfilled');
  return outcome.status === 'fulfilled' ? 'passes' : String((outcome.reason as ServiceError).hint);
}

describe('hostile answers of a resolver', () => {
  it.each(HOSTILE_ANSWERS)('%s is refused when it is given', async (host, addresses) => {
    const callback = parseCallbackUrl(urlOf(host));
    await expect(checkHost(callback, undefined, answering(...addresses))).rejects.toMatchObject({
      code: 'CALLBACK_URL_REJECTED',
      hint: 'The host has an address that is not public.',
    });
  });

  it.each(HOSTILE_ANSWERS)('%s is refused when it is called', async (host, addresses) => {
    for (const all of [true, false]) {
      const found = await lookUp(urlOf(host), answering(...addresses), undefined, all);
      expect(found.error).toBeInstanceOf(GuardError);
      expect(found.addresses).toEqual([]);
    }
  });

  it('tell the owner of the callback nothing of this network', async () => {
    const url = urlOf('db.example.com');
    const { error } = await lookUp(url, answering('10.1.2.3'));
    expect(error?.message).not.toContain('10.1');
    const callback = parseCallbackUrl(url);
    const refusal: unknown = await checkHost(callback, undefined, answering('10.1.2.3')).catch(
      (thrown: unknown) => thrown,
    );
    expect(JSON.stringify(refusal)).not.toContain('10.1');
  });
});

describe('a host that is public', () => {
  const url = urlOf('hooks.example.com');
  const addresses = ['93.184.215.14', '2606:4700::1111'];

  it('passes, and the connection has the very addresses that were checked', async () => {
    await expect(
      checkHost(parseCallbackUrl(url), undefined, answering(...addresses)),
    ).resolves.toBe(undefined);
    const found = await lookUp(url, answering(...addresses));
    expect(found).toEqual({ error: null, addresses: resolved(...addresses), family: undefined });
    const one = await lookUp(url, answering(...addresses), undefined, false);
    expect(one).toEqual({ error: null, addresses: '93.184.215.14', family: 4 });
  });

  it('is not looked up when it is an address', async () => {
    await expect(checkHost(parseCallbackUrl('https://8.8.8.8/'), undefined, unknown)).resolves.toBe(
      undefined,
    );
  });

  it('may be another one at the next question: each connection asks once, and checks', async () => {
    const answers = [['93.184.215.14'], ['127.0.0.1'], ['93.184.215.14']];
    let asked = 0;
    const rebinding: Resolve = () => Promise.resolve(resolved(...(answers[asked++] ?? [])));
    await checkHost(parseCallbackUrl(url), undefined, rebinding);
    expect((await lookUp(url, rebinding)).error).toBeInstanceOf(GuardError);
    expect((await lookUp(url, rebinding)).addresses).toEqual(resolved('93.184.215.14'));
    expect(asked).toBe(3);
  });
});

describe('a host that cannot be resolved', () => {
  const callback = parseCallbackUrl(urlOf('gone.example.com'));

  it.each([
    ['that is unknown', unknown],
    ['that has no address', answering()],
  ])('%s is refused when it is given, and fails like any other when called', async (_, resolve) => {
    await expect(checkHost(callback, undefined, resolve)).rejects.toMatchObject({
      code: 'CALLBACK_URL_REJECTED',
      hint: 'The host has no address: the name cannot be resolved.',
    });
    const { error } = await lookUp(urlOf('gone.example.com'), resolve);
    expect(error).not.toBeInstanceOf(GuardError);
    expect(error).toMatchObject({ code: 'ENOTFOUND' });
  });

  it('does not keep its giver waiting', async () => {
    vi.useFakeTimers();
    const [outcome] = await Promise.all([
      checkHost(callback, undefined, silent).catch((error: unknown) => error),
      vi.advanceTimersByTimeAsync(5000),
    ]);
    expect(outcome).toMatchObject({ code: 'CALLBACK_URL_REJECTED' });
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });
});

describe('with an allow list', () => {
  it.each([
    ['http://receiver.example.com/', ['127.0.0.1'], /^passes$/],
    ['http://localhost:3000/', ['127.0.0.1'], /^passes$/],
    ['https://receiver.example.com/', ['127.0.0.1'], /^passes$/],
    ['https://receiver.example.com/', ['8.8.8.8'], /^passes$/],
    ['https://receiver.example.com/', ['8.8.8.8', '127.0.0.1'], /^passes$/],
    ['https://receiver.example.com/', ['10.0.0.1', '127.0.0.1'], /not public/],
    // A public address over http, on a low port or by a local name: for these only the list counts.
    ['http://receiver.example.com/', ['8.8.8.8'], /https/],
    ['http://receiver.example.com/', ['8.8.8.8', '127.0.0.1'], /https/],
    ['https://receiver.example.com:25/', ['8.8.8.8'], /port/],
    ['https://receiver/', ['8.8.8.8'], /local network/],
    ['http://localhost:3000/', ['127.0.0.1', '::1'], /local network/],
  ])('%s at %j', async (url, addresses, hint) => {
    expect(await hintOf(url, addresses)).toMatch(hint);
  });
});

describe("the system's resolver", () => {
  const allow = CallbackAllow.parse('127.0.0.0/8,::1/128');

  it('knows localhost, which is for those alone who allow it', async () => {
    const callback = parseCallbackUrl('http://localhost:3000/', allow);
    await expect(checkHost(callback, allow)).resolves.toBe(undefined);
    await expect(checkHost(callback)).rejects.toMatchObject({ code: 'CALLBACK_URL_REJECTED' });
    const found = await lookUp('http://localhost:3000/', systemResolve, allow, false);
    expect(found.error).toBeNull();
    expect(['127.0.0.1', '::1']).toContain(found.addresses);
  });
});

describe('questions at the same time', () => {
  it('share one answer, which the next question does not get', async () => {
    let asked = 0;
    const resolve = sharingResolve(async (host) => {
      asked += 1;
      await Promise.resolve();
      if (host === 'gone.example.com') throw new Error('gone');
      return resolved(`10.0.0.${asked}`);
    });
    const both = await Promise.all([resolve('a.example.com'), resolve('a.example.com')]);
    expect(both).toEqual([resolved('10.0.0.1'), resolved('10.0.0.1')]);
    expect(await resolve('a.example.com')).toEqual(resolved('10.0.0.2'));
    const [first, second] = await Promise.allSettled([
      resolve('gone.example.com'),
      resolve('gone.example.com'),
    ]);
    expect([first.status, second.status]).toEqual(['rejected', 'rejected']);
    expect(asked).toBe(3);
  });
});
