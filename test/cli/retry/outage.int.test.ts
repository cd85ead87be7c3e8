import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../../cli/run.ts';
import { temporaryFolder, TestGateway } from '../../helpers/gateway.ts';
import { LossyProxy } from '../../helpers/lossy-proxy.ts';
import { TextSink } from '../fake-output.ts';

type Json = Record<string, unknown>;

/** How often the client itself sends a call again whose connection broke, and one more. */
const OFTEN = 3;

let gateway: TestGateway;
let line: LossyProxy;
let folder: ReturnType<typeof temporaryFolder>;
beforeEach(async () => {
  gateway = await TestGateway.start();
  line = await LossyProxy.open(gateway.url);
  folder = temporaryFolder();
});
afterEach(async () => {
  await line.down();
  await gateway.stop();
  folder.remove();
});

function start(...argv: readonly string[]) {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const env = { SVC_HOME: folder.path, SVC_GATEWAY: line.url, SVC_API_KEY: gateway.apiKey };
  const { signal } = new AbortController();
  const ended = run(argv, { env, stdout, stderr, signal });
  return { ended, stderr, stdout };
}

async function svc(...argv: readonly string[]) {
  const { ended, stderr, stdout } = start(...argv);
  return { code: await ended, out: stdout.text, err: stderr.text };
}

/** The entries of the ledger about an operation. */
async function effects(op: string): Promise<number> {
  const { body } = await gateway.call<{ items: Json[] }>('GET', `/v1/ledger?op=${op}`);
  return body.items.length;
}

function keyIn(text: string): string {
  return /--idempotency-key=(\S+)/.exec(text)?.[1] ?? '';
}

describe('an outage in the middle of a write', () => {
  it('that takes the answers away after the commit leaves one effect', async () => {
    line.loseAnswersTo('POST /v1/keys', OFTEN);
    const create = ['key', 'create', '--name', 'ci', '--scopes', 'disk'];
    const { code, err } = await svc(...create, '--retry-for', '20s');
    expect([code, err]).toEqual([0, "The gateway can't be reached; trying again for 20 s …\n"]);
    expect(await effects('key_create')).toBe(1);
  });

  it('that refuses connections is sat out', async () => {
    await line.down();
    const { ended, stderr, stdout } = start('kv', 'set', 'a', '1', '--retry-for', '20s');
    await expect.poll(() => stderr.text).toContain("The gateway can't be reached");
    await line.up();
    expect(await ended).toBe(0);
    expect(JSON.parse(stdout.text)).toMatchObject({ version: 1 });
  });

  it('that outlasts the tries ends with 7 and a key, which goes on where they ended', async () => {
    line.loseAnswersTo('PUT /v1/kv/', 100);
    const set = ['kv', 'set', 'a', '1'];
    const { code, out, err } = await svc(...set, '--retry-for', '1s');
    expect([code, out]).toEqual([7, '']);
    line.loseAnswersTo('PUT /v1/kv/', 0);
    for (let repeat = 0; repeat < 2; repeat += 1) {
      const repeated = await svc(...set, '--idempotency-key', keyIn(err));
      expect(JSON.parse(repeated.out)).toMatchObject({ version: 1 });
    }
    expect(await effects('kv_set')).toBe(1);
  });

  it('asks a person once', async () => {
    line.loseAnswersTo('POST /v1/requests', OFTEN);
    const ask = ['ask', 'approval', 'deploy', 'Deploy v2', '--wait-seconds', '0'];
    expect(await svc(...ask, '--retry-for', '20s')).toMatchObject({ code: 6 });
    const { body } = await gateway.call<{ items: Json[] }>('GET', '/v1/requests?status=pending');
    expect(body.items).toHaveLength(1);
  });
});

describe('an idempotency key', () => {
  it('asks a person once, however often a command is run under it', async () => {
    const ask = ['ask', 'human', 'Which colour?', '--wait-seconds', '0'];
    const keyed = [...ask, '--idempotency-key', 'evt_1'];
    const [first, second] = [await svc(...keyed), await svc(...keyed)];
    expect(JSON.parse(first.out)).toEqual(JSON.parse(second.out));
    expect(await effects('ask_human')).toBe(1);
  });

  it('of another call is refused, by the name of the flag', async () => {
    const key = ['--idempotency-key', 'once', '--retry-for', '1h'];
    await svc('kv', 'set', 'a', '1', ...key);
    const { code, err } = await svc('kv', 'set', 'a', '2', ...key);
    expect(code).toBe(2);
    expect(err).toContain(
      '\n  --idempotency-key: This key was used for another call. Use a new one for a new call.\n',
    );
  });
});

function local(name: string, bytes: number): string {
  const path = join(folder.path, name);
  writeFileSync(path, randomBytes(bytes));
  return path;
}

describe('files', () => {
  const LARGE = 1_500_000;

  it.each([1000, LARGE])('of %i bytes are saved once under a key', async (bytes) => {
    const put = ['file', 'put', local('a.bin', bytes), 'a.bin', '--idempotency-key', 'backup'];
    const [first, second] = [await svc(...put), await svc(...put)];
    expect(first).toMatchObject({ code: 0, err: '' });
    expect(second).toEqual(first);
    expect(JSON.parse(second.out)).toMatchObject({ size_bytes: bytes, version: 1 });
  });

  it('are completed though the answers to that are lost', async () => {
    const file = local('a.bin', LARGE);
    // The second call about the file is the one that completes its upload.
    line.loseAnswersTo('PUT /v1/files/', 2 * OFTEN);
    const { code, out } = await svc('file', 'put', file, 'a.bin', '--retry-for', '20s');
    expect([code, JSON.parse(out)]).toMatchObject([0, { version: 1 }]);
  });

  it('of a folder have a key each', async () => {
    const from = join(folder.path, 'site');
    mkdirSync(from);
    for (const name of ['a', 'b', 'c']) writeFileSync(join(from, name), name);
    line.loseAnswersTo('PUT /v1/files/', OFTEN);
    const sync = ['file', 'sync', from, 'site', '--idempotency-key', 'site', '--retry-for', '20s'];
    expect(JSON.parse((await svc(...sync)).out)).toMatchObject({ sent: 3, failed: 0 });
    expect(await effects('file_put')).toBe(3);
  });
});
