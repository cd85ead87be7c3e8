import { HttpError } from 'grammy';
import { expect, it } from 'vitest';
import { failureOf } from '../../../../gateway/channels/telegram/failure.ts';

const TOKEN = '123456:AAfake-Token';

function failure(thrown: unknown) {
  return failureOf('getMe', thrown, (text) => text.replaceAll(TOKEN, '<token>'));
}

function fetchError(type: string, code?: string): Error {
  return Object.assign(new Error('request failed'), { type, ...(code !== undefined && { code }) });
}

it.each([
  ['a TypeError', new TypeError('Expected signal to be an instanceof AbortSignal')],
  [
    'an error of Node with a code',
    Object.assign(new TypeError('bad'), { code: 'ERR_INVALID_URL' }),
  ],
  ['a thrown text', 'nothing of sense'],
])('%s of our own is not told as silence of Telegram', (_, thrown) => {
  for (const error of [thrown, new HttpError('Network request failed', thrown)]) {
    const told = failure(error);
    expect(told.message).toMatch(/^Telegram, getMe: svc itself failed \(/);
    expect(told).toMatchObject({ isOurs: true, code: null });
  }
});

it('what failed here is named, without the token', () => {
  const thrown = new TypeError(`Invalid URL: https://api.telegram.org/bot${TOKEN}/getMe`);
  expect(failure(new HttpError('x', thrown)).message).toBe(
    'Telegram, getMe: svc itself failed (TypeError: Invalid URL: https://api.telegram.org/bot<token>/getMe)',
  );
});

it.each([
  ['system', 'ECONNREFUSED', 'ECONNREFUSED'],
  ['system', 'ERR_TLS_CERT_ALTNAME_INVALID', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['invalid-json', undefined, 'invalid-json'],
  ['aborted', undefined, 'aborted'],
])('an error of the network (%s, %s) is no answer', (type, code, reason) => {
  const told = failure(new HttpError('x', fetchError(type, code)));
  expect(told.message).toBe(`Telegram, getMe: no answer (${reason})`);
  expect(told.isOurs).toBe(false);
});
