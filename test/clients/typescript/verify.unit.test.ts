import { expect, it } from 'vitest';
import { verifyCallback } from '../../../clients/typescript/verify.ts';
import { signWebhook } from '../../../shared/rules/payload/signature.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = '{"id":"evt_1","type":"request.resolved"}';
const NOW = Date.UTC(2026, 0, 2);
const headers = signWebhook({
  verification: 'standard_webhooks',
  secret: SECRET,
  id: 'evt_1',
  body: Buffer.from(BODY),
  nowMs: NOW,
});

it('a callback is its event once its signature is checked, whatever holds the headers', async () => {
  const upper = Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]);
  for (const given of [headers, new Headers(headers), Object.fromEntries(upper)]) {
    expect(await verifyCallback(BODY, given, ['other', SECRET], NOW)).toMatchObject({
      id: 'evt_1',
    });
  }
  expect(await verifyCallback(Buffer.from(BODY), headers, SECRET, NOW)).toMatchObject({
    type: 'request.resolved',
  });
});

it.each([
  ['another body', `${BODY} `, SECRET, NOW],
  ['another secret', BODY, 'whsec_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', NOW],
  ['an old signature', BODY, SECRET, NOW + 301_000],
])('refuses %s', async (_what, body, secret, now) => {
  await expect(verifyCallback(body, headers, secret, now)).rejects.toMatchObject({
    code: 'SIGNATURE_INVALID',
  });
});
