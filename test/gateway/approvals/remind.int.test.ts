/* oxlint-disable unicorn/no-thenable -- the field has this name */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, temporaryFolder, TestGateway } from '../../helpers/gateway.ts';
import { mailsOf } from '../../helpers/outbox.ts';
import { parsedMail, valuesOf } from '../mail/parsed-mail.ts';
import { TestPeople } from './people.ts';

const SOON = { interval: 5, timeout: 60_000 } as const;
const HOUR_MS = 3_600_000;

let folder: ReturnType<typeof temporaryFolder>;
let test: TestGateway;
let clock: FakeClock;
let people: TestPeople;
beforeEach(async () => {
  clock = new FakeClock();
  folder = temporaryFolder();
  test = await TestGateway.start({ clock, folder: folder.path });
  people = await TestPeople.of(test, clock);
});
afterEach(async () => {
  await test.stop();
  folder.remove();
});

/** The requests' mails so far, once nothing is due. */
async function asked(requestId: string): Promise<string[]> {
  const due = () => people.project.store.read((store) => store.notices.due(clock.now(), 1));
  await people.maintenance();
  await expect.poll(due, SOON).toEqual([]);
  const notices = await people.project.store.read((store) => store.notices.ofRequest(requestId));
  return notices.filter(({ status }) => status === 'sent').map((one) => one.channel_id);
}

describe('a request with a reminder', () => {
  it('is asked once more, in the thread of the first mail', async () => {
    const owner = await people.owner();
    const request = await people.asked({ remind: '4h' });
    clock.advance(4 * HOUR_MS - 1);
    expect(await asked(request)).toEqual([owner]);
    clock.advance(1);
    expect(await asked(request)).toEqual([owner, owner]);
    clock.advance(4 * HOUR_MS);
    expect(await asked(request)).toEqual([owner, owner]);
    const [first, second] = mailsOf(test.folder).map(parsedMail);
    if (!first || !second) throw new Error('A mail is missing.');
    expect(valuesOf(second, 'in-reply-to')).toEqual(valuesOf(first, 'message-id'));
    expect(second.text).toMatch(/^Reminder, still undecided\. /);
  });

  it.each([
    { remind: '2h', expires_in: '1h' },
    { remind: '60m', expires_in: '1h' },
    { remind: '24h' },
    { remind: '7d', question: 'Which region?' },
  ])('that would come after its end is refused: %j', async (body) => {
    const { status, body: answer } = await people.ask(body);
    expect(status).toBe(400);
    expect(answer.error).toMatchObject({
      code: 'VALIDATION_FAILED',
      details: {
        fields: [
          {
            path: 'remind',
            message: 'Must be shorter than `expires_in`, which is 24h by default.',
          },
        ],
      },
    });
  });

  it('is asked once more up to the end', async () => {
    const owner = await people.owner();
    const request = await people.asked({ remind: '59m', expires_in: '1h' });
    clock.advance(HOUR_MS - 60_000);
    expect(await asked(request)).toEqual([owner, owner]);
  });

  it('asks nobody again once somebody decided', async () => {
    const request = await people.asked({ remind: '4h' });
    await asked(request);
    await people.decide(request, { verb: 'deny' });
    clock.advance(5 * HOUR_MS);
    expect(await asked(request)).toEqual([await people.owner()]);
  });

  it('survives a restart', async () => {
    const request = await people.asked({ remind: '4h' });
    await asked(request);
    await test.stop();
    const { projectId, apiKey } = test;
    test = await TestGateway.start({
      clock,
      folder: folder.path,
      projectOf: { projectId, apiKey },
    });
    people = await TestPeople.of(test, clock);
    clock.advance(4 * HOUR_MS);
    expect(await asked(request)).toHaveLength(2);
  });
});

describe('a request with a next person', () => {
  it('asks them half of the time later, and they can decide', async () => {
    const owner = await people.owner();
    const next = await people.activeChannel('next@example.com');
    const request = await people.asked({ then: [next], expires_in: '10h' });
    expect(await asked(request)).toEqual([owner]);
    expect((await people.status(request)).approvers).toEqual([owner, next]);
    clock.advance(5 * HOUR_MS);
    expect(await asked(request)).toEqual([owner, next]);
    await people.decide(request, { verb: 'approve' }, next);
    const decided_by = `channel:${next}`;
    expect(await people.status(request)).toMatchObject({ status: 'approved', decided_by });
  });

  it('asks them with the reminder', async () => {
    const owner = await people.owner();
    const next = await people.activeChannel('next@example.com');
    const request = await people.asked({ then: [next], remind: '1h', question: 'Which region?' });
    clock.advance(HOUR_MS);
    expect((await asked(request)).toSorted()).toEqual([owner, owner, next].toSorted());
  });

  it('asks only the approvers of the rule', async () => {
    const owner = await people.owner();
    const next = await people.activeChannel('next@example.com');
    await people.setPolicy({
      id: 'owner-only',
      action: 'deploy',
      effect: 'require_approval',
      approvers: [owner],
    });
    const request = await people.asked({ then: [next], remind: '1h' });
    clock.advance(HOUR_MS);
    expect(await asked(request)).toEqual([owner, owner]);
  });

  it('refuses a channel that is not there', async () => {
    const then = [`chn_${'0'.repeat(26)}`];
    expect((await people.ask({ then })).body.error?.code).toBe('CHANNEL_NOT_VERIFIED');
  });
});
