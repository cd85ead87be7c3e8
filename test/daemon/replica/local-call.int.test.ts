import { Pace } from '../../../shared/kernel/pace.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runLocally, shortened } from '../../../daemon/replica/serve/local-call.ts';
import { reworded, withRoutes } from '../../../shared/api/names.ts';
import type { Caller, ServerInfo } from '../../../shared/kernel/context.ts';
import { operations } from '../../../shared/operations/index.ts';
import { parseInput, type Operation } from '../../../shared/kernel/operation.ts';
import type { ProjectReader } from '../../../shared/store/project-store.ts';
import { isObject } from '../../../shared/lib/guards.ts';
import { Waits } from '../../../shared/kernel/waits.ts';
import { LOOPBACK, type Receiver } from '../../gateway/callbacks/callback-receiver.ts';
import { caller } from '../../helpers/calls.ts';
import { TestGateway } from '../../helpers/gateway.ts';
import { prepared } from '../../surface/preparations.ts';
import { startReceiver } from '../../surface/receiver.ts';
import { operationNamed, World } from '../../surface/scenario.ts';

let gateway: TestGateway;
let receiver: Receiver;
let world: World;
let identity: Caller;
let store: ProjectReader;

beforeAll(async () => {
  gateway = await TestGateway.start({ callbackAllow: LOOPBACK });
  receiver = await startReceiver();
  world = new World(gateway, receiver.url());
  await world.event();
  ({ identity } = await caller(gateway, gateway.apiKey));
  const project = await gateway.gateway.projects.find(gateway.projectId);
  if (!project) throw new Error('There is no project.');
  ({ store } = project);
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});

const NEVER = new AbortController().signal;

/** As a replica runs it: over rows alone, without vault, blobs and what a gateway keeps in memory. */
function locally(operation: Operation, input: unknown, reader: ProjectReader | null = store) {
  const { url } = gateway;
  const server: ServerInfo = {
    version: '0.0.0',
    urls: { api: url, mcp: `${url}/mcp`, hooks: url },
    channels: ['email'],
    telegramBot: null,
    mail: { domain: null, from: null },
  };
  const project = { id: gateway.projectId, slug: 'test', name: 'Test' };
  const info = { project, server, schemaVersion: 1 };
  const copy = { info, now: () => Date.now(), store: reader, waits: new Waits(), pace: new Pace() };
  const checked = parseInput(operation, input);
  return runLocally({ operation, checked, caller: identity, signal: NEVER }, copy);
}

/** Without what is of whoever answers, or of this call: the project's name, the release, the agent. */
function own(answer: unknown): unknown {
  if (!isObject(answer)) return answer;
  const { project: _project, server: _server, agent: _agent, ...rest } = answer;
  return rest;
}

const local = operations.filter(({ replica }) => replica === 'local');
const named = (some: readonly Operation[]) => some.map((one) => [one.name, one] as const);

describe('an operation that a replica answers', () => {
  it.each(named(local))('%s needs no more than rows', async (name, operation) => {
    const input = await prepared(operation, world);
    const answer = operation.output.parse(await locally(operation, input));
    const told = operation.output.parse(await world.get(name, input));
    // The other came over REST.
    expect(own(reworded(answer, withRoutes(operations)))).toEqual(own(told));
  });

  it('never writes', () => {
    expect(
      local.filter(({ effect, handler }) => effect === 'write' || handler.kind === 'write'),
    ).toEqual([]);
  });
});

describe('what is for the gateway', () => {
  it('are all writes, and the reads that need its secrets, its files or its memory', () => {
    const reads = operations.filter(
      ({ replica, effect }) => replica === 'upstream' && effect !== 'write',
    );
    expect(reads.map(({ name }) => name)).toEqual([
      'source_list',
      'source_get',
      'inbox_link',
      'policy_suggest',
      'file_get',
      'usage',
    ]);
  });

  it.each(['source_list', 'source_get', 'file_get', 'usage'])(
    '%s would fail on a replica',
    async (name) => {
      const operation = operationNamed(name);
      const input = await prepared(operation, world);
      await expect(locally(operation, input)).rejects.toThrow('A replica has no ');
    },
  );

  it('a write would, too', async () => {
    const operation = operationNamed('kv_set');
    await expect(locally(operation, operation.example)).rejects.toThrow('kv_set writes');
  });
});

describe('a copy that is gone', () => {
  it('answers nothing', async () => {
    const operation = operationNamed('kv_list');
    await expect(locally(operation, {}, null)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('leaves the rest of a wait to be waited', () => {
    const operation = operationNamed('inbox_wait');
    const input = { timeout_seconds: 45, type: 'a' };
    const call = { operation, input, checked: input, caller: identity, signal: NEVER };
    expect(shortened(call, 15_400)).toMatchObject({
      input: { timeout_seconds: 30, type: 'a' },
      checked: { timeout_seconds: 30 },
    });
    expect(shortened(call, 60_000).input).toEqual({ timeout_seconds: 1, type: 'a' });
    const read = { ...call, operation: operationNamed('kv_list'), input: {} };
    expect(shortened(read, 15_000)).toBe(read);
  });
});
