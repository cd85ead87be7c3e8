import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkSecret,
  deliveryProblem,
  problemText,
  signWebhook,
  verifySignature,
} from '../../shared/rules/payload/signature.ts';
import type { HeaderRecord } from '../../shared/senders/sender.ts';
import { corpus } from './corpus.ts';
import { hostileText } from './hostile.ts';
import { each, fuzz, unmet, HUNG_MS } from './runs.ts';

const NOW_MS = 1_700_000_000_000;
const KINDS = ['stripe', 'github', 'hmac_sha256', 'standard_webhooks'] as const;
const SECRETS: Readonly<Record<(typeof KINDS)[number], string>> = {
  stripe: 'whsec_a-secret',
  github: 'a-secret',
  hmac_sha256: 'a-secret',
  standard_webhooks: `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
};
const NAMES = [
  'stripe-signature',
  'x-hub-signature-256',
  'x-hub-signature',
  'x-signature',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'svix-id',
  'svix-timestamp',
  'svix-signature',
  '__proto__',
  'constructor',
];

interface Signed {
  readonly verification: (typeof KINDS)[number];
  readonly headers: HeaderRecord;
  readonly body: Uint8Array;
}

function accepts({ verification, headers, body }: Signed, nowMs = NOW_MS): boolean {
  const secrets = [SECRETS[verification]];
  return verifySignature({ verification, secrets, headers, body, nowMs });
}

/** The reason is one of a few sentences, and never throws. */
function reasonOf({ verification, headers, body }: Signed): string {
  const problem = deliveryProblem({
    verification,
    headers,
    body,
    nowMs: NOW_MS,
    secrets: ['another secret'],
  });
  return problem === null ? 'none' : problemText(problem);
}

const body = fc.uint8Array({ maxLength: 100 });
const kind = fc.constantFrom(...KINDS);

const genuine: fc.Arbitrary<Signed> = fc.tuple(kind, body).map(([verification, bytes]) => ({
  verification,
  body: bytes,
  headers: signWebhook({
    verification,
    secret: SECRETS[verification],
    id: 'evt_1',
    body: bytes,
    nowMs: NOW_MS,
  }),
}));

/** Parts of signatures in any order. */
const jumbled = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        't=',
        'v1=',
        'v1,',
        'sha256=',
        ',',
        ' ',
        '.',
        '=',
        '1700000000',
        '0'.repeat(64),
      ),
      fc.constantFrom(`${'A'.repeat(43)}=`, '-1', '1e9', '\u00ff', '\0'),
      hostileText,
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

const malformed: fc.Arbitrary<Signed> = fc.record({
  verification: kind,
  body,
  headers: fc.dictionary(fc.constantFrom(...NAMES), fc.oneof(jumbled, hostileText), {
    maxKeys: 6,
  }),
});

describe('a signature', () => {
  it('of the corpus is refused', async () => {
    const faults = await each(corpus('signature'), ({ bytes }) => {
      const read = JSON.parse(bytes.toString()) as Omit<Signed, 'body'>;
      const signed = { ...read, body: Buffer.from('{}') };
      return unmet({
        'it is refused': !accepts(signed),
        'it has a reason': reasonOf(signed) !== '',
      });
    });
    expect(faults).toEqual([]);
  });

  it(
    'that is none is refused, with a reason and without a throw',
    async () => {
      const fault = await fuzz(malformed, 1500, (signed) =>
        unmet({ 'it is refused': !accepts(signed), 'it has a reason': reasonOf(signed) !== '' }),
      );
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );

  it(
    'of another body, secret or time is refused',
    async () => {
      const both = fc.tuple(genuine, fc.nat(200), fc.integer({ min: 301, max: 1e9 }));
      const fault = await fuzz(both, 400, ([signed, at, seconds]) => {
        const { verification } = signed;
        const changed = Buffer.from(signed.body);
        if (changed.length > 0)
          changed[at % changed.length] = (changed[at % changed.length] ?? 0) ^ 1;
        const other = { ...signed, body: changed.length > 0 ? changed : Buffer.from('x') };
        const isTimed = verification === 'stripe' || verification === 'standard_webhooks';
        const secrets = ['', 'another', `whsec_${Buffer.alloc(24, 8).toString('base64')}`];
        return unmet({
          'it is taken as it was signed': accepts(signed),
          'another body is refused': !accepts(other),
          'another secret is refused': !verifySignature({ ...signed, secrets, nowMs: NOW_MS }),
          'it is refused before its time': !isTimed || !accepts(signed, NOW_MS - seconds * 1000),
          'it is refused after its time': !isTimed || !accepts(signed, NOW_MS + seconds * 1000),
          'no header is not a signature': !accepts({ ...signed, headers: {} }),
        });
      });
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );

  it(
    'with any character changed is refused',
    async () => {
      const changes = fc.tuple(
        genuine,
        fc.nat(200),
        fc.constantFrom('', '0', 'f', '/', '\u00e9', '=='),
      );
      const fault = await fuzz(changes, 600, ([signed, at, character]) => {
        const name = Object.keys(signed.headers).find((one) => one.endsWith('signature')) ?? '';
        const first = name === '' ? (Object.keys(signed.headers)[0] ?? '') : name;
        const value = signed.headers[first] ?? '';
        const place = at % value.length;
        const changed = value.slice(0, place) + character + value.slice(place + 1);
        const same = changed === value || significant(changed) === significant(value);
        const isTaken = accepts({ ...signed, headers: { ...signed.headers, [first]: changed } });
        return isTaken && !same ? [`${value} became ${changed} and was taken`] : [];
      });
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );
});

/** A signature's meaning, however it's written. */
function significant(value: string): string {
  return value
    .replace(/^sha256=/i, '')
    .toLowerCase()
    .trim();
}

describe('a secret', () => {
  it(
    'of any text is refused in words, or signs what it then accepts',
    async () => {
      const secrets = fc.tuple(kind, fc.oneof(hostileText, fc.base64String()));
      const fault = await fuzz(secrets, 600, ([verification, secret]) => {
        if (checkSecret(verification, secret) !== null) return [];
        const bytes = Buffer.from('{}');
        const headers = signWebhook({ verification, secret, id: 'a', body: bytes, nowMs: NOW_MS });
        const isTaken = verifySignature({
          verification,
          secrets: [secret],
          headers,
          body: bytes,
          nowMs: NOW_MS,
        });
        return unmet({ 'it accepts what it signed': isTaken });
      });
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );
});
