import { isObject } from '../../shared/lib/guards.ts';
import { SvcError } from './core/errors.ts';
import type { WorkEvent } from './work/context.ts';

/** Headers as fetch, Node or a plain object has them. */
export type IncomingHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * The event of a callback or a route's delivery, once its signature is checked (Standard Webhooks). Throws an `SvcError`
 * with the code SIGNATURE_INVALID if it isn't signed with the secret, or more than 5 minutes ago. Several secrets are
 * for a rotation. The body has to be the raw one, as it arrived.
 */
export async function verifyCallback<P = unknown>(
  rawBody: string | Uint8Array,
  headers: IncomingHeaders,
  secret: string | readonly string[],
  now: number = Date.now(),
): Promise<WorkEvent<P>> {
  const { proofProblem, standardWebhooks } = await checker();
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody;
  const request = { method: 'POST', url: '', headers: signatureHeaders(headers), body };
  const secrets = typeof secret === 'string' ? [secret] : secret;
  const given = { secrets, nowMs: now };
  const problem = proofProblem(standardWebhooks, { ...request, payload: () => null }, given);
  const event = problem === null ? parsed(body) : null;
  if (event) return event as unknown as WorkEvent<P>;
  throw new SvcError({
    code: 'SIGNATURE_INVALID',
    message: "The callback isn't signed with this secret, or it's too old.",
    hint: 'Pass the raw body, all headers, and the secret of the route or the request callback.',
  });
}

/** Loads Node's crypto only where a callback is checked. */
async function checker() {
  const { proofProblem } = await import('../../shared/senders/proof.ts');
  const { standardWebhooks } = await import('../../shared/senders/standard-webhooks.ts');
  return { proofProblem, standardWebhooks };
}

function signatureHeaders(headers: IncomingHeaders): Record<string, string> {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  return Object.fromEntries(names.map((name) => [name, valueOf(headers, name)]));
}

function valueOf(headers: IncomingHeaders, name: string): string {
  if (typeof headers.get === 'function') return headers.get(name) ?? '';
  const found = Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : '';
}

function parsed(body: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
