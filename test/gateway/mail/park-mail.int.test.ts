import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ParkedEvent } from '../../shared/operations/inbox/park-stage.ts';
import { arrive, arrived, mailWith, reportWith, sentMessage } from './inbound/arrivals.ts';
import { TestSending } from './outbound/sending.ts';

let mail: TestSending;
beforeEach(async () => {
  mail = await TestSending.start();
  await mail.allowAll();
});
afterEach(() => mail.stop());

const post = async (path: string, body: unknown) =>
  (await mail.gateway.call<ParkedEvent>('POST', path, { body })).body;

const claim = (event_id: string) => post('/v1/inbox/claim', { event_id });

/** An event that an agent parked. */
async function parked(until: string): Promise<string> {
  const event_id = await arrived(mail, mailWith());
  await claim(event_id);
  const { status } = await post('/v1/inbox/nack', { event_id, until: [until] });
  expect(status).toBe('waiting');
  return event_id;
}

const bounce = mailWith({ from: null }, { report: reportWith({ status: '5.1.1' }) });

describe('an event parked on a mail', () => {
  it('goes on when somebody answers it, and by its batch too', async () => {
    const { batchId, messageId, address } = await sentMessage(mail);
    const waiting = [await parked(messageId), await parked(batchId)];
    const other = await sentMessage(mail, 'bo@example.com');
    await arrived(mail, mailWith(), { recipients: [other.address] });
    expect((await claim(waiting[0] ?? '')).error?.code).toBe('EVENT_NOT_CLAIMABLE');
    await arrived(mail, mailWith(), { recipients: [address] });
    for (const [index, id] of [messageId, batchId].entries()) {
      const { resumed } = await claim(waiting[index] ?? '');
      expect(resumed?.waited_for).toEqual([{ id, status: 'answered' }]);
    }
  });

  it('goes on when it bounces', async () => {
    const { messageId, reportTo } = await sentMessage(mail);
    const id = await parked(messageId);
    await arrive(mail, bounce, { recipients: [reportTo] });
    expect((await claim(id)).resumed?.waited_for).toEqual([{ id: messageId, status: 'bounced' }]);
  });

  it('of several recipients goes on when the last of them bounced', async () => {
    const batchId = await mail.sent({ to: ['ana@example.com', 'bo@example.com'] });
    const [ana, bo] = await mail.ended(batchId);
    const id = await parked(batchId);
    for (const message of [ana, bo]) {
      expect((await claim(id)).error?.code).toBe('EVENT_NOT_CLAIMABLE');
      const about = reportWith({ status: '5.1.1' }, `<${message?.message_id}@agents.test>`);
      await arrive(mail, mailWith({ from: null }, { report: about }));
    }
    expect((await claim(id)).resumed?.waited_for).toEqual([{ id: batchId, status: 'bounced' }]);
  });

  it('goes on when a person cancels it', async () => {
    await mail.policy();
    const batchId = await mail.sent();
    const id = await parked(batchId);
    const pending = await mail.project.store.read((store) =>
      store.requests.pending(mail.clock.now()),
    );
    const request = pending.find(({ kind }) => kind === 'email_send')?.id ?? '';
    await post(`/v1/requests/${request}/withdraw`, {});
    expect((await claim(id)).resumed?.waited_for).toEqual([{ id: batchId, status: 'cancelled' }]);
  });

  it('that was answered before goes on at once', async () => {
    const { messageId, address } = await sentMessage(mail);
    await arrived(mail, mailWith(), { recipients: [address] });
    const event_id = await arrived(mail, mailWith());
    await claim(event_id);
    const answer = await post('/v1/inbox/nack', { event_id, until: [messageId] });
    expect(answer).toMatchObject({
      status: 'pending',
      waiting_for: [{ id: messageId, status: 'answered' }],
    });
  });

  it.each(['msg_00000000000000000000000000', 'bat_00000000000000000000000000'])(
    'of nobody is refused: %s',
    async (id) => {
      const event_id = await arrived(mail, mailWith());
      await claim(event_id);
      const { error } = await post('/v1/inbox/nack', { event_id, until: [id] });
      expect(error?.details?.fields).toMatchObject([{ path: 'until.0' }]);
    },
  );
});
