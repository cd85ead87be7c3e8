import { describe, expect, it } from 'vitest';
import type { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { mailsOf } from '../../helpers/outbox.ts';
import { visit } from '../../helpers/page-visitor.ts';
import { parsedMail, valuesOf } from '../mail/parsed-mail.ts';
import { eachWithPeople, type TestPeople } from './people.ts';

const HOUR_MS = 3_600_000;
const THREAD = 'shop on laptop, session 1';
const FOR_AN_HOUR = { verb: 'approve', lasts: true } as const;
const STOP = { verb: 'deny', lasts: true } as const;

let test: TestGateway;
let clock: FakeClock;
let people: TestPeople;
eachWithPeople((made) => ({ test, clock, people } = made));

/** A tool's call, as `svc hook run` asks about it. */
function call(bind: object, more: Record<string, unknown> = {}) {
  const common = { action: 'tool.Bash', summary: 'Run it', bind, thread: THREAD };
  return people.ask({ ...common, ...more });
}

async function statusOf(bind: object, more: Record<string, unknown> = {}): Promise<string> {
  const { body } = await call(bind, more);
  return `${body.status} ${String(body.decided_by).replace(/req_\w+/, 'req')}`;
}

const PENDING = 'pending null';
const ALLOWED = 'approved policy:hour:req';
const STOPPED = 'denied policy:stop:req';

/** A person approves this call for an hour. */
async function allowed(bind: object, more: Record<string, unknown> = {}): Promise<string> {
  const { body } = await call(bind, more);
  await people.decide(body.request_id, FOR_AN_HOUR);
  return body.request_id;
}

describe('an approval for an hour', () => {
  it('approves the same command in the same session without asking, and nothing else', async () => {
    await allowed({ command: 'npm test', description: 'first' });
    expect(await statusOf({ command: 'npm test', description: 'again' })).toBe(ALLOWED);
    for (const command of ['npm test ', 'npm test && rm x', 'npm testing', 'rm x']) {
      expect(await statusOf({ command })).toBe(PENDING);
    }
    expect(await statusOf({ command: 'npm test', dir_path: '/etc' })).toBe(PENDING);
    const same = { command: 'npm test' };
    expect(await statusOf(same, { thread: 'shop on laptop, session 2' })).toBe(PENDING);
    expect(await statusOf(same, { action: 'tool.Shell' })).toBe(PENDING);
    expect(await statusOf(same, { amount: 5 })).toBe(PENDING);
    expect(await statusOf(same, { risk: 'low' })).toBe(PENDING);
    expect(await statusOf(same, { risk: 'high', details: 'x' })).toBe(PENDING);
    expect(await statusOf(same, { approvers: [await people.owner()] })).toBe(PENDING);
    expect(await statusOf(same, { thread: undefined })).toBe(PENDING);
  });

  it('is of one key: another has to ask', async () => {
    await allowed({ command: 'npm test' });
    const body = { name: 'other', scopes: ['approvals'] };
    const { body: made } = await test.call<{ api_key: string }>('POST', '/v1/keys', { body });
    const again = { action: 'tool.Bash', summary: 'x', bind: { command: 'npm test' } };
    const asked = await people.ask({ ...again, thread: THREAD }, { key: made.api_key });
    expect(asked.body.status).toBe('pending');
  });

  it('covers edits in the folder, and no other way to write its name', async () => {
    const edit = { action: 'tool.Edit' };
    await allowed({ file_path: '/home/ana/shop/a.ts' }, edit);
    expect(await statusOf({ file_path: '/home/ana/shop/src/b.ts' }, edit)).toBe(ALLOWED);
    for (const path of ['/home/ana/shop/../x', '/home/ana/shopping', 'a.ts', '/etc/passwd']) {
      expect(await statusOf({ file_path: path }, edit)).toBe(PENDING);
    }
  });

  it('ends to the millisecond after an hour', async () => {
    await allowed({ command: 'npm test' });
    clock.advance(HOUR_MS - 1);
    expect(await statusOf({ command: 'npm test' })).toBe(ALLOWED);
    clock.advance(1);
    expect(await statusOf({ command: 'npm test' })).toBe(PENDING);
  });

  it('ends when the person ends it, and the ledger has both', async () => {
    const id = await allowed({ command: 'npm test' });
    const { approvals } = test.gateway;
    const opened = await approvals.endLasting(await people.link(id));
    expect(opened?.request.status).toBe('approved');
    expect(await statusOf({ command: 'npm test' })).toBe(PENDING);
    expect(await people.ledger('request.lasting_ended')).toMatchObject([{ subject: id }]);
  });

  it('ends with the policy under which it was given', async () => {
    await allowed({ command: 'npm test' });
    await people.setPolicy({ effect: 'allow', action: 'other' });
    expect(await statusOf({ command: 'npm test' })).toBe(PENDING);
  });

  it('never stands in for a rule that denies or may deny, or for two people', async () => {
    await people.activeChannel('bo@example.com', 'bo');
    await people.setPolicy({
      id: 'no-rm',
      effect: 'deny',
      bind: { '/command': { command: 'rm *' } },
    });
    const doubtful = { command: 'echo $(rm x)' };
    await allowed(doubtful);
    expect(await statusOf(doubtful)).toBe(PENDING);
    await allowed({ command: 'npm test' });
    expect(await statusOf({ command: 'rm x' })).toBe('denied policy:no-rm');
    expect(await statusOf({ command: 'npm test' }, { approvals: 2 })).toBe(PENDING);
  });

  it('ends with the channel of whoever gave it', async () => {
    const other = await people.activeChannel('bo@example.com', 'bo');
    const { body } = await call({ command: 'npm test' });
    await people.decide(body.request_id, FOR_AN_HOUR, other);
    expect(await statusOf({ command: 'npm test' })).toBe(ALLOWED);
    await people.removeChannel(other);
    expect(await statusOf({ command: 'npm test' })).toBe(PENDING);
  });

  it('says who gave it', async () => {
    const id = await allowed({ command: 'npm test' });
    const { body } = await call({ command: 'npm test' });
    const later = await people.status(body.request_id);
    expect(later.decided_by).toBe(`policy:hour:${id}`);
    const first = await test.call<{ lasts_until: string; hint: string }>(
      'GET',
      `/v1/requests/${id}`,
    );
    const until = new Date(clock.now() + HOUR_MS).toISOString();
    expect(first.body).toMatchObject({ lasts_until: until, thread: THREAD });
    expect(first.body.hint).toBe(`Approved in this session until ${until}: this very command.`);
  });
});

const linkOf = async (id: string) => `${test.url}/a/${await people.link(id)}`;

describe('the page of a question', () => {
  it('approves for an hour by one button, and ends that by another', async () => {
    const { body } = await call({ command: 'npm test' });
    const link = await linkOf(body.request_id);
    expect(await visit(link, { button: 'for an hour' })).toMatch(
      /Approved by owner.* this is approved in this session without asking: this very command ?\. A new policy ends that\. End this now/,
    );
    expect(await statusOf({ command: 'npm test' })).toBe(ALLOWED);
    expect(await visit(link, { button: 'End this now' })).not.toContain('without asking');
    expect(await statusOf({ command: 'npm test' })).toBe(PENDING);
  });

  it('stops the session, and lets it go on', async () => {
    const { body } = await call({ command: 'npm test' });
    const link = await linkOf(body.request_id);
    expect(await visit(link, { button: 'Stop this session' })).toMatch(
      /Denied by owner.* Whatever this session asks until .* is denied\. Let it ask again/,
    );
    await visit(link, { button: 'Let it ask again' });
    expect(await statusOf({ command: 'npm test' })).toBe(PENDING);
  });

  it('offers neither where the request is no call of a session', async () => {
    const html = await (await fetch(await linkOf(await people.asked()))).text();
    expect(html).not.toContain('for an hour in this session');
    expect(html).not.toContain('Stop this');
  });
});

describe('a stopped session', () => {
  it('is denied what it asks for a day, even what the policy approves, and what is open', async () => {
    await people.setPolicy({ id: 'ls', effect: 'auto_approve', bind: { '/command': 'ls' } });
    await allowed({ command: 'npm test' });
    const { body: open } = await call({ command: 'make' });
    const { body: other } = await call({ command: 'make' }, { thread: 'another' });
    const { body } = await call({ command: 'rm x' });
    await people.decide(body.request_id, STOP);
    expect((await people.status(open.request_id)).status).toBe('denied');
    expect((await people.status(other.request_id)).status).toBe('pending');
    for (const command of ['ls', 'npm test', 'echo']) {
      expect(await statusOf({ command })).toBe(STOPPED);
    }
    const { body: told } = await call({ command: 'ls' });
    expect(told.hint).toMatch(/^stopped: a person stopped this session\./);
    expect(await statusOf({ command: 'ls' }, { thread: 'another' })).toBe('approved policy:ls');
    clock.advance(24 * HOUR_MS);
    expect(await statusOf({ command: 'ls' })).toBe('approved policy:ls');
  });

  it('goes on when the person ends the stop', async () => {
    const { body } = await call({ command: 'rm x' });
    const token = await people.link(body.request_id);
    await people.decide(body.request_id, STOP);
    expect(await statusOf({ command: 'ls' })).toBe(STOPPED);
    await test.gateway.approvals.endLasting(token);
    expect(await statusOf({ command: 'ls' })).toBe(PENDING);
  });
});

describe('the questions of a session', () => {
  it('are one thread of mails, which says how many were asked and allowed', async () => {
    const ids: string[] = [];
    for (const command of ['a', 'b', 'c']) {
      const { body } = await call({ command });
      ids.push(body.request_id);
      await people.link(body.request_id);
      if (command !== 'c') await people.decide(body.request_id, { verb: 'approve' });
    }
    const mails = mailsOf(test.folder).map(parsedMail);
    const [first, ...replies] = mails.filter(({ text }) => text.includes(THREAD));
    if (!first) throw new Error('There is no mail.');
    const [subject = ''] = valuesOf(first, 'subject');
    expect(subject).toContain(`approve? ${THREAD}`);
    expect(replies).toHaveLength(2);
    for (const reply of replies) {
      expect(valuesOf(reply, 'in-reply-to')).toEqual(valuesOf(first, 'message-id'));
      expect(valuesOf(reply, 'references')).toEqual(valuesOf(first, 'message-id'));
      expect(valuesOf(reply, 'subject')).toEqual([`Re: ${subject}`]);
    }
    expect(replies.at(-1)?.text).toContain(`"${THREAD}": 3 asked, 2 allowed.`);
    const opened = await test.gateway.approvals.open(await people.link(ids[2] ?? ''));
    expect(opened?.request.thread).toEqual({ name: THREAD, asked: 3, allowed: 2 });
  });

  it('of two sessions are two threads', async () => {
    for (const thread of ['one', 'two']) {
      const { body } = await call({ command: 'a' }, { thread });
      await people.link(body.request_id);
    }
    const mails = mailsOf(test.folder).map(parsedMail);
    expect(mails.flatMap((mail) => valuesOf(mail, 'in-reply-to'))).toEqual([]);
  });
});
