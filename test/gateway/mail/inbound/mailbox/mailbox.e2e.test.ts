import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Password } from '../../../../../gateway/mail/password.ts';
import { hasMailLab, MailLab } from '../../../../helpers/mail-lab.ts';
import { mailAbout, MailboxWorld, SOON } from './mailbox-world.ts';
import { SilentProxy } from './silent-proxy.ts';

const BIG_BYTES = 26 * 1024 * 1024;

let lab: MailLab;
let world: MailboxWorld;
let users = 0;

async function newWorld(on = lab): Promise<MailboxWorld> {
  users += 1;
  world = await MailboxWorld.open(on, `user${users}`);
  return world;
}

describe.runIf(hasMailLab())('a mailbox', () => {
  beforeAll(async () => {
    lab = await MailLab.start();
  });
  afterEach(() => world.end());
  afterAll(() => lab.stop());

  it('gives on what is sent to it, byte for byte as it lies there', async () => {
    await newWorld();
    const mailbox = await world.open();
    await vi.waitFor(() => expect(mailbox.status().connected).toBe(true), SOON);
    const raw = mailAbout('first', 'Größe: ½.\r\n.\r\n');
    await lab.send({ from: 'ann@people.test', to: world.user, raw });
    await world.taken(1);
    await vi.waitFor(() => expect(world.count('svc-done')).toBe(1), SOON);
    const [mail] = world.taker.mails;
    expect(mail?.whole).toBe(true);
    expect(mail?.sizeBytes).toBe(mail?.raw.length);
    const lying = lab.mails('svc-done', world.user)[0] ?? '';
    const asSent = Buffer.from(mail?.raw ?? []).toString('latin1');
    expect(asSent.replaceAll('\r\n', '\n')).toBe(lying.replaceAll('\r\n', '\n'));
    expect(asSent).toContain(Buffer.from('Größe: ½.').toString('latin1'));
  });

  it('hears of new mail by IDLE, without waiting for the next look', async () => {
    await newWorld();
    const mailbox = await world.open({}, { timings: { pollMs: 3_600_000 } });
    await vi.waitFor(() => expect(mailbox.status().lastSeenAt).not.toBeNull(), SOON);
    for (const subject of ['one', 'two', 'three']) {
      await lab.send({ from: 'ann@people.test', to: world.user, raw: mailAbout(subject) });
      await vi.waitFor(() => expect(world.taker.subjects).toContain(subject), SOON);
    }
    expect(world.taker.subjects).toEqual(['one', 'two', 'three']);
  });

  it('takes mails in the order of arrival, several at once, and moves them to svc-done', async () => {
    await newWorld();
    world.append((index) => mailAbout(`${index}`), 40);
    const mailbox = await world.open();
    await world.taken(40);
    expect(world.taker.subjects).toEqual(Array.from({ length: 40 }, (_, index) => `${index}`));
    await vi.waitFor(() => expect(world.count('svc-done')).toBe(40), SOON);
    // The server copies what it moves, and takes it away afterwards.
    await vi.waitFor(() => expect(world.count()).toBe(0), SOON);
    expect(world.taker.mostAtOnce).toBeGreaterThan(1);
    expect(world.taker.mostAtOnce).toBeLessThanOrEqual(8);
    expect(mailbox.status()).toMatchObject({ connected: true, backlog: 0, unknown: 0 });
  });

  it('keeps mails for nobody apart, counts them and says so once', async () => {
    await newWorld();
    world.taker.isUnknown = (subject) => subject.startsWith('stray');
    world.append(mailAbout('stray 1'));
    world.append(mailAbout('mine'));
    world.append(mailAbout('stray 2'));
    const mailbox = await world.open();
    await vi.waitFor(() => expect(world.count('svc-unknown')).toBe(2), SOON);
    expect(world.count('svc-done')).toBe(1);
    await vi.waitFor(() => expect(world.count()).toBe(0), SOON);
    await vi.waitFor(() => expect(mailbox.status().unknown).toBe(2), SOON);
    world.append(mailAbout('stray 3'));
    await vi.waitFor(() => expect(mailbox.status().unknown).toBe(3), SOON);
    const told = world.lines.filter(({ message }) => message.includes('svc-unknown'));
    expect(told.map(({ level, fields }) => [level, fields])).toEqual([['warn', { count: 2 }]]);
  });

  it('fetches of a mail that is too large the headers alone, and goes on', async () => {
    await newWorld();
    world.append(
      mailAbout(
        'big',
        'x'
          .repeat(76)
          .concat('\r\n')
          .repeat(BIG_BYTES / 78),
      ),
    );
    world.append(mailAbout('small'));
    await world.open();
    await world.taken(2);
    const [big, small] = world.taker.mails;
    expect(big?.whole).toBe(false);
    expect(Buffer.from(big?.raw ?? []).toString()).toBe(mailAbout('big').split('Hello.')[0]);
    expect(big?.sizeBytes).toBeGreaterThan(25 * 1024 * 1024);
    expect(small?.whole).toBe(true);
    await vi.waitFor(() => expect(world.count('svc-done')).toBe(2), SOON);
  });

  it('tries again what is rejected, and takes everything once it is possible', async () => {
    await newWorld();
    let isFull = true;
    world.taker.isRejected = () => isFull;
    world.append((index) => mailAbout(`${index}`), 30);
    const mailbox = await world.open();
    await vi.waitFor(() => expect(world.taker.asked.get('0')).toBeGreaterThan(2), SOON);
    expect(world.taker.subjects).toEqual([]);
    expect(world.count()).toBe(30);
    expect(mailbox.status()).toMatchObject({ connected: true, backlog: 30 });
    // Not the whole mailbox is fetched again and again meanwhile.
    expect(world.taker.asked.size).toBeLessThan(30);
    isFull = false;
    await world.taken(30);
    expect(world.taker.duplicates).toBe(0);
    await vi.waitFor(() => expect(world.count('svc-done')).toBe(30), SOON);
    const told = world.lines.filter(({ message }) => message.includes('could not be stored'));
    expect(told).toHaveLength(1);
    expect(told[0]?.fields).toMatchObject({ err: { message: 'the disk is full' } });
  });

  it('goes on behind a mail that is rejected each time, and never forgets it', async () => {
    await newWorld();
    world.taker.isRejected = (subject) => subject === 'poison';
    world.append(mailAbout('poison'));
    world.append((index) => mailAbout(`${index}`), 10);
    const mailbox = await world.open();
    await world.taken(10);
    await vi.waitFor(() => expect(world.count('svc-done')).toBe(10), SOON);
    await vi.waitFor(() => expect(world.count()).toBe(1), SOON);
    expect(mailbox.status().backlog).toBe(1);
    world.append(mailAbout('later'));
    await vi.waitFor(() => expect(world.taker.subjects).toContain('later'), SOON);
    // The next process knows nothing of what was tried here, and begins with it.
    await mailbox.close();
    expect(await world.control.mailboxes.cursor(world.cursorName)).toBeUndefined();
    world.taker.isRejected = () => false;
    await world.open();
    await vi.waitFor(() => expect(world.taker.subjects.at(-1)).toBe('poison'), SOON);
    expect(world.taker.duplicates).toBe(0);
    await vi.waitFor(() => expect(world.count()).toBe(0), SOON);
  });

  it('marks mails where they cannot be moved, and takes them once all the same', async () => {
    await newWorld();
    lab.obstruct('svc-done', world.user);
    world.taker.isRejected = (subject) => subject === 'poison';
    world.append(mailAbout('poison'));
    world.append((index) => mailAbout(`${index}`), 5);
    const first = await world.open();
    await world.taken(5);
    await vi.waitFor(() => expect(world.messages().join()).toContain("can't be moved"), SOON);
    await first.close();
    // With the first in the way of the cursor, only the mark tells.
    expect(await world.control.mailboxes.cursor(world.cursorName)).toBeUndefined();
    world.taker.isRejected = () => false;
    await world.open();
    await world.taken(6);
    await vi.waitFor(
      async () => expect((await world.control.mailboxes.cursor(world.cursorName))?.uid).toBe(6),
      SOON,
    );
    expect(world.taker.duplicates).toBe(0);
    expect(world.count()).toBe(6);
    expect([...world.taker.asked].filter(([subject]) => subject !== 'poison')).toEqual(
      ['0', '1', '2', '3', '4'].map((subject) => [subject, 1]),
    );
  });

  it('says once that it is refused, and shows neither password nor user', async () => {
    await newWorld();
    const proxy = await SilentProxy.open(lab.imapPort);
    const password = new Password('wrong-as-can-be');
    const mailbox = await world.open({ password, port: proxy.port });
    // Two refusals at least.
    await vi.waitFor(() => expect(proxy.connections).toBe(3), SOON);
    await mailbox.close();
    await proxy.close();
    expect(world.lines).toEqual([
      {
        level: 'error',
        fields: { reason: 'AUTHENTICATIONFAILED' },
        message: 'the mailbox refuses the login: check user and password in SVC_IMAP_URL',
      },
    ]);
    expect(mailbox.status().connected).toBe(false);
    expect(JSON.stringify(world.lines)).not.toMatch(/wrong-as-can-be|people\.test/);
  });

  it('says that there is no such mailbox', async () => {
    await newWorld();
    await world.open({ mailbox: 'Nowhere' });
    await vi.waitFor(() => expect(world.lines).toHaveLength(1), SOON);
    expect(world.lines[0]).toMatchObject({
      level: 'error',
      message: 'there is no such mailbox: check the path in SVC_IMAP_URL',
    });
  });

  describe('over TLS', () => {
    it.each([
      ['from the start', 'from_start'],
      ['after STARTTLS', 'starttls'],
    ] as const)('%s', async (_, tls) => {
      await newWorld();
      world.append(mailAbout('secret'));
      const port = tls === 'from_start' ? lab.imapsPort : lab.imapPort;
      await world.open({ tls, port }, { ca: lab.ca });
      await world.taken(1);
      expect(world.taker.subjects).toEqual(['secret']);
    });

    it.each([
      ['from_start', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
      ['starttls', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ] as const)('but not to a server that nobody vouches for: %s', async (tls, reason) => {
      await newWorld();
      world.append(mailAbout('secret'));
      const port = tls === 'from_start' ? lab.imapsPort : lab.imapPort;
      await world.open({ tls, port });
      await vi.waitFor(() => expect(world.lines).toHaveLength(1), SOON);
      expect(world.lines[0]).toMatchObject({ level: 'warn', fields: { reason } });
      expect(world.taker.asked.size).toBe(0);
    });
  });

  it.each([
    ['keeps folders below the inbox', { folderPrefix: 'INBOX.' }],
    ['knows neither IDLE nor MOVE', { imapCapability: 'IMAP4rev1 UIDPLUS NAMESPACE' }],
  ])('works where the server %s', async (_, options) => {
    const other = await MailLab.start(options);
    try {
      await newWorld(other);
      world.taker.isUnknown = (subject) => subject === 'stray';
      world.append(mailAbout('mine'));
      world.append(mailAbout('stray'));
      await world.open({}, { timings: { pollMs: 200 } });
      await vi.waitFor(() => expect(world.count('svc-unknown')).toBe(1), SOON);
      await other.send({ from: 'ann@people.test', to: world.user, raw: mailAbout('news') });
      await vi.waitFor(() => expect(world.count('svc-done')).toBe(2), SOON);
      expect(world.taker.subjects).toEqual(['mine', 'news']);
      await vi.waitFor(() => expect(world.count()).toBe(0), SOON);
      expect(world.taker.duplicates).toBe(0);
    } finally {
      await world.end();
      await other.stop();
      await newWorld();
    }
  });
});
