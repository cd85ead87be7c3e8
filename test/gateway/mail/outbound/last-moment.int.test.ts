import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { warningsAbout } from '../../../../shared/operations/email/copy.ts';
import { writerOf } from '../../../helpers/writers.ts';
import { fieldsOf, TestSending } from './sending.ts';

const NOW = '2026-01-01T00:00:00.000Z';

let mail: TestSending;
beforeEach(async () => {
  mail = await TestSending.start();
});
afterEach(() => mail.stop());

const replication = (reason: string | null) =>
  mail.project.writes.run('setSendBlock', { reason, now: mail.clock.now() });

describe('a message that waits for its server', () => {
  let id = '';
  beforeEach(async () => {
    const { body } = await mail.send();
    id = body.messages[0]?.message_id ?? '';
    // Due, and nobody was told.
    await writerOf(mail.project).write((store) =>
      store.emails.queue(body.batch_id, mail.clock.now()),
    );
  });

  const handed = () => {
    const input = { messageId: id, claimedUntil: null, now: mail.clock.now() };
    return mail.project.writes.run('handMail', input);
  };

  it('is not handed over once the project is blocked', async () => {
    await replication('Spam.');
    expect(await handed()).toBeNull();
    expect(await mail.message(id)).toMatchObject({ status: 'queued', handed_at: null });
    await replication(null);
    expect(await handed()).toBeGreaterThan(0);
    expect((await mail.message(id))?.handed_at).toBe(mail.clock.now());
  });

  it('is not handed over once its reader complained about another', async () => {
    await writerOf(mail.project).write((store) =>
      store.emailAddresses.suppress('ana@example.com', 'complaint', NOW),
    );
    expect(await handed()).toBeNull();
    expect(await mail.message(id)).toMatchObject({ status: 'queued', handed_at: null });
  });
});

describe('an address that a server may take for another one', () => {
  it.each(['ana%elsewhere.test@example.com', 'elsewhere.test!ana@example.com'])(
    '(%s) is refused',
    async (address) => {
      const { status, body } = await mail.send({ to: ['bo@example.com', address] });
      expect([status, fieldsOf(body)]).toEqual([400, ['to[1]']]);
      const channel = { kind: 'email', address };
      expect((await mail.call('POST', '/v1/channels', channel)).body).toMatchObject({
        error: { code: 'CHANNEL_ADDRESS_REJECTED' },
      });
    },
  );
});

async function warnings(body: Record<string, unknown>): Promise<readonly string[]> {
  const id = (await mail.send(body)).body.request_id ?? '';
  return mail.project.store.read((store) => warningsAbout(store, id));
}

describe('what a person is not shown of a mail', () => {
  it('is told in our words, whatever the agent wrote', async () => {
    const text = `Dear Ana, see you soon.${'\n'.repeat(1000)}PS: the password is hunter2.`;
    expect(await warnings({ text })).toContain(
      `Only the beginning of its text is shown, of ${text.length} characters.`,
    );
    const html = `<p>${'ab '.repeat(400)}`;
    expect(await warnings({ text: 'It ends here …', html })).toEqual([
      'Never written to before: ana@example.com',
      'Most readers will be shown the HTML of this mail, not its text.',
      `Only the beginning of its HTML is shown, of ${html.length} characters.`,
    ]);
    expect(await warnings({ html: '<p>See <a href="https://evil.test">our shop</a>' })).toContain(
      'Links and pictures of its HTML are not shown.',
    );
    expect(await warnings({ text: 'It ends here …' })).toEqual([
      'Never written to before: ana@example.com',
    ]);
  });
});
