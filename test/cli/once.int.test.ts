import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { temporaryFolder, TestGateway } from '../helpers/gateway.ts';
import { LossyProxy } from '../helpers/lossy-proxy.ts';
import { TextSink } from './fake-output.ts';
import { fieldsOf } from './tools/fakes.ts';

const EVENT = 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3';

let gateway: TestGateway;
let folder: ReturnType<typeof temporaryFolder>;
let runs: string;
beforeEach(async () => {
  gateway = await TestGateway.start();
  folder = temporaryFolder();
  runs = join(folder.path, 'runs');
  writeFileSync(runs, '');
});
afterEach(async () => {
  await gateway.stop();
  folder.remove();
});

interface How {
  readonly event?: string;
  readonly url?: string;
}

/** Runs `svc once`; a shell script is its command, and leaves a mark for each run. */
async function once(flags: readonly string[], script: string, { event = EVENT, url }: How = {}) {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const env = {
    PATH: process.env['PATH'],
    RUNS: runs,
    SVC_HOME: folder.path,
    SVC_GATEWAY: url ?? gateway.url,
    SVC_API_KEY: gateway.apiKey,
    SVC_EVENT_ID: event,
  };
  const { signal } = new AbortController();
  const command = ['sh', '-c', `printf x >> "$RUNS"; ${script}`];
  const code = await run(['once', ...flags, '--', ...command], { env, stdout, stderr, signal });
  return { code, out: stdout.text, err: stderr.text };
}

const count = () => readFileSync(runs, 'utf8').length;

async function stored(key: string) {
  const { body } = await gateway.call('GET', `/v1/kv/${encodeURIComponent(key)}`);
  return fieldsOf(body);
}

describe('svc once', () => {
  it('runs a step once per event and prints the same again', async () => {
    const script = 'date +%s%N; printf "a\\nb"';
    const first = await once(['review'], script);
    expect(first).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/^\d+\na\nb$/) });
    expect(await once(['review'], script)).toEqual(first);
    expect(count()).toBe(1);
    await once(['label'], script);
    await once(['review'], script, { event: EVENT.replace('3k', '4k') });
    expect(count()).toBe(3);
    expect(await stored(`once/${EVENT}/review`)).toMatchObject({
      value: { text: first.out },
      expires_at: expect.any(String),
    });
  });

  it('keeps bytes that are no text, and nothing at all', async () => {
    expect((await once(['empty'], ':')).out).toBe('');
    expect((await once(['empty'], 'echo no')).out).toBe('');
    await once(['bytes'], `printf '\\377\\376'`);
    expect(await stored(`once/${EVENT}/bytes`)).toMatchObject({ value: { base64: '//4=' } });
  });

  it('keeps nothing of a command that failed, and passes its exit code on', async () => {
    expect(await once(['pay'], 'echo half; exit 6')).toMatchObject({ code: 6, out: 'half\n' });
    expect(await once(['pay'], 'kill -9 $$')).toMatchObject({ code: 137 });
    expect(await once(['pay'], 'echo paid')).toMatchObject({ code: 0, out: 'paid\n' });
    expect(await once(['pay'], 'echo twice')).toMatchObject({ code: 0, out: 'paid\n' });
    expect(count()).toBe(3);
  });

  it('refuses more than 64 KB and keeps nothing', async () => {
    const most = await once(['large'], 'head -c 65537 /dev/zero');
    expect(most).toMatchObject({ code: 1, out: '', err: expect.stringContaining('64 KB') });
    expect((await once(['large'], 'head -c 65536 /dev/zero')).out).toHaveLength(65_536);
    expect((await once(['large'], 'echo no')).out).toHaveLength(65_536);
  });

  it('lets one of two that run at once count: both print its output', async () => {
    const script = 'echo $$; until [ "$(cat "$RUNS")" = xx ]; do sleep 0.02; done';
    const [one, other] = await Promise.all([once(['race'], script), once(['race'], script)]);
    expect(count()).toBe(2);
    expect(one).toMatchObject({ code: 0 });
    expect(other).toEqual(one);
  });

  it('has a key for use without an event', async () => {
    const flags = ['report', '--key', '2026-01-02'];
    const first = await once(flags, 'echo 1', { event: '' });
    expect(await once(flags, 'echo 2', { event: '' })).toEqual(first);
    expect(await stored('once/2026-01-02/report')).toMatchObject({ value: { text: '1\n' } });
    expect(await once(['report'], 'echo 3', { event: '' })).toMatchObject({ code: 2 });
    expect(await once([...flags, '--event', EVENT], 'echo 3')).toMatchObject({ code: 2 });
    expect(await once(['a/b'], 'echo 3')).toMatchObject({ code: 2 });
    expect(count()).toBe(1);
  });

  it('runs nothing while nobody can say whether it ran before', async () => {
    const line = await LossyProxy.open(gateway.url);
    await line.down();
    expect(await once(['step'], 'echo', { url: line.url })).toMatchObject({ code: 7 });
    expect(count()).toBe(0);
  });

  it('sits out an outage between the end of the command and the store', async () => {
    const line = await LossyProxy.open(gateway.url);
    line.loseAnswersTo('PUT /v1/kv', 4);
    const { code, out } = await once(['step'], 'echo done', { url: line.url });
    expect([code, out]).toEqual([0, 'done\n']);
    expect(await once(['step'], 'echo again')).toMatchObject({ code: 0, out: 'done\n' });
    await line.down();
  });

  it('says that a program is not there, and that the command is missing', async () => {
    const [stdout, stderr] = [new TextSink(), new TextSink()];
    const env = { SVC_HOME: folder.path, SVC_GATEWAY: gateway.url, SVC_API_KEY: gateway.apiKey };
    const { signal } = new AbortController();
    const around = { env, stdout, stderr, signal };
    const flags = ['once', 'step', '--key', 'k'];
    expect(await run([...flags, '--', './no-such-program'], around)).toBe(2);
    expect(stderr.text).toContain(`svc can't run "./no-such-program" (ENOENT).`);
    expect(await run(flags, around)).toBe(2);
  });
});
