import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writerOf } from '../../../helpers/writers.ts';
import { TestSending } from '../outbound/sending.ts';
import { arrived, mailWith, sentMessage } from './arrivals.ts';

let mail: TestSending;
beforeEach(async () => {
  mail = await TestSending.start();
  await mail.allowAll();
});
afterEach(() => mail.stop());

type Threaded = { readonly thread_id: string | null };
type Payload = Parameters<typeof mailWith>[0];

const came = (payload: Payload, of = mail, verified = true) =>
  arrived(of, mailWith(payload, { verified }));

async function threadOf(eventId: string, of = mail): Promise<string | null> {
  return (await of.call<Threaded>('GET', `/v1/inbox/events/${eventId}`)).body.thread_id;
}

async function threadOfBatch(batchId: string): Promise<string | null> {
  return (await mail.call<Threaded>('GET', `/v1/emails/${batchId}`)).body.thread_id;
}

const reply = (event: string) =>
  mail.sent({ to: undefined, subject: undefined, reply_to_event: event });

/** As earlier releases left them. */
const forgetThreads = (eventId: string, batchId: string) =>
  writerOf(mail.project).write(async ({ mailThreads }) => {
    await mailThreads.setOfEvent(eventId, null);
    await mailThreads.setOfBatch(batchId, null);
  });

describe('a thread', () => {
  it('goes from a sent mail through the answer to our reply and the answer to that', async () => {
    const { batchId, messageId } = await sentMessage(mail);
    const thread = await threadOfBatch(batchId);
    expect(thread).toMatch(/^thr_[0-9a-z]{26}$/);
    const answer = await came({ message_id: '<a@x.example>', in_reply_to: `<${messageId}@x>` });
    const ours = await reply(answer);
    const again = await came({ in_reply_to: '<lost@x.example>', references: ['<a@x.example>'] });
    expect([await threadOf(answer), await threadOfBatch(ours), await threadOf(again)]).toEqual([
      thread,
      thread,
      thread,
    ]);
    const listed = await mail.call<{ items: { id: string }[] }>(
      'GET',
      `/v1/inbox?thread=${String(thread)}`,
    );
    expect(listed.body.items.map(({ id }) => id)).toEqual([answer, again]);
  });

  it('is new for a mail that only has the subject of another', async () => {
    const first = await came({ subject: 'An order' });
    const second = await came({ subject: 'Re: An order' });
    expect(await threadOf(second)).not.toBe(await threadOf(first));
    const none = await mail.call<{ items: unknown[] }>(
      'GET',
      '/v1/inbox?thread=thr_01j9z3k4m5n6p7q8r9s0t1v2w3',
    );
    expect(none.body.items).toEqual([]);
  });

  it('follows the verified mail of two with one Message-ID', async () => {
    await came({ message_id: '<a@x.example>' }, mail, false);
    const real = await came({ message_id: '<a@x.example>' });
    const answer = await came({ in_reply_to: '<a@x.example>' });
    expect(await threadOf(answer)).toBe(await threadOf(real));
  });

  it('reaches over no project, whatever the Message-ID', async () => {
    const other = await mail.neighbour('other');
    const { messageId } = await sentMessage(mail);
    const first = await came({ message_id: '<a@x.example>', in_reply_to: `<${messageId}@x>` });
    const there = await came(
      { message_id: '<a@x.example>', in_reply_to: `<${messageId}@x>` },
      other,
    );
    const answer = await came({ in_reply_to: '<a@x.example>' }, other);
    expect(await threadOf(there, other)).not.toBe(await threadOf(first));
    expect(await threadOf(answer, other)).toBe(await threadOf(there, other));
  });

  it('begins with a mail from before threads, once it is answered', async () => {
    const event = await came({ message_id: '<a@x.example>' });
    const { batchId, messageId } = await sentMessage(mail);
    await forgetThreads(event, batchId);
    expect([await threadOf(event), await threadOfBatch(batchId)]).toEqual([null, null]);
    const ours = await reply(event);
    const answer = await came({ in_reply_to: `<${messageId}@x>` });
    expect(await threadOf(event)).toBe(await threadOfBatch(ours));
    expect(await threadOf(answer)).toBe(await threadOfBatch(batchId));
    expect(await threadOf(answer)).toMatch(/^thr_/);
  });

  it('survives References of thousands of ids and garbage', async () => {
    const first = await came({ message_id: '<a@x.example>' });
    const references = Array.from({ length: 5000 }, (_, nth) => `<${nth}' OR 1=1 --@x.example>`);
    const lost = await came({ references: [...references, '<%>', '<>', '<a@x.example'] });
    expect(await threadOf(lost)).not.toBe(await threadOf(first));
    const found = await came({ references: ['<a@x.example>', ...references] });
    expect(await threadOf(found)).toBe(await threadOf(first));
  });
});
