import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MailConfig } from '../../../../gateway/mail/mail-config.ts';
import { TestSending } from '../../../gateway/mail/outbound/sending.ts';
import { bytesOf, DECLARED, structured, TaskSite } from './task-site.ts';

const MAIL: MailConfig = {
  kind: 'outbox',
  from: 'svc@agents.test',
  domain: 'agents.test',
  imap: null,
  dkim: null,
  dnsServers: [],
};
const LETTER = { to: ['ana@example.com'], cc: ['bo@example.com'], subject: 'May', text: 'Hi.' };

let site: TaskSite;
beforeEach(async () => {
  site = await TaskSite.start({ messaging: { mail: MAIL, telegram: null } });
});
afterEach(() => site.stop());

/** Cancels a task and expects its question to be withdrawn. */
async function expectWithdrawn(taskId: unknown, asked: string): Promise<void> {
  expect((await site.cancel(taskId)).error).toBeUndefined();
  const task = await site.get(taskId);
  expect(task.result).toMatchObject({ taskId, status: 'cancelled' });
  expect(task.result).not.toHaveProperty('result');
  expect(await site.people.status(asked)).toMatchObject({
    status: 'expired',
    hint: 'withdrawn: the agent cancelled its task.',
  });
  expect((await site.cancel(taskId)).error).toBeUndefined();
  expect((await site.get(taskId)).result).toEqual(task.result);
}

describe('a proposed policy', () => {
  const rules = [{ id: 'small', effect: 'auto_approve', action: 'pay.*', amount_lte: 10 }];

  it('is a task that says whether it is in force', async () => {
    const { taskId } = (await site.call('policy_set', { policy: { rules } })).result;
    expect(taskId).toMatch(/^req_/);
    await site.decide(taskId, { verb: 'approve' });
    expect(structured(await site.get(taskId))).toMatchObject({
      status: 'approved',
      hint: 'The new policy is in force.',
      warnings: [],
    });
    const shadowed = [...rules, { ...rules[0], id: 'never' }];
    const warned = await site.call('policy_set', { policy: { rules: shadowed } });
    expect(warned.result).toMatchObject({
      resultType: 'complete',
      structuredContent: { status: 'pending', warnings: [{ rule: 'never' }] },
    });
  });

  it('is taken back with its task', async () => {
    const { taskId } = (await site.call('policy_set', { policy: { rules } })).result;
    await expectWithdrawn(taskId, String(taskId));
    expect(await site.open()).toBe('');
  });
});

const link = () => site.call('file_url', { path: 'may.txt', wait_seconds: 120 });

describe('a public link', () => {
  beforeEach(async () => {
    await site.call('file_put', { path: 'may.txt', content_base64: 'TWF5' });
  });

  it('is made once, by the first reading after the decision', async () => {
    const { taskId } = (await link()).result;
    await site.decide(await site.open(), { verb: 'approve' });
    const first = await site.get(taskId);
    expect(structured(first)).toMatchObject({
      url: expect.any(String),
      link_id: expect.any(String),
    });
    expect(bytesOf(await site.get(taskId))).toBe(bytesOf(first));
    const other = await site.keyOf('disk', 'approvals');
    expect((await site.get(taskId, other)).error).toMatchObject({ code: -32602 });
  });

  it('that somebody denied is completed', async () => {
    const { taskId } = (await link()).result;
    await site.decide(await site.open(), { verb: 'deny', comment: 'Not this one.' });
    const first = await site.get(taskId);
    expect(structured(first)).toMatchObject({ status: 'denied', comment: 'Not this one.' });
    expect(bytesOf(await site.get(taskId))).toBe(bytesOf(first));
  });

  it('is taken back with its task, whether or not somebody has looked before', async () => {
    const { taskId } = (await link()).result;
    await expectWithdrawn(taskId, await site.open());
    const { result } = await link();
    const asked = await site.open();
    const held = await site.held(result['taskId']);
    await expectWithdrawn(result['taskId'], asked);
    expect((await held.answer).result).toMatchObject({ status: 'cancelled' });
  });

  it('keeps a decision that was made before its task was cancelled', async () => {
    const { taskId } = (await link()).result;
    await site.decide(await site.open(), { verb: 'approve' });
    expect((await site.cancel(taskId)).error).toBeUndefined();
    expect(structured(await site.get(taskId))).toMatchObject({ url: expect.any(String) });
  });

  it('is told to whoever listens as soon as there is one to read', async () => {
    const { taskId } = (await link()).result;
    const listener = await site.agent.listen({ taskIds: [taskId] }, 7, DECLARED);
    await site.decide(await site.open(), { verb: 'approve' });
    const told = await listener.next(1);
    expect(told).toMatchObject({ method: 'notifications/tasks', params: { taskId } });
    expect(told.params).not.toHaveProperty('result');
    expect(structured(await site.get(taskId))).toMatchObject({ url: expect.any(String) });
    await listener.leave();
  });
});

const send = (by = site.agent) => site.call('email_send', { ...LETTER, wait_seconds: 120 }, by);

/** What a client gets that waits, without tasks, for the same decision. */
const waiting = async () => {
  const input = { name: 'email_send', arguments: { ...LETTER, wait_seconds: 120 } };
  const answer = site.agent.modern('tools/call', input);
  await expect.poll(() => site.people.project.waits.size, { interval: 2 }).toBe(1);
  return { answer };
};

describe('a mail that a person has to approve', () => {
  let mail: TestSending;
  beforeEach(async () => {
    await site.test.addSource({ type: 'email', name: 'mail' });
    mail = await TestSending.of(site.test, site.test.projectId, site.clock);
  });

  it.each([
    ['approve', 'queued'],
    ['deny', 'cancelled'],
  ] as const)('is a task: %s', async (verb, status) => {
    const { result } = await send();
    expect(result).toMatchObject({
      resultType: 'task',
      status: 'working',
      ttlMs: 86_400_000,
      pollIntervalMs: 1_000,
    });
    const { taskId } = result;
    const plain = await waiting();
    await site.decide(await site.open(), { verb });
    const waited = (await plain.answer).result;
    const first = await site.get(taskId);
    expect(structured(first)).toMatchObject({
      status,
      messages: [
        { to: 'ana@example.com', status },
        { to: 'bo@example.com', copy: 'cc', status },
      ],
    });
    const { _meta, resultType: _complete, ...answered } = waited;
    expect(bytesOf(first)).toBe(JSON.stringify(answered));
    if (verb === 'approve') await mail.ended(String(structured(first)['batch_id']));
    expect(bytesOf(await site.get(taskId))).toBe(bytesOf(first));
  });

  it('that nobody decides in time is completed, as cancelled', async () => {
    const { taskId } = (await send()).result;
    site.clock.advance(86_400_000);
    const first = await site.get(taskId);
    expect(structured(first)).toMatchObject({ status: 'cancelled' });
    await site.people.maintenance();
    expect(bytesOf(await site.get(taskId))).toBe(bytesOf(first));
  });

  it('ends a held tasks/get, and is told to whoever listens', async () => {
    const { taskId } = (await send()).result;
    const held = await site.held(taskId);
    const listener = await site.agent.listen({ taskIds: [taskId] }, 7, DECLARED);
    await site.decide(await site.open(), { verb: 'approve' });
    expect(structured(await held.answer)).toMatchObject({ status: 'queued' });
    expect(await listener.next(1)).toMatchObject({
      method: 'notifications/tasks',
      params: { taskId, status: 'completed', result: { structuredContent: { status: 'queued' } } },
    });
    await listener.leave();
  });

  it('is taken back with its task', async () => {
    const { taskId } = (await send()).result;
    await expectWithdrawn(taskId, await site.open());
    expect(mail.outbox()).toEqual([]);
  });

  it('is read by every key that may send, and unknown to all others', async () => {
    const sender = await site.keyOf('send');
    const { taskId } = (await send(sender)).result;
    await site.decide(await site.open(), { verb: 'approve' });
    const first = await site.get(taskId, sender);
    expect(structured(first)).toMatchObject({ status: 'queued' });
    expect(bytesOf(await site.get(taskId))).toBe(bytesOf(first));
    const other = await site.keyOf('inbox:read', 'inbox:write', 'approvals', 'disk');
    expect((await site.get(taskId, other)).error).toMatchObject({ code: -32602 });
  });

  it('that the policy lets out, or refuses, is no task', async () => {
    await mail.allowAll();
    expect((await send()).result).toMatchObject({
      resultType: 'complete',
      structuredContent: { status: 'queued' },
    });
    await mail.policy({ effect: 'deny', tool: ['email_send'] });
    expect((await send()).result).toMatchObject({ resultType: 'complete', isError: true });
    expect((await site.call('email_send', { subject: 'May' })).result).toMatchObject({
      resultType: 'complete',
      isError: true,
    });
  });
});
