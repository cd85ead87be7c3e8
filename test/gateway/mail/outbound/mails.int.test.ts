import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Semaphore } from '../../../../gateway/lib/semaphore.ts';
import type { MailResult, OutgoingMail } from '../../../../gateway/mail/mailer.ts';
import { Mails } from '../../../../gateway/mail/outbound/mails.ts';
import type { ProjectWrites } from '../../../../gateway/commit/thread/writers.ts';
import { createVault, loadMasterKey } from '../../../../gateway/lib/vault.ts';
import { temporaryFolder } from '../../../helpers/gateway.ts';
import { writerOf } from '../../../helpers/writers.ts';
import { arrive, mailWith, reportWith } from '../inbound/arrivals.ts';
import { DOMAIN, TestSending } from './sending.ts';

let sending: TestSending;
let batchId: string;
beforeEach(async () => {
  sending = await TestSending.start();
  const { body } = await sending.send();
  batchId = body.batch_id;
  // Due, and nobody was told.
  await writerOf(sending.project).write((store) =>
    store.emails.queue(batchId, sending.clock.now()),
  );
});
afterEach(() => sending.stop());

const SENT: MailResult = { outcome: 'sent', messageId: null };

/** What sends, beside that of the gateway: over a disk that cannot be written to at these steps, so many times. */
function mailsOver(
  full: Partial<Record<string, number>>,
  send: (mail: OutgoingMail) => Promise<MailResult> = async () => SENT,
) {
  const { project, clock } = sending;
  const failures: unknown[] = [];
  const handed: OutgoingMail[] = [];
  const dueAt: number[] = [];
  const left = { ...full };
  const run: ProjectWrites['run'] = (name, input) => {
    const times = left[name] ?? 0;
    left[name] = times - 1;
    if (times > 0) return Promise.reject(new Error(`The disk is full at ${name}.`));
    return project.writes.run(name, input);
  };
  const key = temporaryFolder();
  const vault = createVault(loadMasterKey(`${key.path}/master.key`));
  key.remove();
  const mails = new Mails(
    {
      info: project.info,
      store: project.store,
      blobs: project.blobs,
      writes: { ...project.writes, run },
      dueRows: project.dueRows,
      atLatest: (at) => dueAt.push(at),
      inBackground: (work) => void work().catch((error: unknown) => failures.push(error)),
    },
    {
      clock,
      vault,
      addresses: { domain: DOMAIN, from: null },
      // Files of one mail at a time.
      filesInHand: new Semaphore(1),
      mailer: {
        async send(mail) {
          try {
            await mail.beforeData?.();
          } catch {
            return { outcome: 'later', retryAfterSeconds: null, reason: 'It was held back.' };
          }
          handed.push(mail);
          return send(mail);
        },
        close: async () => undefined,
      },
    },
  );
  const tried = async (): Promise<void> => {
    mails.wake();
    await expect.poll(() => mails.isBusy).toBe(false);
  };
  return { mails, tried, handed, failures, dueAt };
}

const message = async () => (await sending.status(batchId)).messages[0];

describe('a mail over a disk that is full', () => {
  it('that was sent is written down as sent as soon as that can be, and sent once', async () => {
    const { tried, handed, failures, dueAt } = mailsOver({ recordMail: 2 });
    await tried();
    expect(await message()).toMatchObject({ status: 'queued' });
    expect(failures).toHaveLength(1);
    expect(dueAt).toEqual([sending.clock.now() + 5000]);
    await tried();
    await tried();
    expect(await message()).toMatchObject({ status: 'sent' });
    expect(failures).toHaveLength(2);
    expect(handed).toHaveLength(1);
  });

  it('does not leave before that can be written down', async () => {
    const { tried, handed } = mailsOver({ handMail: 1 });
    await tried();
    expect(handed).toEqual([]);
    expect(await message()).toMatchObject({ status: 'queued' });
    sending.clock.advance(15_000);
    await tried();
    expect(handed).toHaveLength(1);
    expect(await message()).toMatchObject({ status: 'sent' });
  });

  it('that nobody knows about is told as such, by whoever sends after this one', async () => {
    const first = mailsOver({ recordMail: 1 });
    await first.tried();
    const second = mailsOver({});
    await second.tried();
    expect(second.handed).toEqual([]);
    expect(await message()).toMatchObject({ status: 'failed', error: { code: 'unknown' } });
    expect(await sending.events('email.failed')).toHaveLength(1);
  });
});

describe('a mail that bounces before its server has answered', () => {
  it('has bounced, whatever the server says then', async () => {
    const id = (await message())?.message_id ?? '';
    const bounce = mailWith({}, { report: reportWith({ status: '5.1.1' }, `<${id}@${DOMAIN}>`) });
    const { tried, handed } = mailsOver({}, async () => {
      await arrive(sending, bounce);
      return SENT;
    });
    await tried();
    expect(handed).toHaveLength(1);
    expect(await message()).toMatchObject({ status: 'bounced', error: { code: 'bounced' } });
    expect(await sending.ledger('email.sent')).toEqual([]);
  });
});

describe('files of mails', () => {
  it('are read for some mails at a time, and no mail without files waits for them', async () => {
    await sending.file('a.txt', 'one');
    const to = ['bo@example.com', 'cy@example.com'];
    const { body } = await sending.send({ to, attachments: ['a.txt'] });
    await writerOf(sending.project).write((store) =>
      store.emails.queue(body.batch_id, sending.clock.now()),
    );
    const held: (() => void)[] = [];
    const { mails, handed } = mailsOver({}, async ({ attachments }) => {
      if (attachments?.length) await new Promise<void>((resolve) => held.push(resolve));
      return SENT;
    });
    mails.wake();
    await expect.poll(async () => (await message())?.status).toBe('sent');
    // Its file is read first: it may come behind.
    await expect.poll(() => handed.length).toBe(2);
    expect(handed.map(({ to: one }) => one).toSorted()).toEqual([
      'ana@example.com',
      'bo@example.com',
    ]);
    held[0]?.();
    await expect.poll(() => handed.length).toBe(3);
    held[1]?.();
    expect(await sending.ended(body.batch_id)).toMatchObject([
      { status: 'sent' },
      { status: 'sent' },
    ]);
    await expect.poll(() => mails.isBusy).toBe(false);
  });
});

describe('a mail that cannot be made', () => {
  it('is tried again, and stands in nobody else’s way', async () => {
    await sending.file('a.txt', 'one');
    const { body } = await sending.send({ attachments: ['a.txt'] });
    const digest = await sending.project.store.read(async (store) => {
      const batch = await store.emails.findBatch(body.batch_id);
      return (JSON.parse(batch?.attachments ?? '[]') as { digest: string }[])[0]?.digest ?? '';
    });
    await writerOf(sending.project).write((store) =>
      store.emails.queue(body.batch_id, sending.clock.now()),
    );
    // The bytes are not where they should be.
    await sending.project.blobs.remove(digest, async () => false);
    const { tried, handed, failures } = mailsOver({});
    await tried();
    expect(handed.map(({ to }) => to)).toEqual(['ana@example.com']);
    expect(await message()).toMatchObject({ status: 'sent' });
    expect(failures).toMatchObject([{ name: 'DamageError', what: 'blob' }]);
    const [other] = (await sending.status(body.batch_id)).messages;
    expect(await sending.message(other?.message_id ?? '')).toMatchObject({
      status: 'queued',
      attempts: 1,
      reason: expect.stringContaining('a file that it attaches is damaged') as string,
    });
  });
});
