import { stringifyExact } from '../lib/json/exact-json.ts';
import { isObject } from '../lib/guards.ts';
import { isoSeconds, uuid, type Sample, type WebhookKind } from '../lib/samples/fresh.ts';
import { githubKinds } from '../lib/samples/github.ts';
import { stripeKinds } from '../lib/samples/stripe.ts';
import { readingOf } from './places.ts';
import { SENDERS, type Verification } from './registry.ts';
import type { Sender } from './sender.ts';

const generic: WebhookKind<never> = {
  kind: 'webhook',
  verification: null,
  summary: 'Any other sender: a small JSON document.',
  build: () => ({
    headers: { 'content-type': 'application/json', 'user-agent': 'svc-trigger' },
    payload: {
      id: uuid(),
      event: 'order.created',
      created_at: isoSeconds(),
      data: {
        order_id: '20418',
        total: 49,
        currency: 'EUR',
        customer: 'ines.ferreira@example.com',
      },
    },
  }),
};

/** The webhooks that `svc trigger` can send. */
export const webhookKinds: readonly WebhookKind<Verification>[] = [
  ...githubKinds,
  ...stripeKinds,
  ...SENDERS.flatMap(kindOf),
  generic,
];

/** The sample of a declaration, under the sender's name and its type. */
function kindOf({ name, type, sample }: Sender<Verification>): WebhookKind<Verification>[] {
  if (sample === null) return [];
  const { headers, payload } = sample.build();
  const says = readingOf(type, { headers, url: '', payload: () => payload }, 'name');
  return [{ kind: says === null ? name : `${name}.${says}`, verification: name, ...sample }];
}

/** The bytes of a sample, as its content type says. */
export function sampleBody({ headers, payload }: Sample): Buffer {
  const isForm = headers['content-type'] === 'application/x-www-form-urlencoded';
  if (!isForm || !isObject(payload)) return Buffer.from(stringifyExact(payload));
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(payload)) form.append(name, String(value));
  return Buffer.from(form.toString());
}
