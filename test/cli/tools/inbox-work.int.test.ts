import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run, work } from '../../../cli/commands/inbox/work.ts';
import { hurryTime } from '../../helpers/hurried-time.ts';
import {
  event,
  fakeContext,
  fakeInbox,
  fieldsOf,
  parsedLine,
  refusal,
  type FakeClient,
} from './fakes.ts';
import { workerOf } from './worker.ts';

const ACK = 'POST /v1/inbox/ack';
const NACK = 'POST /v1/inbox/nack';

let folder: string;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-work-'));
  env = { ...process.env, FOLDER: folder };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Lets the commands go on that wait for this name. */
const mark = (name: string): void => writeFileSync(join(folder, name), '');

/** Waits until a command has made this name. */
async function isMarked(name: string): Promise<void> {
  await expect.poll(() => existsSync(join(folder, name))).toBe(true);
}

const workOf = (client: FakeClient, command: string, given: Parameters<typeof workerOf>[2] = {}) =>
  workerOf(client, command, { env, ...given });

async function outcomeOf(command: string) {
  const client = fakeInbox([event('evt_1')]);
  const { options, finished } = workOf(client, command);
  await work(options);
  return { client, finished: finished[0] };
}

describe('how a command ends', () => {
  it('acks with JSON from standard output', async () => {
    const { client, finished } = await outcomeOf('jq_is_not_needed=1; echo \'{"ticket": 42}\'');
    expect(client.bodies(ACK)).toEqual([
      { event_id: 'evt_1', lease_id: 'lse_evt_1', result: { ticket: 42 } },
    ]);
    expect(finished).toMatchObject({ outcome: 'acked', exit_code: 0, signal: null });
  });

  it('acks with text that is no JSON', async () => {
    const { client } = await outcomeOf('echo all good');
    expect(client.bodies(ACK)[0]?.['result']).toEqual({ text: 'all good' });
  });

  it('acks without a result when nothing was printed', async () => {
    const { client } = await outcomeOf('cat > /dev/null');
    expect(client.bodies(ACK)).toEqual([{ event_id: 'evt_1', lease_id: 'lse_evt_1' }]);
  });

  it('cuts long output to what an ack may carry, and never hangs on it', async () => {
    const { client } = await outcomeOf(`head -c 300000 /dev/zero | tr '\\0' '"'`);
    const result = client.bodies(ACK)[0]?.['result'];
    const size = Buffer.byteLength(JSON.stringify(result));
    expect(size).toBeLessThanOrEqual(4096);
    expect(size).toBeGreaterThan(3000);
  });

  it('gives back on exit 75', async () => {
    const { client, finished } = await outcomeOf('exit 75');
    expect(client.bodies(NACK)[0]).toMatchObject({ retry: true });
    expect(finished).toMatchObject({ outcome: 'retry', exit_code: 75, attempts: 1 });
  });

  it('gives up on exit 65', async () => {
    const { client, finished } = await outcomeOf('echo bad data >&2; exit 65');
    expect(client.bodies(NACK)[0]).toMatchObject({ retry: false, reason: 'exit 65: bad data' });
    expect(finished).toMatchObject({ outcome: 'dead' });
  });

  it('gives back with the end of standard error on any other exit', async () => {
    const { client } = await outcomeOf('seq 1 5000 >&2; echo the cause >&2; exit 3');
    const reason = String(client.bodies(NACK)[0]?.['reason']);
    expect(reason).toMatch(/^exit 3: /);
    expect(reason).toMatch(/the cause$/);
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(1024);
  });

  it('gives back when a signal ends it', async () => {
    const { client, finished } = await outcomeOf('kill -9 $$');
    expect(client.bodies(NACK)[0]).toMatchObject({ retry: true, reason: 'ended by SIGKILL' });
    expect(finished).toMatchObject({ exit_code: null, signal: 'SIGKILL' });
  });

  it('does not wait for what the command left running', async () => {
    // It's left running until the test is over and its folder gone.
    const { finished } = await outcomeOf('while [ -d $FOLDER ]; do sleep 0.05; done & echo done');
    expect(finished).toMatchObject({ outcome: 'acked' });
  });
});

describe('what a command gets', () => {
  it('is the whole event on standard input and its names in the environment', async () => {
    const client = fakeInbox([event('evt_1', { payload: { text: 'ünï' } })]);
    const command = `printf '{"env":"%s %s %s %s","event":%s}' $SVC_EVENT_ID $SVC_EVENT_TYPE $SVC_EVENT_SOURCE $SVC_LEASE_ID "$(cat)"`;
    await work(workOf(client, command).options);
    expect(client.bodies(ACK)[0]?.['result']).toMatchObject({
      env: 'evt_1 push github lse_evt_1',
      event: { id: 'evt_1', payload: { text: 'ünï' }, lease_id: 'lse_evt_1' },
    });
  });

  it('may ignore a large event', async () => {
    const client = fakeInbox([event('evt_1', { payload: 'x'.repeat(3_000_000) })]);
    const { options, finished } = workOf(client, 'exit 0');
    await work(options);
    expect(finished[0]).toMatchObject({ outcome: 'acked' });
  });
});

describe('the queue', () => {
  it('is worked side by side, each event once', async () => {
    const ids = Array.from({ length: 6 }, (_, index) => `evt_${index}`);
    const client = fakeInbox(ids.map((id) => event(id)));
    // The first waits until the third has begun: for ever, if that came only after it.
    const command = 'cd $FOLDER; : > $SVC_EVENT_ID; until [ -e evt_2 ]; do sleep 0.05; done';
    const { options, finished } = workOf(client, command, { concurrency: 3 });
    await work(options);
    expect(finished.map(({ event_id }) => event_id).toSorted()).toEqual(ids);
    expect(client.bodies('POST /v1/inbox/claim')).toHaveLength(6);
  });

  it('goes on when another worker was faster', async () => {
    let offered = 0;
    const client = fakeInbox([], {
      'GET /v1/inbox/wait': () => ({ event: ++offered <= 4 ? event('evt_1') : null }),
    });
    const { options, finished } = workOf(client, 'exit 0');
    const started = performance.now();
    await work(options);
    expect(finished).toEqual([]);
    // The pauses grow: a copy that lags is not asked in a tight loop.
    expect(performance.now() - started).toBeGreaterThan(200);
  });

  it('survives trouble on waits, claims and acks', async () => {
    const failing = { wait: 1, claim: 1, ack: 1 };
    const healthy = fakeInbox([event('evt_1')]);
    const shaky = (route: string, name: keyof typeof failing) => async (options: object) => {
      if (failing[name]-- > 0) throw refusal('UNAVAILABLE');
      const [method = '', path = ''] = route.split(' ');
      return healthy.send(method, path, options);
    };
    const client = fakeInbox([], {
      'GET /v1/inbox/wait': shaky('GET /v1/inbox/wait', 'wait'),
      'POST /v1/inbox/claim': shaky('POST /v1/inbox/claim', 'claim'),
      [ACK]: shaky(ACK, 'ack'),
    });
    const { options, finished, notes } = workOf(client, 'exit 0');
    await work(options);
    expect(finished).toMatchObject([{ outcome: 'acked' }]);
    expect(notes.join('\n')).toContain('Connected again.');
    const keys = client.calls
      .filter(({ route }) => route === 'POST /v1/inbox/claim')
      .map(({ options: { headers } }) => headers?.['Idempotency-Key']);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1]);
  });

  it('sits out an outage that begins with a claim, however long it is', async () => {
    hurryTime();
    const inbox = fakeInbox([event('evt_1')]);
    let failures = 7;
    const client = fakeInbox([], {
      'GET /v1/inbox/wait': (options) => inbox.send('GET', '/v1/inbox/wait', options),
      'POST /v1/inbox/claim': (options) => {
        if (failures-- > 0) throw refusal('UNAVAILABLE');
        return inbox.send('POST', '/v1/inbox/claim', options);
      },
    });
    const { options, finished, notes } = workOf(client, 'exit 0');
    await work(options);
    expect(finished).toMatchObject([{ outcome: 'acked' }]);
    expect(notes).toContain("The service can't take this right now. Trying again.");
  });

  it('stops at an answer that no repeat can change', async () => {
    const client = fakeInbox([], {
      'GET /v1/inbox/wait': () => {
        throw refusal('SCOPE_MISSING');
      },
    });
    await expect(work(workOf(client, 'exit 0').options)).rejects.toMatchObject({
      code: 'SCOPE_MISSING',
    });
  });

  it('reports a lease that was lost and goes on', async () => {
    const client = fakeInbox([event('evt_1'), event('evt_2')], {
      [ACK]: ({ body }) => {
        if (fieldsOf(body)['event_id'] === 'evt_1') throw refusal('LEASE_EXPIRED');
        return {};
      },
    });
    const { options, finished } = workOf(client, 'exit 0');
    await work(options);
    expect(finished.map(({ outcome }) => outcome)).toEqual(['lost', 'acked']);
  });

  it('extends the lease while the command runs', async () => {
    let extended = 0;
    const client = fakeInbox([event('evt_1')], {
      'POST /v1/inbox/extend': () => {
        extended += 1;
        if (extended === 2) mark('twice');
        return {};
      },
    });
    const command = 'until [ -e $FOLDER/twice ]; do sleep 0.05; done';
    await work(workOf(client, command, { leaseSeconds: 9 }).options);
    expect(client.bodies('POST /v1/inbox/extend').length).toBeGreaterThanOrEqual(2);
  });
});

/** Kills a worker while its command runs. */
async function killed(client: FakeClient) {
  const stop = new AbortController();
  const kill = new AbortController();
  const { options, finished } = workOf(client, `: > $FOLDER/begun; exec sleep 600`, {
    signal: stop.signal,
    kill: kill.signal,
  });
  const ended = work(options);
  await isMarked('begun');
  stop.abort();
  kill.abort();
  await ended;
  return finished[0];
}

describe('interrupts', () => {
  it('lets running commands end', async () => {
    const stop = new AbortController();
    const client = fakeInbox([event('evt_1'), event('evt_2')]);
    const command = ': > $FOLDER/begun; until [ -e $FOLDER/told ]; do sleep 0.05; done';
    const { options, finished } = workOf(client, command, { signal: stop.signal, drain: false });
    const ended = work(options);
    await isMarked('begun');
    stop.abort();
    mark('told');
    await ended;
    expect(finished).toMatchObject([{ event_id: 'evt_1', outcome: 'acked' }]);
  });

  it('kills them and gives them back the second time, which is no failure', async () => {
    const client = fakeInbox([event('evt_1')], {
      [NACK]: () => ({ status: 'pending', attempts: 0, retry_at: null }),
    });
    expect(await killed(client)).toMatchObject({ outcome: 'returned', attempts: 0 });
    expect(client.bodies(NACK)).toEqual([
      expect.objectContaining({ until: ['now'], reason: 'The worker was stopped.' }),
    ]);
  });

  it('gives them back as before where the gateway knows no `until`', async () => {
    const client = fakeInbox([event('evt_1')], {
      [NACK]: ({ body }) => {
        if ('until' in fieldsOf(body)) throw refusal('VALIDATION_FAILED');
        return { status: 'failed', attempts: 1, retry_at: '2026-01-01T00:00:30.000Z' };
      },
    });
    expect(await killed(client)).toMatchObject({ outcome: 'retry' });
    expect(client.bodies(NACK)[1]).toMatchObject({ retry: true });
    expect(client.bodies(NACK)[1]).not.toHaveProperty('until');
  });
});

describe('svc inbox work', () => {
  it('wants a command that exists', async () => {
    const missing = fakeContext({});
    await expect(run(missing.context)).rejects.toMatchObject({ exit: 2 });
    const misspelled = fakeContext({ options: { exec: './no-such-program --x' } });
    await expect(run(misspelled.context)).rejects.toMatchObject({ exit: 2 });
  });

  it('ends after one event with --once and tells whether it failed', async () => {
    const client = fakeInbox([event('evt_1'), event('evt_2')]);
    const { context, printed } = fakeContext({ client, options: { exec: 'exit 4', once: true } });
    expect(await run(context)).toBe(1);
    expect(printed.lines.map(parsedLine)).toMatchObject([
      { event_id: 'evt_1', outcome: 'retry', exit_code: 4, result: null },
    ]);
  });

  it('writes one line of JSON for each event, with the result', async () => {
    const client = fakeInbox([event('evt_1'), event('evt_2')]);
    const exec = `echo "{\\"of\\": \\"$SVC_EVENT_ID\\"}"; echo aside >&2`;
    const { context, printed } = fakeContext({ client, options: { exec, drain: true } });
    expect(await run(context)).toBe(0);
    expect(printed.lines.map(parsedLine)).toMatchObject([
      { event_id: 'evt_1', outcome: 'acked', exit_code: 0, result: { of: 'evt_1' } },
      { event_id: 'evt_2', outcome: 'acked', exit_code: 0, result: { of: 'evt_2' } },
    ]);
    expect(printed.notes).toEqual(['aside', 'aside']);
  });
});

/** What a terminal shows, without the times. */
async function shown(exec: string, more: Parameters<typeof fakeContext>[0] = {}) {
  const client = fakeInbox([event('evt_1'), event('evt_2')]);
  const { context, printed } = fakeContext({
    client,
    env,
    json: false,
    ...more,
    options: { exec, ...more.options },
  });
  await run(context);
  return {
    notes: printed.notes,
    lines: printed.lines.map((line) =>
      line.replace(/^\d\d:\d\d:\d\d/, 'TIME').replace(/\d+ ms$/, 'N ms'),
    ),
  };
}

describe('on a terminal', () => {
  it('shows what a command prints below its event, and how it ended', async () => {
    const { lines, notes } = await shown(
      'printf "one\\n\\ntwo"; echo aside >&2; [ $SVC_EVENT_ID = evt_1 ]',
      { options: { drain: true } },
    );
    expect(lines).toEqual([
      'TIME  evt_1  push',
      '  one',
      '',
      '  two',
      'TIME  evt_1  push  done  N ms',
      'TIME  evt_2  push',
      '  one',
      '',
      '  two',
      'TIME  evt_2  push  failed (exit 1), will be retried  N ms',
    ]);
    expect(notes).toEqual(['aside', 'aside']);
  });

  it.each([
    ['exit 0', 'done'],
    ['exit 65', 'dead (exit 65)'],
    ['kill -9 $$', 'failed (SIGKILL), will be retried'],
  ])('shows one line for a command that prints nothing: %s', async (exec, outcome) => {
    const { lines } = await shown(exec, { options: { once: true } });
    expect(lines).toEqual([`TIME  evt_1  push  ${outcome}  N ms`]);
  });

  it('shows more than an ack carries, and shows it as it comes', async () => {
    const { lines } = await shown(
      'echo first; until [ -e $FOLDER/first ]; do sleep 0.05; done; seq 1 3000',
      {
        options: { once: true },
        // The command goes on only then.
        onLine: (line) => {
          if (line === '  first') mark('first');
        },
      },
    );
    expect(lines).toHaveLength(3003);
    expect(lines.at(-2)).toBe('  3000');
  });

  it('names the event again where commands that run side by side take turns', async () => {
    let count = 0;
    const onLine = (): void => mark(String((count += 1)));
    // Each waits for the line before its own.
    const { lines } = await shown(
      `after() { until [ -e $FOLDER/$1 ]; do sleep 0.05; done; }
      if [ $SVC_EVENT_ID = evt_1 ]; then echo a; after 4; else after 2; echo a; after 7; fi; echo b`,
      { options: { max: '2', concurrency: '2' }, onLine },
    );
    expect(lines).toEqual([
      'TIME  evt_1  push',
      '  a',
      'TIME  evt_2  push',
      '  a',
      'TIME  evt_1  push',
      '  b',
      'TIME  evt_1  push  done  N ms',
      'TIME  evt_2  push',
      '  b',
      'TIME  evt_2  push  done  N ms',
    ]);
  });
});
