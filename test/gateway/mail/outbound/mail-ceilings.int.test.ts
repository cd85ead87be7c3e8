import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withRawDatabase } from '../../../helpers/database.ts';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { refused } from '../../approvals/people.ts';
import { TestSending } from './sending.ts';

const HOUR = 3_600_000;
const LIMITS = { account: 20, gateway: 30 };

let clock: FakeClock;
let mail: TestSending;
let second: TestSending;
let stranger: TestSending;
beforeEach(async () => {
  clock = new FakeClock(Date.UTC(2026, 0, 30, 20));
  mail = await TestSending.start({ clock, mailLimits: LIMITS });
  second = await mail.neighbour('second');
  stranger = await mail.neighbour('stranger');
  control((raw) => {
    raw.exec(`INSERT INTO account (id, address, address_hash, created_at) VALUES
      ('acc_a', x'00', 'a', '2026-01-01'), ('acc_b', x'00', 'b', '2026-01-01')`);
    const owner = 'UPDATE project SET account_id = ? WHERE id = ?';
    raw.run(owner, ['acc_a', mail.project.info.id]);
    raw.run(owner, ['acc_a', second.project.info.id]);
    raw.run(owner, ['acc_b', stranger.project.info.id]);
  });
  for (const one of [mail, second, stranger]) await one.allowAll();
});
afterEach(() => mail.stop());

function control<T>(fn: Parameters<typeof withRawDatabase<T>>[1]): T {
  return withRawDatabase(join(mail.gateway.folder, 'control.db'), fn);
}

let nth = 0;
const sendTo = (from: TestSending, count: number, once?: string) =>
  from.send(
    { to: Array.from({ length: count }, () => `a${nth++}@example.com`) },
    once === undefined ? {} : { once },
  );

const limit = (of: string, most: number, used: number) =>
  refused(429, 'SEND_LIMIT_REACHED', {
    of,
    window: 'day',
    limit: most,
    used,
    retry_after: 4 * 3600,
  });

/** What is counted, once nothing is being given back. */
async function counted(expected: Record<string, number>): Promise<void> {
  await expect
    .poll(() =>
      Object.fromEntries(
        control((raw) => raw.all('SELECT scope, asked FROM mail_use ORDER BY scope')).map((row) => [
          row['scope'],
          row['asked'],
        ]),
      ),
    )
    .toEqual(expected);
}

describe('the mail of all projects of an account', () => {
  it('is limited together, and leaves others their own', async () => {
    expect((await sendTo(mail, 12)).status).toBe(202);
    expect((await sendTo(second, 8)).status).toBe(202);
    expect(await sendTo(second, 1)).toMatchObject(limit('account', 20, 20));
    expect((await sendTo(stranger, 9)).status).toBe(202);
    expect(await second.ledger('email_send')).toMatchObject([
      { outcome: 'error', code: 'SEND_LIMIT_REACHED' },
      { outcome: 'ok' },
    ]);
  });

  it('is limited whoever asks at the same time', async () => {
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, n) => sendTo(n % 2 === 0 ? mail : second, 3)),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(6);
    await counted({ 'account:acc_a': 18, gateway: 18 });
  });

  it('is free again with the next day (UTC)', async () => {
    await sendTo(mail, 20);
    clock.advance(4 * HOUR);
    expect((await sendTo(second, 20)).status).toBe(202);
    await counted({ 'account:acc_a': 20, gateway: 20 });
  });
});

describe('the mail of a gateway', () => {
  it('is limited over all accounts, also after the process was killed', async () => {
    await sendTo(mail, 20);
    await sendTo(stranger, 10);
    expect(await sendTo(stranger, 1)).toMatchObject(limit('gateway', 30, 30));
    // The file as a killed process leaves it.
    const rows = control((raw) => raw.all('SELECT asked FROM mail_use ORDER BY asked'));
    expect(rows).toEqual([{ asked: 10 }, { asked: 20 }, { asked: 30 }]);
  });
});

describe('what was not sent', () => {
  it('does not count: refused, repeated, or cancelled by a person', async () => {
    await mail.policy({ id: 'no', effect: 'deny', tool: 'email_send' });
    expect((await sendTo(mail, 5)).body.error?.code).toBe('POLICY_DENIED');
    await counted({ 'account:acc_a': 0, gateway: 0 });
    await mail.allowAll();
    const body = { to: ['ben@example.com', 'bo@example.com'] };
    const first = await mail.send(body, { once: 'one' });
    expect((await mail.send(body, { once: 'one' })).body).toEqual(first.body);
    await counted({ 'account:acc_a': 2, gateway: 2 });
    await mail.policy({ id: 'ask', effect: 'require_approval', tool: 'email_send' });
    const asked = await mail.send({ to: ['cy@example.com'], subject: 'Ask' });
    await counted({ 'account:acc_a': 3, gateway: 3 });
    await mail.call('POST', `/v1/requests/${asked.body.request_id}/withdraw`, { reason: 'No' });
    await counted({ 'account:acc_a': 2, gateway: 2 });
  });
});

it('a local gateway has no ceiling', async () => {
  const local = await TestGateway.start({ clock });
  try {
    const folder = join(local.folder, 'control.db');
    const rows = withRawDatabase(folder, (raw) => raw.all('SELECT * FROM mail_use'));
    expect(rows).toEqual([]);
  } finally {
    await local.stop();
  }
});
