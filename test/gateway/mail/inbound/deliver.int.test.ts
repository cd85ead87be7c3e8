import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Envelope } from '../../../../shared/kernel/envelope.ts';
import { LOOPBACK, Receiver } from '../../callbacks/callback-receiver.ts';
import { TestDisk } from '../../../shared/operations/disk.ts';
import { DOMAIN, TestSending } from '../outbound/sending.ts';
import { arrive, arrived, fileWith, mailWith, sentMessage } from './arrivals.ts';

const DAY = 86_400_000;

let mail: TestSending;
beforeEach(async () => {
  mail = await TestSending.start();
  await mail.allowAll();
});
afterEach(() => mail.stop());

const claim = async (event_id: string): Promise<Envelope> =>
  (await mail.gateway.call<Envelope>('POST', '/v1/inbox/claim', { body: { event_id } })).body;

const received = () => mail.events('email.received');

describe('a mail that came in', () => {
  it('is an event, with all that is known of it', async () => {
    const read = mailWith(
      {},
      {
        files: [
          fileWith('order.csv', 'a,b\n', 'text/csv'),
          { ...fileWith('logo.png', 'png', 'image/png'), content_id: 'logo@x', inline: true },
        ],
        blocked: [
          {
            name: 'run.exe',
            content_type: 'application/octet-stream',
            size_bytes: 7,
            reason: 'executable',
          },
        ],
        html: Buffer.from('<p>Two'),
      },
    );
    const id = await arrived(mail, read);
    const at = new Date(mail.clock.now()).toISOString();
    const { lease_id, lease_expires_at, ...event } = (await claim(id)) as Envelope &
      Record<string, unknown>;
    expect([lease_id, lease_expires_at]).toEqual([expect.any(String), expect.any(String)]);
    const [csv, png] = read.files;
    const link = {
      url: expect.stringContaining(`${mail.gateway.url}/d/`),
      url_expires_at: new Date(mail.clock.now() + 3_600_000).toISOString(),
    };
    expect(event).toEqual({
      id,
      project: mail.gateway.projectId,
      source: 'mail',
      channel: 'email',
      type: 'email.received',
      received_at: at,
      verified: true,
      trust: 'external_untrusted',
      suspected_replay: false,
      reply_to: null,
      thread_id: expect.stringMatching(/^thr_[0-9a-z]{26}$/),
      payload: read.payload,
      payload_url: null,
      payload_truncated: false,
      payload_purged: false,
      html_url: expect.stringContaining(`${mail.gateway.url}/m/`),
      attachments: [
        {
          name: 'order.csv',
          content_type: 'text/csv',
          size_bytes: 4,
          content_id: null,
          inline: false,
          sha256: csv?.sha256,
          ...link,
        },
        {
          name: 'logo.png',
          content_type: 'image/png',
          size_bytes: 3,
          content_id: 'logo@x',
          inline: true,
          sha256: png?.sha256,
          ...link,
        },
      ],
      attachments_blocked: read.blocked,
      status: 'claimed',
      attempts: 0,
      retry_at: null,
    });
    expect(await mail.ledger('event.received')).toMatchObject([{ subject: id }]);
    const { body } = await mail.gateway.call<{ items: unknown[] }>('GET', '/v1/sources');
    expect(body.items).toMatchObject([{ name: 'mail', last_event_at: at, events_24h: 1 }]);
  });

  it('is in a list without its link, and with its payload while that is short', async () => {
    await arrived(mail, mailWith({}, { html: Buffer.from('<p>') }));
    await arrived(mail, mailWith({ text: 'a'.repeat(9000) }));
    expect(await received()).toMatchObject([
      { html_url: null, payload: { subject: 'An order' }, payload_truncated: false },
      { html_url: null, payload: null, payload_truncated: true, attachments: [] },
    ]);
  });

  it('wakes whoever waits for it', async () => {
    const waiting = mail.gateway.call<{ event: Envelope }>(
      'GET',
      '/v1/inbox/wait?type=email.*&timeout_seconds=60',
    );
    await expect.poll(() => mail.project.waits.size).toBe(1);
    const id = await arrived(mail, mailWith());
    expect((await waiting).body.event).toMatchObject({ id, type: 'email.received' });
  });

  it('has its payload behind a link where that is large', async () => {
    const read = mailWith({ text: 'ü'.repeat(200_000) });
    const event = await claim(await arrived(mail, read));
    expect(event).toMatchObject({ payload: null, payload_url: expect.any(String) });
    const response = await fetch(event.payload_url ?? '');
    expect(await response.json()).toEqual(read.payload);
    expect(response.headers.get('content-disposition')).toContain('attachment');
  });

  it('is pushed to a route with all that, as whoever gets it cannot claim it', async () => {
    const receiver = await Receiver.start();
    await mail.stop();
    mail = await TestSending.start({ callbackAllow: LOOPBACK });
    try {
      const route = { callback_url: receiver.url(), match_type: 'email.*' };
      expect((await mail.call('POST', '/v1/routes', route)).status).toBe(201);
      const read = mailWith({}, { files: [fileWith('a.txt', 'one')], html: Buffer.from('<p>Two') });
      const id = await arrived(mail, read);
      const [{ event } = {}] = await receiver.came(1);
      expect(event).toMatchObject({ id, payload: read.payload, attachments: [{ name: 'a.txt' }] });
      expect(await (await fetch(event?.html_url ?? '')).text()).toBe('<p>Two');
    } finally {
      await receiver.stop();
    }
  });

  it('is nothing to a project that takes no mail', async () => {
    expect(await arrive(mail, mailWith(), { source: null })).toBeNull();
    expect(await received()).toEqual([]);
  });
});

describe('a mail that comes again', () => {
  it('is known by its Message-ID, and leaves nothing behind', async () => {
    const disk = await TestDisk.of(mail.gateway, () => mail.clock.now());
    const first = mailWith({}, { files: [fileWith('a.txt', 'one')], html: Buffer.from('<p>') });
    const id = await arrived(mail, first);
    expect(await arrive(mail, first)).toEqual({ status: 'duplicate', event_id: id });
    // Another way here: other trace headers, and so other bytes.
    const same = { message_id: first.payload.message_id };
    const copy = mailWith(same, { files: [fileWith('b.txt', 'two')] });
    expect(await arrive(mail, copy)).toEqual({ status: 'duplicate', event_id: id });
    expect(await received()).toHaveLength(1);
    await expect.poll(() => disk.blobFiles()).toHaveLength(2);
    mail.clock.advance(30 * DAY);
    expect(await arrive(mail, copy)).toMatchObject({ status: 'duplicate' });
    mail.clock.advance(1);
    expect(await arrive(mail, copy)).toMatchObject({ status: 'accepted' });
  });

  it('is known by its bytes for a day, where it has no Message-ID', async () => {
    const read = mailWith({ message_id: null });
    const id = await arrived(mail, read);
    mail.clock.advance(DAY);
    expect(await arrive(mail, read)).toEqual({ status: 'duplicate', event_id: id });
    expect(await arrive(mail, mailWith({ message_id: null }))).toMatchObject({
      status: 'accepted',
    });
    mail.clock.advance(1);
    expect(await arrive(mail, read)).toMatchObject({ status: 'accepted' });
  });

  it('many times at once is one event', async () => {
    const read = mailWith({}, { files: [fileWith('a.txt', 'one')] });
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => arrived(mail, read)));
    expect(new Set(outcomes).size).toBe(1);
    expect(await received()).toHaveLength(1);
    const path = encodeURIComponent(`${outcomes[0]}/a.txt`);
    expect(await mail.gateway.call('GET', `/v1/files/${path}`)).toMatchObject({ status: 200 });
  });

  it('is not kept out by a forgery that came before it', async () => {
    const genuine = mailWith();
    const same = { message_id: genuine.payload.message_id };
    const forged = mailWith({ ...same, text: 'Pay me.' }, { verified: false });
    const first = await arrived(mail, forged);
    const second = await arrived(mail, genuine);
    expect(second).not.toBe(first);
    expect(await received()).toMatchObject([{ verified: false }, { verified: true }]);
    for (const again of [genuine, forged, mailWith(same, { verified: false }), mailWith(same)]) {
      expect(await arrive(mail, again)).toEqual({ status: 'duplicate', event_id: second });
    }
  });

  it('is not kept out by what a stranger signed under its Message-ID', async () => {
    const genuine = mailWith();
    const same = { message_id: genuine.payload.message_id };
    const stranger = { from: { address: 'mallory@elsewhere.example', name: '' } };
    const first = await arrived(mail, mailWith({ ...same, ...stranger }));
    const second = await arrived(mail, genuine);
    expect(second).not.toBe(first);
    for (const again of [genuine, mailWith(same), mailWith(same, { verified: false })]) {
      expect(await arrive(mail, again)).toEqual({ status: 'duplicate', event_id: second });
    }
    const unsigned = mailWith(stranger);
    const sameId = { message_id: unsigned.payload.message_id };
    await arrived(mail, unsigned);
    expect(await arrive(mail, mailWith(sameId, { verified: false }))).toMatchObject({
      status: 'accepted',
    });
  });

  it('is known although its signature could not be checked the second time', async () => {
    const genuine = mailWith();
    const id = await arrived(mail, genuine);
    const unchecked = { ...genuine, verified: false };
    expect(await arrive(mail, unchecked)).toEqual({ status: 'duplicate', event_id: id });
    const other = mailWith({}, { verified: false });
    const otherId = await arrived(mail, other);
    const checked = { ...other, verified: true };
    expect(await arrive(mail, checked)).toEqual({ status: 'duplicate', event_id: otherId });
  });
});

const replyTo = async (id: string) => (await claim(id)).reply_to;

describe('a mail that answers one of ours', () => {
  it('is known by the address it came to, however that is spelled', async () => {
    const { messageId, address } = await sentMessage(mail);
    for (const recipient of [address, address.toUpperCase()]) {
      const id = await arrived(mail, mailWith(), { recipients: ['x@y.test', recipient] });
      expect(await replyTo(id)).toBe(messageId);
    }
  });

  it('is known by what it refers to: what it answers first, then the newest', async () => {
    const one = await sentMessage(mail);
    const two = await sentMessage(mail, 'bo@example.com');
    const [first, second] = [one, two].map(({ messageId }) => `<${messageId}@${DOMAIN}>`);
    const foreign = '<abc@example.com>';
    const answering = async (payload: Parameters<typeof mailWith>[0]) =>
      replyTo(await arrived(mail, mailWith(payload)));
    expect(await answering({ in_reply_to: first ?? '' })).toBe(one.messageId);
    const references = [first ?? '', second ?? '', foreign];
    expect(await answering({ in_reply_to: foreign, references })).toBe(two.messageId);
    expect(await answering({ in_reply_to: first ?? '', references })).toBe(one.messageId);
    expect(await answering({ in_reply_to: foreign, references: [foreign] })).toBeNull();
    const unknown = `<msg_${'0'.repeat(26)}@${DOMAIN}>`;
    expect(await answering({ in_reply_to: unknown })).toBeNull();
  });

  it('goes by the address before anything that it says', async () => {
    const one = await sentMessage(mail);
    const two = await sentMessage(mail, 'bo@example.com');
    const read = mailWith({ in_reply_to: `<${two.messageId}@${DOMAIN}>` });
    const id = await arrived(mail, read, { recipients: [one.address] });
    expect(await replyTo(id)).toBe(one.messageId);
    const wrong = one.address.replace(/\+.*@/, `+r.${'0'.repeat(20)}@`);
    const other = mailWith({ in_reply_to: `<${two.messageId}@${DOMAIN}>` });
    expect(await replyTo(await arrived(mail, other, { recipients: [wrong] }))).toBe(two.messageId);
  });

  it('is not marked as a reply where none was wanted', async () => {
    const { messageId } = await sentMessage(mail, 'ana@example.com', { reply_to_inbox: false });
    const read = mailWith({ in_reply_to: `<${messageId}@${DOMAIN}>` });
    expect(await replyTo(await arrived(mail, read))).toBeNull();
  });

  it('never answers what another project sent', async () => {
    const other = await mail.neighbour('other');
    const { messageId, address } = await sentMessage(mail);
    const token = address.slice(address.indexOf('+') + 1, address.indexOf('@'));
    const read = mailWith({
      in_reply_to: `<${messageId}@${DOMAIN}>`,
      references: [`<${messageId}@${DOMAIN}>`],
    });
    for (const recipient of [address, `other+${token}@${DOMAIN}`]) {
      const next = { ...read, payload: { ...read.payload, message_id: `<${recipient}>` } };
      await arrived(other, next, { recipients: [recipient] });
    }
    const events = await other.events('email.received');
    expect(events.map(({ reply_to: to }) => to)).toEqual([null, null]);
  });
});

describe('whom a mail is from', () => {
  it('is remembered only where that is sure', async () => {
    const known = async (address: string) =>
      mail.project.store.read((store) => store.emailAddresses.find(address));
    const sure = { from: { address: 'Sure@example.com', name: '' } };
    const forged = { from: { address: 'forged@example.com', name: '' } };
    await arrived(mail, mailWith(sure));
    await arrived(mail, mailWith(forged, { verified: false }));
    await arrived(mail, mailWith({ from: null }));
    expect(await known('sure@example.com')).toMatchObject({ sent_at: null });
    expect(await known('forged@example.com')).toBeUndefined();
  });
});
