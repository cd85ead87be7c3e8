import { describe, expect, it } from 'vitest';
import type { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { mailsOf } from '../../../helpers/outbox.ts';
import { eachWithPeople, type TestPeople } from '../../../gateway/approvals/people.ts';

let test: TestGateway;
let clock: FakeClock;
let people: TestPeople;
eachWithPeople((made) => ({ test, clock, people } = made));

const QUESTION = { question: 'Which region?', options: ['eu-west', 'us-east'], state_ref: 's' };

describe('ask_human', () => {
  it.each([
    [{ verb: 'option', index: 1, comment: 'near' }, 'answered', 'us-east', 'near'],
    [{ verb: 'answer', text: ' Neither.\nWait. ' }, 'answered', 'Neither.\nWait.', null],
    [{ verb: 'needs_context', comment: 'Of what?' }, 'needs_context', null, 'Of what?'],
  ] as const)('answers %j as %s', async (choice, status, decision, comment) => {
    const asking = people.ask({ ...QUESTION, wait_seconds: 20 }, { once: 'q' });
    await expect.poll(() => people.project.waits.size).toBe(1);
    const [row] = await people.project.store.read((store) => store.requests.pending(clock.now()));
    const id = row?.id ?? '';
    expect((await people.decide(id, choice))?.outcome).toBe('taken');
    const { body } = await asking;
    const owner = await people.owner();
    const told = { request_id: id, status, decision, comment, decided_by: `channel:${owner}` };
    expect(body).toMatchObject({ ...told, state_ref: 's', poll_after_seconds: null });
    expect(await people.status(id)).toMatchObject({
      ...told,
      kind: 'question',
      question: 'Which region?',
      action: null,
      risk: null,
      amount: null,
      details: null,
    });
    expect(await people.events()).toMatchObject([told]);
  });

  it('is pending, and expires, like any request', async () => {
    const { body } = await people.ask({ ...QUESTION, expires_in: '1m' });
    expect(body).toMatchObject({ status: 'pending', decision: null, poll_after_seconds: 30 });
    clock.advance(60_000);
    const expired = { status: 'expired', decision: null };
    expect(await people.status(body.request_id)).toMatchObject(expired);
  });

  it.each([
    [{ verb: 'approve' }, /answered, not approved/],
    [{ verb: 'deny' }, /answered, not approved/],
    [{ verb: 'option', index: 2 }, /no such option/],
    [{ verb: 'option', index: -1 }, /no such option/],
    [{ verb: 'option', index: 0.5 }, /no such option/],
    [{ verb: 'option', index: Number.NaN }, /no such option/],
    [{ verb: 'answer', text: ' \0\n ' }, /empty/],
    [{ verb: 'needs_context', comment: ' ' }, /what is missing/],
  ] as const)('refuses %j, and stays open', async (choice, problem) => {
    const id = await people.asked(QUESTION);
    const done = await people.decide(id, choice);
    expect(done).toMatchObject({ outcome: 'refused', problem: expect.stringMatching(problem) });
    expect((await people.status(id)).status).toBe('pending');
    expect((await people.decide(id, { verb: 'option', index: 0 }))?.outcome).toBe('taken');
  });

  it('always goes to a person, whatever the policy says', async () => {
    await people.setPolicy({ effect: 'deny' });
    const { body } = await people.ask(QUESTION);
    expect(body.status).toBe('pending');
    expect(await people.status(body.request_id)).toMatchObject({ rule: null, policy_version: 1 });
  });

  it('keeps an answer as it can be kept', async () => {
    const id = await people.asked(QUESTION);
    const text = `a\0b\ud800${'👍'.repeat(5000)}`;
    await people.decide(id, { verb: 'answer', text });
    const { decision } = await people.status(id);
    expect(decision?.startsWith('ab\ufffd👍')).toBe(true);
    expect(Array.from(decision ?? '')).toHaveLength(4000);
  });
});

describe('an approval', () => {
  it.each([
    [{ verb: 'option', index: 0 }, /no such option/],
    [{ verb: 'answer', text: 'yes' }, /Only a question/],
    [{ verb: 'needs_context', comment: '\0' }, /what is missing/],
  ] as const)('refuses %j, and stays open', async (choice, problem) => {
    const id = await people.asked();
    const done = await people.decide(id, choice);
    expect(done).toMatchObject({ outcome: 'refused', problem: expect.stringMatching(problem) });
    expect((await people.status(id)).status).toBe('pending');
    expect(await people.ledger('request.decided')).toEqual([]);
    expect(mailsOf(test.folder)).toHaveLength(1);
  });
});
