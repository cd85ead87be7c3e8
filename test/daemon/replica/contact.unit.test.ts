import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Contact, type ContactResult } from '../../../daemon/replica/sync/contact.ts';
import { FreshnessJudge } from '../../../daemon/replica/serve/freshness.ts';
import { SourceError } from '../../../daemon/replica/sync/source-error.ts';
import { StatusBoard } from '../../../daemon/replica/status-board.ts';
import { FakeClock } from '../../helpers/gateway.ts';

/** Longer than an answer in time may take. */
const LATE_MS = 1100;

const GATEWAY = { gateway: { position: 7 }, lost: 0 } as ContactResult;

let answer: () => Promise<ContactResult>;
let asked: number;
let freshness: FreshnessJudge;
let contact: Contact;

const atOnce = (): Promise<ContactResult> => Promise.resolve(GATEWAY);
const late = async (): Promise<ContactResult> => {
  await sleep(LATE_MS);
  return GATEWAY;
};

beforeEach(() => {
  const clock = new FakeClock();
  asked = 0;
  answer = atOnce;
  freshness = new FreshnessJudge(clock);
  contact = new Contact({
    ask: () => {
      asked += 1;
      return answer();
    },
    freshness,
    board: new StatusBoard(clock),
    pauses: { endNow: () => undefined },
    isFollowing: () => true,
    renew: () => undefined,
    onPosition: () => undefined,
    onReturn: () => undefined,
  });
});
afterEach(() => contact.close());

describe('a gateway', () => {
  it('that has just answered in time is not asked', async () => {
    contact.noteAnswer(5);
    expect([await contact.isPrompt(), asked]).toEqual([true, 0]);
  });

  it('that was not heard for long is asked, and answers in time', async () => {
    expect([await contact.isPrompt(), asked]).toEqual([true, 1]);
  });

  it('whose answers come late is waited for once, and not by every read', async () => {
    answer = late;
    expect(await contact.isPrompt()).toBe(false);
    await contact.reach();
    // It answers, and the stream speaks.
    freshness.contacted(7);
    expect(contact.isSilent).toBe(true);
    const before = asked;
    const again = [contact.isPrompt(), contact.isPrompt()];
    expect(await Promise.race([...again, contact.reach()])).toBe(false);
    expect(asked).toBe(before + 1);
    answer = atOnce;
    await contact.reach();
    expect([contact.isSilent, await contact.isPrompt()]).toEqual([false, true]);
  });

  it('that was late is asked in the background by whoever reads, until it answers in time', async () => {
    answer = late;
    await contact.reach();
    answer = atOnce;
    expect(contact.isSilent).toBe(true);
    contact.attend();
    await expect.poll(() => contact.isSilent).toBe(false);
  });

  it('that took long for one call is not late, if it answers a question in time', async () => {
    contact.noteAnswer(30_000);
    expect(await contact.isPrompt()).toBe(true);
    expect([asked, contact.isSilent]).toEqual([1, false]);
  });

  it('that held a wait for long has said nothing of the line', async () => {
    answer = late;
    await contact.reach();
    contact.noteAnswer(null);
    expect(contact.isSilent).toBe(true);
  });

  it('that refuses is not prompt', async () => {
    answer = () => Promise.reject(new SourceError('unreachable', 'Refused.'));
    expect(await contact.isPrompt()).toBe(false);
  });
});

it('a copy on a slow line is as old as the line makes it', async () => {
  freshness.has(7);
  freshness.contacted(7);
  answer = late;
  await contact.reach();
  expect(freshness.judge().usable).toBe('live');
  expect(freshness.judge().ageMs).toBeGreaterThanOrEqual(1000);
  contact.noteAnswer(5);
  expect(freshness.judge().ageMs).toBe(0);
});
