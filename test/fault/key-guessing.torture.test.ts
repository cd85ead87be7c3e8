import { Agent, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newApiKey, parseApiKey } from '../../shared/lib/ids.ts';
import { TestGateway } from '../helpers/gateway.ts';

let gateway: TestGateway;
let reads = 0;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
beforeAll(async () => {
  gateway = await TestGateway.start();
  const project = await gateway.gateway.projects.find(gateway.projectId);
  if (!project) throw new Error('There is no project.');
  const { store } = project;
  const read = store.read.bind(store);
  store.read = (fn) => {
    reads += 1;
    return read(fn);
  };
});
afterAll(async () => {
  agent.destroy();
  await gateway.stop();
});

/** Milliseconds until a key is refused. */
function refusal(key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const headers = { authorization: `Bearer ${key}` };
    const asked = request(`${gateway.url}/v1/whoami`, { agent, headers }, (response) => {
      response.resume();
      response.once('end', () => {
        if (response.statusCode === 401) resolve(performance.now() - began);
        else reject(new Error(`It answered ${response.statusCode}.`));
      });
    });
    asked.once('error', reject);
    asked.end();
  });
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A key that no gateway has made: all of a good one but the last four characters of its secret, with a right checksum. */
function nearTo(good: string): string {
  const other = newApiKey(gateway.projectId);
  const secret = good.slice(0, -10) + other.slice(-10, -6);
  return secret + checksum(secret);
}

/** Six digits of CRC32, as scanners for secrets compute them. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let n = 0; n < 6; n += 1, rest = Math.floor(rest / 62)) {
    digits = BASE62.charAt(rest % 62) + digits;
  }
  return digits;
}

function crc32(text: string): number {
  let crc = 0xff_ff_ff_ff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xed_b8_83_20 : 0);
  }
  return (crc ^ 0xff_ff_ff_ff) >>> 0;
}

/** How many standard deviations the ranks of two samples lie apart (Mann and Whitney): 0 where they are alike. */
function apart(one: readonly number[], other: readonly number[]): number {
  const all = [
    ...one.map((value) => ({ value, isOne: true })),
    ...other.map((value) => ({ value, isOne: false })),
  ].toSorted((a, b) => a.value - b.value);
  let ranks = 0;
  for (const [index, { isOne }] of all.entries()) if (isOne) ranks += index + 1;
  const [n, m] = [one.length, other.length];
  const expected = (n * (n + m + 1)) / 2;
  return (ranks - expected) / Math.sqrt((n * m * (n + m + 1)) / 12);
}

const SAMPLES = 400;
/** Where other work on the machine is much of the measure, it takes more of them to show anything. */
const SAMPLES_MAX = 4000;
/** One in a thousand by chance, on either side. */
const APART = 3.3;

/** How far apart these times and the same are, each longer by a fifth. */
const ofAFifth = (sample: readonly number[]): number =>
  apart(
    sample.map((ms) => ms * 1.2),
    sample,
  );

/** How long refusals take of keys near to a good one, and of others: as many as would show a difference of a fifth. */
async function sampled(good: string): Promise<{ near: number[]; far: number[] }> {
  const near: number[] = [];
  const far: number[] = [];
  do {
    for (let n = 0; n < SAMPLES; n += 1) {
      // By turns, so that whatever changes on the machine meets both.
      const isNearFirst = n % 2 === 0;
      const keys = [nearTo(good), newApiKey(gateway.projectId)];
      const first = await refusal(keys[isNearFirst ? 0 : 1] ?? '');
      const second = await refusal(keys[isNearFirst ? 1 : 0] ?? '');
      near.push(isNearFirst ? first : second);
      far.push(isNearFirst ? second : first);
    }
  } while (ofAFifth(far) <= APART && far.length < SAMPLES_MAX);
  return { near, far };
}

describe('whoever guesses at keys', () => {
  it('has junk refused without a look at the database, and the rest by one look', async () => {
    const good = gateway.apiKey;
    const junk = [
      'x',
      `${good}x`,
      good.slice(0, -1),
      good.toUpperCase(),
      `${good.slice(0, -6)}AAAAAA`,
    ];
    for (const key of junk) await refusal(key);
    expect(reads).toBe(0);
    for (let n = 1; n <= 5; n += 1) {
      await refusal(newApiKey(gateway.projectId));
      expect(reads).toBe(n);
    }
  });

  it('learns nothing of a good key from the time a refusal takes', async () => {
    const good = gateway.apiKey;
    expect(parseApiKey(nearTo(good))).toEqual({ projectId: gateway.projectId });
    for (let n = 0; n < 200; n += 1) await refusal(newApiKey(gateway.projectId));
    let least = Number.POSITIVE_INFINITY;
    let shown = 0;
    // Other work on the machine is in the measure, too: the best of a few counts.
    for (let attempt = 0; attempt < 4 && least > APART; attempt += 1) {
      const { near, far } = await sampled(good);
      least = Math.min(least, Math.abs(apart(near, far)));
      shown = ofAFifth(far);
    }
    expect(least).toBeLessThan(APART);
    // The measure would show a difference of a fifth.
    expect(shown).toBeGreaterThan(APART);
  });
});
