import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parsedMail, valuesOf } from '../parsed-mail.ts';
import { TestPeople, refused } from '../../approvals/people.ts';
import { TestSending } from './sending.ts';

const DAY = 86_400_000;

let mail: TestSending;
let people: TestPeople;
beforeEach(async () => {
  mail = await TestSending.start();
  people = await TestPeople.of(mail.gateway, mail.clock);
});
afterEach(() => mail.stop());

const pendingCount = async () =>
  (await mail.project.store.read((store) => store.requests.pending(mail.clock.now()))).length;

describe('what the policy says of a mail', () => {
  it.each([
    { effect: 'allow', request: null, asked: 0 },
    { effect: 'auto_approve', request: expect.stringMatching(/^req_/), asked: 0 },
    { effect: 'auto_approve_notify', request: expect.stringMatching(/^req_/), asked: 1 },
  ])('$effect: it goes out at once', async ({ effect, request, asked }) => {
    await mail.policy({ effect, tool: ['email_send'] });
    const { status, body } = await mail.send();
    expect(status).toBe(202);
    expect(body).toEqual({
      status: 'queued',
      batch_id: expect.stringMatching(/^bat_[0-9a-z]{26}$/),
      thread_id: expect.stringMatching(/^thr_[0-9a-z]{26}$/),
      request_id: request,
      messages: [
        {
          message_id: expect.stringMatching(/^msg_[0-9a-z]{26}$/),
          to: 'ana@example.com',
          status: 'queued',
        },
      ],
    });
    expect(await mail.ended(body.batch_id)).toMatchObject([{ status: 'sent' }]);
    expect(mail.outbox()).toHaveLength(1);
    const told = await mail.project.store.read((store) =>
      store.notices.ofRequest(body.request_id ?? ''),
    );
    expect(told.map(({ kind }) => kind)).toEqual(asked === 0 ? [] : ['tell']);
  });

  it('auto_approve: a record says which rule it was', async () => {
    await mail.policy({ effect: 'auto_approve' });
    const { body } = await mail.send();
    expect(await people.status(body.request_id ?? '')).toMatchObject({
      status: 'approved',
      decided_by: 'policy:rule-1',
    });
  });

  it('deny: it is refused, and takes no room', async () => {
    await mail.policy({ id: 'no-mail', effect: 'deny', tool: ['email_send'] });
    const answer = await mail.send();
    expect(answer).toMatchObject(refused(403, 'POLICY_DENIED', { rule: 'no-mail' }));
    expect(answer.body).toMatchObject({
      error: {
        hint: 'See the rule `no-mail` with GET /v1/policy: it may concern only one recipient.',
      },
    });
    expect(await mail.asked()).toBe(0);
    expect(mail.outbox()).toEqual([]);
  });

  it('allows only what goes to its domains alone, and denies what goes to any of them', async () => {
    await mail.policy(
      { id: 'rival', effect: 'deny', recipient_domains: ['rival.example'] },
      { id: 'ours', effect: 'allow', recipient_domains: ['example.com', '*.example.com'] },
    );
    const to = (...addresses: string[]) => mail.send({ to: addresses });
    expect((await to('ana@example.com', 'bo@EU.example.com')).body.status).toBe('queued');
    expect((await to('ana@example.com', 'cy@example.org')).body.status).toBe('pending');
    expect(await to('ana@example.com', 'dee@Rival.example')).toMatchObject(
      refused(403, 'POLICY_DENIED', { rule: 'rival' }),
    );
    expect((await to('x@notexample.com')).body.status).toBe('pending');
  });

  it('says nothing: a person is asked', async () => {
    const { status, body } = await mail.send({ to: ['ana@example.com', 'bo@example.com'] });
    expect(status).toBe(202);
    expect(body).toMatchObject({
      status: 'pending',
      request_id: expect.stringMatching(/^req_/),
      messages: [
        { to: 'ana@example.com', status: 'pending' },
        { to: 'bo@example.com', status: 'pending' },
      ],
    });
    expect(await people.status(body.request_id ?? '')).toMatchObject({
      kind: 'email_send',
      status: 'pending',
      action: 'email_send',
      risk: 'medium',
      summary: 'Send "Hello" to ana@example.com, bo@example.com',
    });
    expect(await mail.asked()).toBe(2);
    expect(mail.outbox()).toEqual([]);
  });
});

describe('a mail that waits for a person', () => {
  it('goes out on its own once it is approved', async () => {
    const { body } = await mail.send({ text: 'The whole text.' });
    await people.decide(body.request_id ?? '', { verb: 'approve' });
    expect(await mail.ended(body.batch_id)).toMatchObject([{ status: 'sent' }]);
    expect(parsedMail(mail.outbox()[0] ?? '').text).toBe('The whole text.\n');
    expect((await mail.status(body.batch_id)).status).toBe('sent');
    expect(await mail.asked()).toBe(1);
  });

  it.each([
    { verb: 'deny' as const },
    { verb: 'needs_context' as const, comment: 'To whom is it?' },
  ])('never goes out after $verb, and its room is free again', async (choice) => {
    const { body } = await mail.send({ to: ['ana@example.com', 'bo@example.com'] });
    expect(await mail.asked()).toBe(2);
    await people.decide(body.request_id ?? '', choice);
    const after = await mail.status(body.batch_id);
    expect(after.status).toBe('cancelled');
    expect(after.messages.map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
    expect(await mail.asked()).toBe(0);
    expect(await mail.ledger('email.cancelled')).toMatchObject([{ subject: body.batch_id }]);
    await mail.maintenance();
    expect(mail.outbox()).toEqual([]);
  });

  it('is cancelled when nobody decided in time, whether that was written down or not', async () => {
    const { body } = await mail.send();
    mail.clock.advance(DAY);
    expect(await mail.status(body.batch_id)).toMatchObject({
      status: 'cancelled',
      messages: [{ status: 'cancelled' }],
    });
    await mail.maintenance();
    expect(await mail.status(body.batch_id)).toMatchObject({ status: 'cancelled' });
    // The room was of the day before.
    const [day] = new Date(mail.clock.now() - DAY).toISOString().split('T');
    const use = await mail.project.store.read((store) =>
      store.emailAddresses.sums(day ?? '', day ?? ''),
    );
    expect(use.asked).toBe(0);
    expect(mail.outbox()).toEqual([]);
  });

  it('is the same batch when the call comes again, and another once it is decided', async () => {
    const first = (await mail.send()).body;
    const again = await mail.send();
    expect(again.status).toBe(202);
    expect(again.body).toEqual(first);
    expect(await mail.asked()).toBe(1);
    expect(await pendingCount()).toBe(1);
    for (const other of [
      { text: 'Hi!' },
      { subject: 'Hello!' },
      { html: '<p>Hi.' },
      { to: ['bo@example.com'] },
      { reply_to_inbox: false },
    ]) {
      expect((await mail.send(other)).body.batch_id).not.toBe(first.batch_id);
    }
    const key = await mail.gateway.key('send');
    expect((await mail.send({}, { key })).body.batch_id).not.toBe(first.batch_id);
    await people.decide(first.request_id ?? '', { verb: 'deny' });
    expect((await mail.send()).body.batch_id).not.toBe(first.batch_id);
  });

  it('answers whoever waits, as it was decided', async () => {
    const asking = mail.send({ wait_seconds: 60 });
    await expect.poll(() => people.project.waits.size).toBe(1);
    const [request] = await mail.project.store.read((store) =>
      store.requests.pending(mail.clock.now()),
    );
    await people.decide(request?.id ?? '', { verb: 'approve' });
    const { body } = await asking;
    expect(body.status).toMatch(/queued|sent/);
    expect(await mail.ended(body.batch_id)).toMatchObject([{ status: 'sent' }]);
  });

  it('answers 200 when it was refused while the caller waited', async () => {
    const asking = mail.send({ wait_seconds: 60 });
    await expect.poll(() => people.project.waits.size).toBe(1);
    const [request] = await mail.project.store.read((store) =>
      store.requests.pending(mail.clock.now()),
    );
    await people.decide(request?.id ?? '', { verb: 'deny' });
    expect(await asking).toMatchObject({
      status: 200,
      body: { status: 'cancelled', messages: [{ status: 'cancelled' }] },
    });
  });

  it.each([
    { seconds: 60, writtenDown: true },
    { seconds: 1, writtenDown: false },
  ])('answers 200 when its time ended within $seconds s', async ({ seconds, writtenDown }) => {
    const asking = mail.send({ wait_seconds: seconds });
    await expect.poll(() => people.project.waits.size).toBe(1);
    mail.clock.advance(DAY);
    if (writtenDown) await mail.maintenance();
    expect(await asking).toMatchObject({
      status: 200,
      body: { status: 'cancelled', messages: [{ status: 'cancelled' }] },
    });
  });

  it('is not to be had beyond what may be pending, and takes no room then', async () => {
    for (let count = 0; count < 30; count += 1) await people.asked({ summary: `Deploy ${count}` });
    expect(await mail.send()).toMatchObject(refused(429, 'TOO_MANY_PENDING_REQUESTS'));
    expect(await mail.asked()).toBe(0);
  });
});

describe('an Idempotency-Key', () => {
  it('gives a repeat the first batch, and sends once', async () => {
    await mail.allowAll();
    const first = await mail.send({}, { once: 'one' });
    const again = await mail.send({}, { once: 'one' });
    expect(again).toMatchObject({ status: 202, body: first.body });
    expect(await mail.send({ text: 'Other.' }, { once: 'one' })).toMatchObject(
      refused(400, 'VALIDATION_FAILED'),
    );
    await mail.ended(first.body.batch_id);
    expect(mail.outbox()).toHaveLength(1);
    expect(await mail.asked()).toBe(1);
    // Without one the same call is another mail.
    await mail.ended(await mail.sent());
    expect(mail.outbox()).toHaveLength(2);
  });

  it('gives a repeat what was decided meanwhile', async () => {
    const first = await mail.send({}, { once: 'two' });
    await people.decide(first.body.request_id ?? '', { verb: 'approve' });
    await mail.ended(first.body.batch_id);
    const again = await mail.send({}, { once: 'two' });
    expect(again).toMatchObject({
      status: 202,
      body: { status: 'queued', batch_id: first.body.batch_id },
    });
    expect(mail.outbox()).toHaveLength(1);
  });
});

describe('email_status', () => {
  it('tells what was sent, from whom and when', async () => {
    await mail.allowAll();
    const id = await mail.sent({ subject: 'Über uns' });
    await mail.ended(id);
    expect(await mail.status(id)).toMatchObject({
      batch_id: id,
      request_id: null,
      subject: 'Über uns',
      from: mail.address,
      created_at: '2026-01-02T03:04:05.000Z',
    });
    expect(valuesOf(parsedMail(mail.outbox()[0] ?? ''), 'subject')).toEqual(['Über uns']);
  });

  it('knows nothing of another project', async () => {
    await mail.allowAll();
    const id = await mail.sent();
    const other = await mail.neighbour('other');
    const unknown = await other.call('GET', `/v1/emails/${id}`);
    expect(unknown).toMatchObject(refused(404, 'NOT_FOUND'));
    expect(unknown.body).toMatchObject({
      error: {
        hint: `No batch ${id} in this project. Find the batch_id in the answer of POST /v1/emails, or in an email.failed or email.bounced event.`,
      },
    });
  });
});
