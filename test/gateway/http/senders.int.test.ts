import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERIFICATIONS } from '../../../shared/senders/registry.ts';
import { sampleBody, webhookKinds } from '../../../shared/senders/samples.ts';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import {
  paypalCertificate,
  SENDER_SIGNERS,
  type Made,
  type SenderSigner,
} from './sender-signers.ts';

interface Event {
  readonly id: string;
  readonly type: string;
  readonly verified: boolean;
  readonly authenticated?: string;
  readonly headers: Record<string, string>;
}

let gateway: TestGateway;
// The certificate of the fixture is valid today.
const clock = new FakeClock(Date.now());
const DAY_MS = 86_400_000;
const asked: string[] = [];
const urls = new Map<string, string>();

beforeAll(async () => {
  gateway = await TestGateway.start({
    clock,
    readCertificate: (address) => {
      asked.push(address);
      return Promise.resolve(paypalCertificate.cert);
    },
  });
  for (const { verification, secret } of SENDER_SIGNERS) {
    urls.set(verification, await gateway.addSource({ name: verification, verification, secret }));
  }
});
afterAll(() => gateway.stop());

const urlOf = ({ verification }: SenderSigner): string => urls.get(verification) ?? '';

/** A new sample of the sender, without a signature. */
function sampleOf(verification: string): Made {
  const sample = webhookKinds.find((one) => one.verification === verification)?.build();
  if (!sample) throw new Error(`${verification} has no sample.`);
  return { headers: sample.headers, body: sampleBody(sample).toString() };
}

function made(
  signer: SenderSigner,
  sample: Made,
  change: { secret?: string; at?: number } = {},
): Made {
  const { secret = signer.secret, at = clock.now() } = change;
  const signed = signer.sign({ secret, at, body: sample.body, url: urlOf(signer) });
  return { headers: { ...sample.headers, ...signed.headers }, body: signed.body };
}

async function send(url: string, { headers, body }: Made): Promise<number> {
  const answer = await fetch(url, { method: 'POST', headers, body });
  await answer.arrayBuffer();
  return answer.status;
}

async function eventsOf({ verification }: SenderSigner): Promise<Event[]> {
  const path = `/v1/inbox?source=${verification}&limit=100`;
  const answer = await gateway.call<{ items: Event[] }>('GET', path);
  return answer.body.items;
}

it('knows no sender with a secret that this test leaves out', () => {
  const tested = SENDER_SIGNERS.map(({ verification }) => verification);
  const others = ['stripe', 'github', 'hmac_sha256', 'standard_webhooks', 'none', 'cloudevents'];
  expect([...tested, ...others].toSorted()).toEqual([...VERIFICATIONS].toSorted());
});

describe.each(SENDER_SIGNERS.map((signer) => [signer.verification, signer] as const))(
  '%s',
  (verification, signer) => {
    it('goes in with its type, and a repeated delivery is no other event', async () => {
      const sample = sampleOf(verification);
      expect(await send(urlOf(signer), made(signer, sample))).toBe(200);
      const [event, ...others] = await eventsOf(signer);
      const isSigned = signer.isSigned ?? true;
      expect(others).toEqual([]);
      expect(event).toMatchObject({ type: signer.type, verified: isSigned });
      expect(event?.authenticated).toBe(isSigned ? undefined : 'shared_secret');
      expect(JSON.stringify(event?.headers)).not.toContain(signer.secret);
      clock.advance(30_000);
      const again = made(signer, sample);
      expect(await send(urlOf(signer), again)).toBe(200);
      expect(await eventsOf(signer)).toHaveLength(1);
      expect(await send(urlOf(signer), made(signer, sampleOf(verification)))).toBe(200);
      expect(await eventsOf(signer)).toHaveLength(2);
    });

    it('is refused with another secret, and with none', async () => {
      const sample = sampleOf(verification);
      expect(await send(urlOf(signer), made(signer, sample, { secret: signer.other }))).toBe(401);
      expect(await send(urlOf(signer), sample)).toBe(401);
    });
  },
);

const SIGNING = SENDER_SIGNERS.filter(({ isSigned }) => isSigned !== false);

it.each(SIGNING.map((signer) => [signer.verification, signer] as const))(
  '%s is refused with a flipped byte',
  async (verification, signer) => {
    const { headers, body } = made(signer, sampleOf(verification));
    const flip =
      signer.flip ??
      ((text: string) => text.replace(/[a-z](?=[^a-z]*$)/, (one) => (one === 'x' ? 'y' : 'x')));
    expect(flip(body)).not.toBe(body);
    expect(await send(urlOf(signer), { headers, body: flip(body) })).toBe(401);
  },
);

const DATING = SENDER_SIGNERS.flatMap((signer) =>
  signer.toleranceSeconds === undefined
    ? []
    : [[signer.verification, signer, signer.toleranceSeconds] as const],
);

it.each(DATING)('%s is refused with an old time', async (verification, signer, seconds) => {
  const tolerance = seconds * 1000;
  const sample = sampleOf(verification);
  const late = made(signer, sample, { at: clock.now() - tolerance - 2000 });
  const early = made(signer, sample, { at: clock.now() + tolerance + 2000 });
  expect(await send(urlOf(signer), late)).toBe(401);
  expect(await send(urlOf(signer), early)).toBe(401);
  const soon = made(signer, sample, { at: clock.now() - tolerance + 2000 });
  expect(await send(urlOf(signer), soon)).toBe(200);
});

it.each([
  ['has ended', 2 * DAY_MS],
  ["hasn't begun", -2 * DAY_MS],
])("refuses a delivery whose sender's certificate %s", async (_, ms) => {
  const signer = SENDER_SIGNERS.find(({ verification }) => verification === 'paypal');
  if (!signer) throw new Error('No test signs as PayPal.');
  const sample = sampleOf('paypal');
  clock.advance(ms);
  expect(await send(urlOf(signer), made(signer, sample))).toBe(401);
  clock.advance(-ms);
  expect(await send(urlOf(signer), made(signer, sample))).toBe(200);
});
