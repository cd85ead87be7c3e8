import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { hasMailLab, MailLab } from '../../../../helpers/mail-lab.ts';
import { mailAbout, MailboxWorld, SOON } from './mailbox-world.ts';
import { SilentProxy } from './silent-proxy.ts';

/** A server that says nothing is given up after this, instead of after many seconds. */
const PATIENCE = { connectMs: 10_000, silenceMs: 2000, noopMs: 2000, farewellMs: 200 };

let lab: MailLab;
let world: MailboxWorld;
let users = 0;

const subjects = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${index}`);

describe.runIf(hasMailLab())('a mailbox in trouble', () => {
  beforeAll(async () => {
    lab = await MailLab.start();
  });
  beforeEach(async () => {
    users += 1;
    world = await MailboxWorld.open(lab, `user${users}`);
  });
  afterEach(() => world.end());
  afterAll(() => lab.stop());

  it('takes each of 2,000 mails once that were there before it', async () => {
    world.append((index) => mailAbout(`${index}`), 2000);
    const mailbox = await world.open();
    await world.taken(2000);
    await vi.waitFor(() => expect(world.count('svc-done')).toBe(2000), SOON);
    expect(world.taker.subjects.toSorted((a, b) => Number(a) - Number(b))).toEqual(subjects(2000));
    expect(world.taker.duplicates).toBe(0);
    await vi.waitFor(() => expect(world.count()).toBe(0), SOON);
    await mailbox.close();
    expect((await world.control.mailboxes.cursor(world.cursorName))?.uid).toBe(2000);
  });

  it('goes on when the server was restarted', async () => {
    const mailbox = await world.open();
    world.append(mailAbout('before'));
    await world.taken(1);
    await lab.stopDovecot();
    await vi.waitFor(() => expect(mailbox.status().connected).toBe(false), SOON);
    world.append(mailAbout('meanwhile'));
    const unreachable = "can't reach the mailbox; trying again";
    await vi.waitFor(() => expect(world.messages()).toContain(unreachable), SOON);
    await lab.startDovecot();
    await world.taken(2);
    world.append(mailAbout('after'));
    await world.taken(3);
    expect(world.taker.subjects).toEqual(['before', 'meanwhile', 'after']);
    expect(world.taker.duplicates).toBe(0);
    await mailbox.close();
    // However often it was tried.
    expect(world.messages()).toEqual([
      'the mailbox is connected',
      'the mailbox lost its connection',
      unreachable,
      'the mailbox is connected',
    ]);
    expect(JSON.stringify(world.lines)).not.toMatch(/people\.test|a-password/);
  });

  it('notices a connection that went dead while it waits, and makes another', async () => {
    const proxy = await SilentProxy.open(lab.imapPort);
    try {
      const timings = { pollMs: 300, timeouts: PATIENCE };
      const mailbox = await world.open({ port: proxy.port }, { timings });
      world.append(mailAbout('before'));
      await world.taken(1);
      await vi.waitFor(() => expect(world.count('svc-done')).toBe(1), SOON);
      proxy.silence();
      world.append(mailAbout('unheard'));
      await world.taken(2);
      expect(proxy.connections).toBe(2);
      expect(mailbox.status().connected).toBe(true);
      expect(world.lines).toContainEqual({
        level: 'warn',
        fields: { reason: 'the server says nothing' },
        message: 'the mailbox lost its connection',
      });
    } finally {
      await proxy.close();
    }
  });

  it('notices a connection that goes dead in the middle of a mail, and takes it over the next', async () => {
    const proxy = await SilentProxy.open(lab.imapPort);
    try {
      const release = world.taker.hold();
      world.append((index) => mailAbout(`${index}`), 30);
      await world.open({ port: proxy.port }, { timings: { timeouts: PATIENCE } });
      await vi.waitFor(() => expect(world.taker.asked.size).toBe(8), SOON);
      proxy.silence();
      release();
      await world.taken(30);
      // What was at hand is not given again: it only has to be put away.
      expect(world.taker.duplicates).toBe(0);
      expect([...world.taker.asked.values()].every((times) => times === 1)).toBe(true);
      await vi.waitFor(() => expect(world.count('svc-done')).toBe(30), SOON);
    } finally {
      await proxy.close();
    }
  });

  it('goes on behind a mail over which the connection breaks each time', async () => {
    const proxy = await SilentProxy.open(lab.imapPort);
    try {
      proxy.breaksOn = 'what no line can carry';
      world.append((index) => mailAbout(`${index}`, index === 2 ? proxy.breaksOn : 'Hello.'), 8);
      const mailbox = await world.open({ port: proxy.port });
      await world.taken(7);
      expect(world.taker.subjects.toSorted()).toEqual(subjects(8).filter((one) => one !== '2'));
      await vi.waitFor(() => expect(world.count('svc-done')).toBe(7), SOON);
      expect(mailbox.status().backlog).toBe(1);
      proxy.breaksOn = '';
      await world.taken(8);
      expect(world.taker.duplicates).toBe(0);
    } finally {
      await proxy.close();
    }
  });

  it('gives up a server that takes the connection and never says a word', async () => {
    const proxy = await SilentProxy.open(lab.imapPort);
    try {
      proxy.isSilent = true;
      world.append(mailAbout('waiting'));
      const patience = { ...PATIENCE, connectMs: 300 };
      await world.open({ port: proxy.port }, { timings: { timeouts: patience } });
      await vi.waitFor(() => expect(proxy.connections).toBeGreaterThan(2), SOON);
      expect(world.lines).toHaveLength(1);
      proxy.isSilent = false;
      await world.taken(1);
    } finally {
      await proxy.close();
    }
  });

  it('loses nothing and takes nothing twice when all mails get other UIDs', async () => {
    world.taker.isRejected = (subject) => subject === '3';
    world.append((index) => mailAbout(`${index}`), 6);
    // They stay where they are, so that all of them are seen again.
    lab.obstruct('svc-done', world.user);
    const mailbox = await world.open();
    await world.taken(5);
    const cursor = async () => world.control.mailboxes.cursor(world.cursorName);
    await vi.waitFor(async () => expect((await cursor())?.uid).toBe(3), SOON);
    const before = await cursor();
    await lab.newUidValidity(world.user);
    world.append(mailAbout('new'));
    world.taker.isRejected = () => false;
    await world.taken(7);
    await vi.waitFor(async () => expect((await cursor())?.uid).toBe(7), SOON);
    await mailbox.close();
    expect((await cursor())?.uidValidity).not.toBe(before?.uidValidity);
    expect(world.taker.subjects.toSorted()).toEqual([...subjects(6), 'new']);
    expect(world.messages()).toContain(
      'the server renumbered the mails in the mailbox, so all are read again',
    );
  });

  it('takes up where a process was cut off', async () => {
    world.append((index) => mailAbout(`${index}`), 200);
    let release: (() => void) | null = null;
    // Somewhere in the middle nothing is answered any more, as when the process is killed.
    world.taker.isRejected = () => {
      if (release === null && world.taker.subjects.length >= 100) release = world.taker.hold();
      return false;
    };
    const first = await world.open({}, { timings: { closeMs: 100 } });
    await world.taken(100);
    await vi.waitFor(() => expect(release).not.toBeNull(), SOON);
    await first.close();
    const taken = world.taker.subjects.length;
    expect(taken).toBeLessThan(200);
    await world.reopenControl();
    world.taker.hold()();
    await world.open();
    await world.taken(200);
    expect(world.taker.subjects.toSorted((a, b) => Number(a) - Number(b))).toEqual(subjects(200));
    expect(world.taker.subjects).toHaveLength(200);
    await vi.waitFor(() => expect(world.count('svc-done')).toBe(200), SOON);
  });

  it('closes while mails are being taken, and does not give them again when it finished them', async () => {
    const release = world.taker.hold();
    world.append((index) => mailAbout(`${index}`), 20);
    const first = await world.open();
    await vi.waitFor(() => expect(world.taker.asked.size).toBe(8), SOON);
    const closing = first.close();
    release();
    await closing;
    expect(first.status().connected).toBe(false);
    expect(world.taker.subjects).toHaveLength(8);
    expect(world.count('svc-done')).toBe(8);
    await world.open();
    await world.taken(20);
    expect(world.taker.duplicates).toBe(0);
  });

  it('closes before it is connected', async () => {
    const proxy = await SilentProxy.open(lab.imapPort);
    try {
      proxy.isSilent = true;
      const mailbox = await world.open({ port: proxy.port });
      await vi.waitFor(() => expect(proxy.connections).toBe(1), SOON);
      await mailbox.close();
      expect(mailbox.status()).toEqual({
        connected: false,
        lastSeenAt: null,
        backlog: 0,
        unknown: 0,
      });
      expect(world.lines).toEqual([]);
    } finally {
      await proxy.close();
    }
  });
});
