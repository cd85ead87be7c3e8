import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Project } from '../../../../gateway/projects/project.ts';
import { maintain } from '../../../../gateway/projects/maintenance.ts';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { refused } from '../../../gateway/approvals/people.ts';
import { SIGNERS, type Signer } from '../../../gateway/http/source-signers.ts';

const DAY_SECONDS = 86_400;

let clock: FakeClock;
let gateway: TestGateway;
let url: string;
let sent: number;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
  sent = 0;
});
afterEach(async () => {
  await gateway.stop();
  // Some tests start the gateway again in its folder.
  rmSync(gateway.folder, { recursive: true, force: true });
});

/** A gateway over the folder of the one before, after some time. */
async function restart(afterMs = 0): Promise<void> {
  const before = gateway;
  await before.stop({ keepFolder: true });
  clock.advance(afterMs);
  gateway = await TestGateway.start({ clock, folder: before.folder, projectOf: before });
  url = url.replace(before.url, gateway.url);
}

type Fields = Record<string, unknown>;

async function add({ verification, secrets }: Signer): Promise<void> {
  url = await gateway.addSource({ name: 'shop', verification, secret: secrets[0] });
}

async function rotate(secret: string, seconds?: number): Promise<Fields> {
  const answer = await gateway.call('POST', '/v1/sources/shop/rotate', {
    body: { secret, ...(seconds !== undefined && { previous_valid_seconds: seconds }) },
  });
  expect(answer.status).toBe(200);
  return answer.body;
}

/** What the sender gets for a delivery of its own that is signed with this secret now. */
async function deliver({ headers }: Signer, secret: string): Promise<string> {
  const body = JSON.stringify({ n: (sent += 1) });
  const answer = await gateway.deliver(url, body, {
    'content-type': 'application/json',
    ...(await headers(secret, body, clock.now())),
  });
  const { error, status } = answer.body as { error?: { code: string }; status?: string };
  return error?.code ?? String(status);
}

const REFUSED = 'INGRESS_SIGNATURE_INVALID';

/** The secrets with which a delivery is taken just now, and whatever else a delivery gets that is not refused as it should be. */
async function taken(signer: Signer): Promise<string[]> {
  const found: string[] = [];
  for (const secret of signer.secrets) {
    const answer = await deliver(signer, secret);
    if (answer !== REFUSED) found.push(answer === 'accepted' ? secret : `${secret}: ${answer}`);
  }
  return found;
}

/** Until when the source is said to take the secret before. */
async function saidUntil(): Promise<unknown> {
  const { body } = await gateway.call<{ items: Fields[] }>('GET', '/v1/sources');
  return body.items[0]?.['previous_secret_valid_until'];
}

async function project(): Promise<Project> {
  const found = await gateway.gateway.projects.find(gateway.projectId);
  if (!found) throw new Error('There is no project.');
  return found;
}

/** What the row has of the secret before. */
async function stored(): Promise<{ secret: boolean; until: number | null }> {
  const row = await (await project()).store.read((store) => store.sources.findByName('shop'));
  return {
    secret: row?.previous_secret instanceof Uint8Array,
    until: row?.previous_valid_until ?? null,
  };
}

const NOTHING = { secret: false, until: null };

describe.each(SIGNERS.map((signer) => [signer.verification, signer] as const))(
  'a source signed by %s that gets a new secret',
  (verification, signer) => {
    const [oldest, old, newer, newest] = signer.secrets;

    it('takes both until the time it has named, and from then on the new one alone', async () => {
      await add(signer);
      expect(await taken(signer)).toEqual([oldest]);
      const until = new Date(clock.now() + DAY_SECONDS * 1000).toISOString();
      expect(await rotate(old)).toEqual({
        name: 'shop',
        verification,
        rotated_at: new Date(clock.now()).toISOString(),
        previous_valid_until: until,
      });
      expect(await saidUntil()).toBe(until);
      expect(await taken(signer)).toEqual([oldest, old]);
      clock.advance(DAY_SECONDS * 1000 - 1);
      expect(await taken(signer)).toEqual([oldest, old]);
      clock.advance(1);
      // Nothing has swept it away yet.
      expect(await stored()).toEqual({ secret: true, until: clock.now() });
      expect(await taken(signer)).toEqual([old]);
      expect(await saidUntil()).toBeNull();
      await maintain(await project(), clock);
      expect(await stored()).toEqual(NOTHING);
      expect(await taken(signer)).toEqual([old]);
    });

    it('takes the new one alone at once where the one before has leaked', async () => {
      await add(signer);
      expect(await taken(signer)).toEqual([oldest]);
      expect(await rotate(old, 0)).toMatchObject({ previous_valid_until: null });
      expect(await taken(signer)).toEqual([old]);
      expect([await saidUntil(), await stored()]).toEqual([null, NOTHING]);
    });

    it('takes the newest two when it is rotated again and again', async () => {
      await add(signer);
      await rotate(old, 604_800);
      await rotate(newer, 60);
      expect(await taken(signer)).toEqual([old, newer]);
      await rotate(newest, 3600);
      expect(await taken(signer)).toEqual([newer, newest]);
      // The end of a window that was replaced ends nothing.
      clock.advance(60_000);
      await maintain(await project(), clock);
      expect(await taken(signer)).toEqual([newer, newest]);
      await rotate(oldest, 0);
      expect(await taken(signer)).toEqual([oldest]);
    });
  },
);

const [, GITHUB] = SIGNERS as readonly [Signer, Signer];
const [OLDEST, OLD, NEWER, NEWEST] = GITHUB.secrets;

describe('a rotation', () => {
  beforeEach(() => add(GITHUB));

  it('made again with the same secret keeps the one before, and sets its end anew', async () => {
    await rotate(OLD, 3600);
    clock.advance(1000);
    const again = await rotate(OLD, 3600);
    expect(again['previous_valid_until']).toBe(new Date(clock.now() + 3_600_000).toISOString());
    expect(await taken(GITHUB)).toEqual([OLDEST, OLD]);
    expect(await rotate(OLD, 0)).toMatchObject({ previous_valid_until: null });
    expect(await taken(GITHUB)).toEqual([OLD]);
  });

  it('made again when the one before has ended does not bring that back', async () => {
    await rotate(OLD, 60);
    clock.advance(60_000);
    expect(await rotate(OLD, 60)).toMatchObject({ previous_valid_until: null });
    expect(await taken(GITHUB)).toEqual([OLD]);
    expect(await stored()).toEqual(NOTHING);
  });

  it('back to the secret before takes both', async () => {
    await rotate(OLD);
    await rotate(OLDEST);
    expect(await taken(GITHUB)).toEqual([OLDEST, OLD]);
  });

  it('has the secret before deleted when its time is over, though nobody comes', async () => {
    await rotate(OLD, 1);
    clock.advance(1000);
    await expect.poll(stored, { interval: 50 }).toEqual(NOTHING);
  });

  it('is not lost with the gateway, nor is its end', async () => {
    await rotate(OLD, 3600);
    await restart();
    expect(await taken(GITHUB)).toEqual([OLDEST, OLD]);
    await restart(3_600_000);
    expect(await taken(GITHUB)).toEqual([OLD]);
    await expect.poll(stored, { interval: 50 }).toEqual(NOTHING);
  });

  it('loses none of what comes in meanwhile, signed with either', async () => {
    // Half of the senders change over at once, the others when the next rotation is near.
    const secrets = { early: OLDEST, late: OLDEST };
    const signedBy: string[] = [];
    const answers: string[] = [];
    const over = new AbortController();
    const lanes = Array.from({ length: 8 }, async (_, lane) => {
      while (!over.signal.aborted) {
        const secret = lane % 2 === 0 ? secrets.early : secrets.late;
        signedBy[lane] = secret;
        answers.push(await deliver(GITHUB, secret));
      }
    });
    const soon = { interval: 5, timeout: 60_000 };
    try {
      for (const secret of [OLD, NEWER, NEWEST]) {
        await expect.poll(() => new Set(signedBy), soon).toEqual(new Set([secrets.early]));
        await rotate(secret);
        secrets.early = secret;
        const before = answers.length;
        await expect.poll(() => answers.length, soon).toBeGreaterThan(before + 50);
        expect(new Set(signedBy)).toEqual(new Set([secret, secrets.late]));
        secrets.late = secret;
      }
    } finally {
      over.abort();
      await Promise.all(lanes);
    }
    expect(answers.filter((one) => one !== 'accepted')).toEqual([]);
    const { body } = await gateway.call<{ items: Fields[] }>('GET', '/v1/sources');
    expect(body.items[0]).toMatchObject({ events_24h: answers.length, rejected_24h: 0 });
  });

  it('that ends a leaked secret is followed by no delivery of it, however many come', async () => {
    for (let round = 0; round < 10; round += 1) {
      const [before, next] = round % 2 === 0 ? [OLDEST, OLD] : [OLD, OLDEST];
      const rush = Array.from({ length: 16 }, () => deliver(GITHUB, before));
      await rotate(next, 0);
      expect(await deliver(GITHUB, before)).toBe(REFUSED);
      await Promise.all(rush);
      expect(await deliver(GITHUB, before)).toBe(REFUSED);
      expect(await deliver(GITHUB, next)).toBe('accepted');
    }
  });

  it('has what is signed for trying out signed with the new one', async () => {
    await rotate(OLD, 0);
    const body = '{"tried":true}';
    const { body: signed } = await gateway.call<{ url: string; headers: Record<string, string> }>(
      'POST',
      '/v1/sources/shop/sign',
      { body: { name: 'shop', body_base64: Buffer.from(body).toString('base64') } },
    );
    expect((await gateway.deliver(signed.url, body, signed.headers)).status).toBe(200);
  });

  it('stands in the ledger, and shows no secret anywhere', async () => {
    const rotated = await rotate(OLD);
    const ledger = await gateway.call<{ items: Fields[] }>('GET', '/v1/ledger?op=source_rotate');
    expect(ledger.body.items).toMatchObject([{ subject: 'shop', outcome: 'ok' }]);
    const refusal = await gateway.call('POST', '/v1/sources/shop/rotate', {
      body: { secret: ` ${NEWER} ` },
    });
    const list = await gateway.call('GET', '/v1/sources');
    const said = JSON.stringify([rotated, ledger.body, refusal.body, list.body]);
    for (const secret of GITHUB.secrets) expect(said).not.toContain(secret);
  });

  it('ends with its source: the name may come back, and the old secrets do not', async () => {
    await rotate(OLD);
    await gateway.call('DELETE', '/v1/sources/shop');
    expect(await deliver(GITHUB, OLDEST)).toBe('NOT_FOUND');
    url = await gateway.addSource({ name: 'shop', verification: 'github', secret: NEWER });
    expect(await saidUntil()).toBeNull();
    expect(await taken(GITHUB)).toEqual([NEWER]);
    // Nothing of the one that was removed is left to be swept.
    expect(
      await (await project()).store.read((store) => store.sources.nextPreviousEnd()),
    ).toBeNull();
  });
});

const invalidField = (path: string) => refused(400, 'VALIDATION_FAILED', { fields: [{ path }] });

describe('a rotation that cannot be', () => {
  it.each([
    ['secret', 'none', {}],
    ['secret', 'empty', { secret: '' }],
    ['secret', 'padded', { secret: ' padded' }],
    ['secret', 'too long', { secret: 'x'.repeat(1025) }],
    ['secret', 'a number', { secret: 7 }],
    ['previous_valid_seconds', 'negative', { secret: NEWER, previous_valid_seconds: -1 }],
    ['previous_valid_seconds', 'over a week', { secret: NEWER, previous_valid_seconds: 604_801 }],
    ['previous_valid_seconds', 'a fraction', { secret: NEWER, previous_valid_seconds: 1.5 }],
    ['previous_valid_seconds', 'text', { secret: NEWER, previous_valid_seconds: '60' }],
  ])('names the field: %s, %s', async (field, _what, body) => {
    await add(GITHUB);
    await rotate(OLD);
    const answer = await gateway.call('POST', '/v1/sources/shop/rotate', { body });
    expect(answer).toMatchObject(invalidField(field));
    expect(await taken(GITHUB)).toEqual([OLDEST, OLD]);
  });

  it('is checked for the verification of the source', async () => {
    const [, , , standard] = SIGNERS as readonly [Signer, Signer, Signer, Signer];
    await add(standard);
    const body = { secret: 'no base64 of sixteen bytes' };
    const answer = await gateway.call('POST', '/v1/sources/shop/rotate', { body });
    expect(answer).toMatchObject(invalidField('secret'));
    expect(await taken(standard)).toEqual([standard.secrets[0]]);
  });

  it('is none for a source that is not signed, nor for one that is not there', async () => {
    await gateway.addSource({ name: 'open' });
    const body = { secret: NEWER };
    const open = await gateway.call('POST', '/v1/sources/open/rotate', { body });
    expect(open).toMatchObject(invalidField('secret'));
    const nobody = await gateway.call('POST', '/v1/sources/nobody/rotate', { body });
    expect(nobody).toMatchObject(refused(404, 'NOT_FOUND'));
  });
});
