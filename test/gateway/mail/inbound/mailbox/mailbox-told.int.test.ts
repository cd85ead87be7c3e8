import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Mailbox } from '../../../../../gateway/mail/inbound/mailbox/mailbox.ts';
import type { MailTaker } from '../../../../../gateway/mail/inbound/mail-taker.ts';
import { Password } from '../../../../../gateway/mail/password.ts';
import { systemClock } from '../../../../../shared/lib/clock.ts';
import { ServiceError } from '../../../../../shared/lib/errors.ts';
import type { MailboxCursor } from '../../../../../gateway/store/control/mailboxes.ts';
import { mailAbout, SOON } from './mailbox-world.ts';
import { ScriptedImap } from './scripted-imap.ts';

let imap: ScriptedImap;
let mailbox: Mailbox | null = null;
const taken: string[] = [];
const told: string[] = [];
/** Mails of a project that takes none now, and each attempt to give it one. */
const limited = new Set<string>();
const tried: string[] = [];

beforeEach(async () => {
  imap = await ScriptedImap.start();
  taken.length = 0;
  told.length = 0;
  limited.clear();
  tried.length = 0;
});
afterEach(async () => {
  await mailbox?.close();
  mailbox = null;
  await imap.stop();
});

const taker: MailTaker = {
  take: async ({ raw, whole }) => {
    const subject = /^Subject: (.*)\r$/m.exec(Buffer.from(raw).toString())?.[1] ?? '';
    if (limited.has(subject)) {
      tried.push(subject);
      throw new ServiceError('RATE_LIMITED', { details: { kind: 'source_bytes', retry_after: 1 } });
    }
    taken.push(whole ? subject : `the header of ${subject}`);
    return 'delivered';
  },
};

const note = (...given: unknown[]): void => void told.push(String(given.at(-1)));

async function open(cursor?: MailboxCursor): Promise<void> {
  const { port } = imap;
  mailbox = await Mailbox.open({
    server: {
      host: '127.0.0.1',
      port,
      tls: 'off',
      user: 'user',
      password: new Password('a-password'),
      mailbox: 'INBOX',
    },
    store: { cursor: async () => cursor, move: async () => {} } as never,
    taker,
    clock: systemClock(),
    log: { info: note, warn: note, error: note },
  });
  mailbox.start();
}

function lies(uids: readonly number[]): void {
  for (const uid of uids) imap.mails.set(uid, mailAbout(`${uid}`));
}

describe('a mailbox that others look into at the same time', () => {
  it.each([
    ['of a mail whose turn comes later', 6],
    ['of one that is being fetched', 1],
  ])('takes mails whole when it is told in between of a mark %s', async (_, uid) => {
    lies([1, 2, 3, 4, 5, 6]);
    imap.between = `* ${uid} FETCH (UID ${uid} FLAGS (\\Seen))\r\n`;
    await open();
    await vi.waitFor(() => expect(imap.moved).toHaveLength(6), SOON);
    expect(taken.toSorted()).toEqual(['1', '2', '3', '4', '5', '6']);
  });
});

describe('a mailbox that was restored', () => {
  it('is read from its beginning when its next UID was there before', async () => {
    lies([3, 4]);
    await open({ uidValidity: 1, uid: 100 });
    await vi.waitFor(() => expect(imap.moved).toEqual([3, 4]), SOON);
    expect(taken).toEqual(['3', '4']);
    expect(told).toContain('the server renumbered the mails in the mailbox, so all are read again');
  });

  it('is read on from where it was when there is only nothing new', async () => {
    lies([99, 100]);
    await open({ uidValidity: 1, uid: 100 });
    await vi.waitFor(() => expect(mailbox?.status().lastSeenAt).not.toBeNull(), SOON);
    expect(taken).toEqual([]);
  });
});

describe('a mailbox with mails for a project that has reached a limit', () => {
  it('leaves them where they are, gives the others at once, and tries again when told', async () => {
    lies([1, 2, 3, 4, 5, 6]);
    limited.add('1').add('4');
    await open();
    await vi.waitFor(() => expect(new Set(imap.moved)).toEqual(new Set([2, 3, 5, 6])), SOON);
    expect(tried).toEqual(['1', '4']);
    expect([...imap.mails.keys()]).toEqual([1, 4]);
    expect(mailbox?.status().backlog).toBe(2);
    limited.clear();
    await vi.waitFor(() => expect(imap.moved).toHaveLength(6), SOON);
    expect(taken.toSorted()).toEqual(['1', '2', '3', '4', '5', '6']);
    expect(tried).toEqual(['1', '4']);
  });
});
