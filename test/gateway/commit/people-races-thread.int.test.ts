import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import pino from 'pino';
import { Gateway } from '../../../gateway/gateway.ts';
import { ThreadWriters } from '../../../gateway/commit/thread/thread.ts';
import type { Caller } from '../../../shared/kernel/context.ts';
import { operations } from '../../../shared/operations/index.ts';
import { FakeClock, temporaryFolder } from '../../helpers/gateway.ts';
import { linkToken } from '../../helpers/outbox.ts';

let folder: ReturnType<typeof temporaryFolder>;
let gateway: Gateway;
let caller: Caller;
beforeEach(async () => {
  folder = temporaryFolder();
  gateway = await Gateway.open({
    dataFolder: folder.path,
    // It stands still: how long to wait is told to the second.
    clock: new FakeClock(),
    urls: { api: 'http://x', mcp: 'http://x/mcp', hooks: 'http://x' },
    ratePerMinute: 0,
    log: pino({ level: 'fatal' }),
    onFatal: () => undefined,
    openWriters: (options) => new ThreadWriters(options),
    checkAnswers: true,
  });
  const { apiKey } = await gateway.createProject({ name: 'One', slug: 'one' });
  caller = await gateway.executor.authenticate({
    authorization: `Bearer ${apiKey}`,
    agentHeader: undefined,
    userAgent: undefined,
    requestId: 'test',
    idempotencyKey: undefined,
  });
});
afterEach(async () => {
  await gateway.close();
  folder.remove();
});

async function call(name: string, input: Record<string, unknown>) {
  const operation = operations.find((one) => one.name === name);
  if (!operation) throw new Error(`There is no operation ${name}.`);
  const never = new AbortController().signal;
  const answer = await gateway.executor.execute(operation, input, caller, never);
  return answer.value as Record<string, unknown>;
}

describe('a writer in a thread of its own', () => {
  it('takes one of 20 decisions, and wakes who waits', async () => {
    const asking = call('ask_approval', { action: 'a', summary: 's', wait_seconds: 30 });
    const token = await linkToken(folder.path);
    const decisions = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        gateway.approvals.decide(token, {
          verb: n % 2 === 0 ? 'approve' : 'deny',
          comment: `No ${n}`,
        }),
      ),
    );
    const taken = decisions.filter((one) => one?.outcome === 'taken');
    expect(taken).toHaveLength(1);
    const { status, comment } = taken[0]?.opened.request ?? {};
    expect(await asking).toMatchObject({ status, comment });
  });

  it('carries all that people do, there and back', async () => {
    const address = 'ana@example.com';
    const added = await call('channel_add', { kind: 'email', address });
    const again = call('channel_add', { kind: 'email', address });
    await expect(again).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      details: { retry_after: 60 },
    });
    const confirm = await linkToken(folder.path, 'c');
    expect(await gateway.approvals.verifyEmail(confirm)).toMatchObject({ status: 'verified' });
    const letIn = await linkToken(folder.path);
    const refused = await gateway.approvals.decide(letIn, { verb: 'option', index: 1 });
    expect(refused).toMatchObject({ outcome: 'refused', problem: 'There is no such option.' });
    expect((await gateway.approvals.decide(letIn, { verb: 'approve' }))?.outcome).toBe('taken');
    const { id } = added['channel'] as { id: string };
    const asked = await call('ask_human', { question: 'q?', approvers: [id], wait_seconds: 0 });
    const link = await linkToken(folder.path, 'a', 2);
    await gateway.approvals.decide(link, { verb: 'answer', text: 'Because.' });
    const record = await call('request_status', { request_id: asked['request_id'] });
    expect(record).toMatchObject({ status: 'answered', decision: 'Because.' });
    await call('channel_remove', { channel_id: id });
    expect(await gateway.approvals.open(link)).toBeNull();
    const none = call('channel_remove', { channel_id: id });
    await expect(none).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
