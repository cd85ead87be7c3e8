import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutboxMailer } from '../../../gateway/mail/outbox-mailer.ts';
import { NOW } from './samples.ts';

let parent: string;
let folder: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'svc-outbox-'));
  folder = join(parent, 'data', 'outbox');
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const clock = { now: () => NOW };
const mail = (id: string, subject = 'Subject') => ({
  id,
  from: 'svc@localhost',
  to: 'ann@example.com',
  subject,
  text: 'Text\n',
});
const read = (id: string) => readFileSync(join(folder, `${id}.eml`), 'utf8');
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

const refused = () => Promise.reject(new Error('It was taken back.'));

describe('the outbox', () => {
  it('has a file for each mail, for its user alone', async () => {
    const mailer = new OutboxMailer({ folder, clock });
    expect(await mailer.send(mail('a_1'))).toEqual({
      outcome: 'sent',
      messageId: '<a_1@localhost>',
    });
    await mailer.send(mail('a_2'));
    expect(readdirSync(folder).toSorted()).toEqual(['a_1.eml', 'a_2.eml']);
    expect(read('a_1')).toMatch(/^[\s\S]+\r\nSubject: Subject\r\n[\s\S]+\r\n\r\nText\r\n$/);
    expect([mode(folder), mode(join(folder, 'a_1.eml'))]).toEqual(['700', '600']);
  });

  it('has one file for attempts with one id, also at the same time, and keeps the first', async () => {
    const mailer = new OutboxMailer({ folder, clock });
    const attempts = ['one', 'two', 'three'].map((subject) => mailer.send(mail('a_1', subject)));
    const sent = { outcome: 'sent', messageId: '<a_1@localhost>' };
    expect(await Promise.all(attempts)).toEqual([sent, sent, sent]);
    expect(readdirSync(folder)).toEqual(['a_1.eml']);
    expect(read('a_1')).toContain('Subject: one\r\n');
  });

  it('never has more files than it may: the oldest make room', async () => {
    const mailer = new OutboxMailer({ folder, clock, filesMax: 3 });
    for (const [index, id] of ['c', 'a', 'b'].entries()) {
      await mailer.send(mail(id));
      utimesSync(join(folder, `${id}.eml`), 1000 + index, 1000 + index);
    }
    await Promise.all([mailer.send(mail('e')), mailer.send(mail('d'))]);
    expect(readdirSync(folder).toSorted()).toEqual(['b.eml', 'd.eml', 'e.eml']);
    await mailer.send(mail('b'));
    expect(readdirSync(folder)).toHaveLength(3);
  });

  it('keeps what else lies there', async () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    const mailer = new OutboxMailer({ folder, clock, filesMax: 1 });
    await mailer.send(mail('a'));
    await mailer.send(mail('b'));
    expect(readdirSync(folder).toSorted()).toEqual(['b.eml', 'notes.txt']);
  });

  it('takes away what a process that died had begun, and closes a folder that was open', async () => {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, 'half.tmp'), 'Subj');
    await new OutboxMailer({ folder, clock }).send(mail('a'));
    expect(readdirSync(folder)).toEqual(['a.eml']);
    expect(mode(folder)).toBe('700');
  });

  it('goes on when its folder was taken away', async () => {
    const mailer = new OutboxMailer({ folder, clock });
    await mailer.send(mail('a'));
    rmSync(folder, { recursive: true });
    expect(await mailer.send(mail('a'))).toMatchObject({ outcome: 'sent' });
    expect(readdirSync(folder)).toEqual(['a.eml']);
    expect(mode(folder)).toBe('700');
  });

  it('says that a mail has to come again when it cannot be written', async () => {
    const file = join(parent, 'file');
    writeFileSync(file, '');
    const mailer = new OutboxMailer({ folder: join(file, 'outbox'), clock });
    expect(await mailer.send(mail('a'))).toEqual({
      outcome: 'later',
      retryAfterSeconds: null,
      reason: 'The outbox folder could not be written (ENOTDIR).',
    });
    expect(existsSync(join(file, 'outbox'))).toBe(false);
  });

  it('asks before it keeps a mail, as a server is asked', async () => {
    const mailer = new OutboxMailer({ folder, clock });
    let seen: string[] | null = null;
    const note = async (): Promise<void> => {
      seen = readdirSync(folder);
    };
    expect(await mailer.send({ ...mail('a'), beforeData: note })).toMatchObject({
      outcome: 'sent',
    });
    expect(seen).toEqual([]);
    expect(await mailer.send({ ...mail('b'), beforeData: refused })).toEqual({
      outcome: 'later',
      retryAfterSeconds: null,
      reason: 'The mail was held back before any of it was sent.',
    });
    expect(readdirSync(folder)).toEqual(['a.eml']);
  });

  it('takes nothing more once it is closed, and ends what it began', async () => {
    const mailer = new OutboxMailer({ folder, clock });
    const begun = mailer.send(mail('a'));
    await mailer.close();
    expect(await begun).toMatchObject({ outcome: 'sent' });
    expect(await mailer.send(mail('b'))).toMatchObject({ outcome: 'later' });
    expect(readdirSync(folder)).toEqual(['a.eml']);
  });
});
