import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run as sign } from '../../../cli/commands/webhook/sign.ts';
import { run as verify } from '../../../cli/commands/webhook/verify.ts';
import { signWebhook } from '../../../shared/rules/payload/signature.ts';
import { fakeContext, fieldsOf } from './fakes.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const SCHEMES = ['stripe', 'github', 'hmac_sha256', 'standard_webhooks'] as const;

async function signed(options: Record<string, string | boolean>, env: NodeJS.ProcessEnv = {}) {
  const { context, printed } = fakeContext({ options, env });
  await sign(context);
  return printed;
}

async function verified(options: Record<string, string | readonly string[]>) {
  const { context, printed } = fakeContext({ options, env: {} });
  const code = await verify(context);
  const { valid, reason } = fieldsOf(printed.answers[0]);
  return { code, answer: { valid, reason } };
}

describe('svc webhook', () => {
  it.each(SCHEMES)('verifies what it signed as %s', async (scheme) => {
    const given = { scheme, secret: SECRET, body: '{"a":"ü"}' };
    const { lines } = await signed({ ...given, lines: true });
    expect(await verified({ ...given, header: lines })).toEqual({
      code: 0,
      answer: { valid: true, reason: null },
    });
    const other = await verified({ ...given, body: '{}', header: lines });
    expect(other.code).toBe(1);
    expect(other.answer.reason).toContain("doesn't match this secret");
  });

  it('takes secret and body from files, and the secret from the environment', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-sign-'));
    writeFileSync(join(folder, 'secret'), 's3cret\n');
    writeFileSync(join(folder, 'body'), 'hello\n');
    const file = {
      scheme: 'github',
      secret: `@${join(folder, 'secret')}`,
      body: `@${join(folder, 'body')}`,
    };
    const expected = signWebhook({
      verification: 'github',
      secret: 's3cret',
      id: 'x',
      body: Buffer.from('hello\n'),
      nowMs: 0,
    });
    expect((await signed(file)).answers).toEqual([expected]);
    const fromEnv = { scheme: 'github', body: 'hello\n' };
    expect((await signed(fromEnv, { SVC_WEBHOOK_SECRET: 's3cret' })).answers).toEqual([expected]);
  });

  it('tells an old delivery from a wrong secret', async () => {
    const headers = signWebhook({
      verification: 'stripe',
      secret: 'x1',
      id: 'x',
      body: Buffer.from('{}'),
      nowMs: Date.now() - 4_000_000,
    });
    const header = [`Stripe-Signature: ${headers['stripe-signature'] ?? ''}`];
    const { code, answer } = await verified({ scheme: 'stripe', secret: 'x1', body: '{}', header });
    expect(code).toBe(1);
    expect(answer.reason).toMatch(/400[01] s ago and the limit is 300 s/);
  });

  it('names the header that is missing', async () => {
    const { answer } = await verified({
      scheme: 'hmac_sha256',
      secret: 'x1',
      body: '{}',
      'signature-header': 'X-Build-Signature',
      header: ['content-type: text/plain'],
    });
    expect(answer.reason).toBe('the header x-build-signature is missing.');
  });

  it.each<Record<string, string>>([
    { secret: 'x', body: 'x' },
    { scheme: 'none', secret: 'x', body: 'x' },
    { scheme: 'github', body: 'x' },
    { scheme: 'github', secret: ' x', body: 'x' },
    { scheme: 'standard_webhooks', secret: 'short', body: 'x' },
    { scheme: 'standard_webhooks', secret: SECRET, body: 'x', id: 'a.b' },
    { scheme: 'github', secret: '@/nonexistent', body: 'x' },
  ])('refuses to sign with %j', async (options) => {
    await expect(signed(options)).rejects.toMatchObject({ exit: 2 });
  });

  it('refuses what is no header', async () => {
    const given = { scheme: 'github', secret: 'x', body: 'x' };
    await expect(verified(given)).rejects.toMatchObject({ exit: 2 });
    await expect(verified({ ...given, header: ['nonsense'] })).rejects.toMatchObject({ exit: 2 });
  });
});
