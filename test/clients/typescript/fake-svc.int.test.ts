import { afterEach, beforeEach, expect, it } from 'vitest';
import { NotApproved } from '../../../clients/typescript/ask.ts';
import { SvcError } from '../../../clients/typescript/core/errors.ts';
import { Svc } from '../../../clients/typescript/svc.ts';
import { FakeSvc } from '../../../clients/typescript/testing/fake-svc.ts';
import { Permanent } from '../../../clients/typescript/work/parked.ts';
import type { WorkContext, WorkEvent } from '../../../clients/typescript/work/context.ts';
import type { Finished, Handler } from '../../../clients/typescript/work/worker.ts';
import { ParkStage } from '../../shared/operations/inbox/park-stage.ts';

/** A server, real or not, as a scenario needs it. */
interface Server {
  readonly svc: Svc;
  readonly deliver: () => Promise<string>;
  readonly decide: (status: 'approved' | 'denied') => Promise<void>;
  readonly run: (handler: Handler) => Promise<readonly Finished[]>;
}

let stage: ParkStage;
beforeEach(async () => {
  stage = await ParkStage.start();
});
afterEach(() => stage.stop());

function real(): Server {
  const { url: gateway, apiKey } = stage.test;
  const svc = new Svc({ apiKey, gateway, note: () => undefined });
  return {
    svc,
    deliver: () => stage.arrived(),
    decide: async (status) => {
      const path = '/v1/requests?status=pending';
      const { body } = await stage.test.call<{ items: { request_id: string }[] }>('GET', path);
      const verb = status === 'approved' ? 'approve' : 'deny';
      await stage.people.decide(String(body.items.at(-1)?.request_id), { verb });
    },
    run: async (handler) => {
      const finished: Finished[] = [];
      const filter = { source: 'open' };
      const onFinished = (one: Finished): void => void finished.push(one);
      await svc.work(filter, handler, { drain: true, onFinished });
      return finished;
    },
  };
}

function fake(): Server {
  const server = new FakeSvc();
  let deliveries = 0;
  return {
    svc: server.svc,
    deliver: async () => {
      deliveries += 1;
      return server.deliver('open', 'webhook.received', { text: `{"n":${deliveries}}` });
    },
    decide: async (status) => void server.decide(status),
    run: (handler) => server.run(handler),
  };
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'ok',
    (error: unknown) => (error instanceof SvcError ? error.code : String(error)),
  );
}

async function bot(_event: WorkEvent, ctx: WorkContext): Promise<unknown> {
  const bind = { sha: '3f2a' };
  const kept = await ctx.once('step', () => ({ n: 1 }));
  const answer = await ctx.ask.approval('deploy', 'Deploy', { bind });
  ctx.spend(answer);
  return { kept, because: answer.status, answers: ctx.resumed?.answers.length };
}

/** What a server makes of a handler's life; ids and times differ and are left out. */
async function life(server: Server): Promise<unknown> {
  const { svc } = server;
  const seen: unknown[] = [];
  const tell = async (id: string): Promise<void> => {
    const { status, attempts, result, reason } = (await svc.inbox.get({ event_id: id })) ?? {};
    seen.push({ status, attempts, result: result ?? null, reason: reason ?? null });
  };
  const ran = async (handler: Handler): Promise<void> => {
    seen.push((await server.run(handler)).map(({ outcome }) => outcome));
  };
  const [yes, no] = [await server.deliver(), await server.deliver()];
  await ran(bot);
  await tell(yes);
  await server.decide('denied');
  await server.decide('approved');
  await ran(bot);
  await tell(yes);
  await tell(no);
  const bad = await server.deliver();
  await ran(() => Promise.reject(new Error('boom')));
  await tell(bad);
  const dead = await server.deliver();
  await ran(() => Promise.reject(new Permanent('never')));
  await tell(dead);
  await svc.inbox.requeue({ event_id: dead });
  await ran((_event, ctx) => ctx.park('+2h', { state: { step: 2 } }));
  await tell(dead);
  seen.push(await codeOf(svc.inbox.claim({ event_id: dead })));
  seen.push(await codeOf(svc.inbox.ack({ event_id: yes, result: 1 })));
  const left = { event_id: await server.deliver() };
  await svc.inbox.claim(left);
  await svc.inbox.nack({ ...left, until: ['now'], state: { step: 1 } });
  seen.push((await svc.inbox.claim(left)).resumed);
  return seen;
}

/** What it makes of the disk. */
async function disk({ svc }: Server): Promise<unknown> {
  const put = await svc.kv.set({ key: 'a/b', value: { n: 1 } });
  const codes = [
    await codeOf(svc.kv.set({ key: 'a/b', value: 2, if_version: 0 })),
    await codeOf(svc.kv.set({ key: 'a/b', value: 2, if_version: put.version })),
    await codeOf(svc.kv.set({ key: 'a/b', value: undefined })),
    await codeOf(svc.kv.set({ key: 'a/b' })),
    await codeOf(svc.state.save({ task_id: 'task', state: undefined })),
  ];
  const counted = await svc.kv.incr({ key: 'count', by: 3 });
  await svc.state.save({ task_id: 'task', state: [1, 2] });
  await svc.file.write('dir/x.txt', 'hello', { content_type: 'text/plain' });
  return [
    codes,
    counted.value,
    (await svc.kv.get({ key: 'a/b' }))?.value,
    await svc.kv.get({ key: 'none' }),
    (await svc.state.load({ task_id: 'task' }))?.state,
    await svc.state.load({ task_id: 'none' }),
    Buffer.from((await svc.file.read('dir/x.txt')) ?? []).toString(),
    await svc.file.read('none'),
    (await svc.kv.delete({ key: 'a/b' })).deleted,
    (await svc.kv.delete({ key: 'a/b' })).deleted,
  ];
}

/** What it lists, and how it numbers versions. */
async function lists({ svc }: Server): Promise<unknown> {
  for (const key of ['b/2', 'b/1', 'a']) await svc.kv.set({ key, value: key });
  for (const path of ['d/y', 'd/x', 'z']) await svc.file.write(path, path);
  const keys = await svc.kv.list({ prefix: 'b/' }).all();
  const files = await svc.file.list({ prefix: 'd/' }).all();
  const [one, two] = [
    await svc.kv.set({ key: 'a', value: 2 }),
    await svc.file.write('z', 'again', { if_version: 6 }),
  ];
  return [
    keys.map(({ key, version }) => [key, version]),
    files.map(({ path, version }) => [path, version]),
    [one.version, two.version],
    await codeOf(svc.file.write('z', 'stale', { if_version: 1 })),
    await codeOf(svc.file.delete({ path: 'z', if_version: 1 })),
    await codeOf(svc.kv.delete({ key: 'a', if_version: 1 })),
    await codeOf(svc.state.save({ task_id: 't', state: 1, if_version: 0 })),
    await codeOf(svc.state.save({ task_id: 't', state: 1, if_version: 0 })),
    (await svc.kv.list().all()).map(({ key }) => key),
  ];
}

/** What it makes of questions outside a worker, and of a write that is repeated. */
async function questions({ svc, decide }: Server): Promise<unknown> {
  const bind = { sha: '3f2a' };
  const ask = async (): Promise<NotApproved['answer']> => {
    const asked = svc.ask.approval('deploy', 'Deploy', { bind, wait: 0 });
    const error: unknown = await asked.catch((thrown: unknown) => thrown);
    if (error instanceof NotApproved) return error.answer;
    throw error;
  };
  const { request_id, status } = await ask();
  const use = (given: object): Promise<string> =>
    codeOf(svc.request.use({ request_id, bind: given }));
  const codes = [await use(bind)];
  await decide('approved');
  codes.push(await use({ sha: 'other' }), await use(bind), await use(bind));
  const { status: after, spent_at } = (await svc.request.status({ request_id })) ?? {};
  const again = { idempotencyKey: 'once' };
  const first = await svc.kv.incr({ key: 'n' }, again);
  const second = await svc.kv.incr({ key: 'n' }, again);
  const other = await codeOf(svc.kv.incr({ key: 'n', by: 5 }, again));
  const open = await ask();
  const withdrawn = await svc.request.withdraw({ request_id: open.request_id, reason: 'Late.' });
  return {
    status,
    codes,
    after: [after, typeof spent_at],
    counted: [first.value, second.value, other],
    isNew: open.request_id !== request_id,
    withdrawn: withdrawn.status,
    twice: await codeOf(svc.request.withdraw({ request_id: open.request_id })),
  };
}

it.each([
  ['a handler’s life', life],
  ['the disk', disk],
  ['lists and versions', lists],
  ['questions and repeated writes', questions],
])('FakeSvc plays %s as the server does', async (_what, scenario) => {
  expect(await scenario(fake())).toEqual(await scenario(real()));
});
