import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../../cli/run.ts';
import { allCommands } from '../../../cli/tree.ts';
import { operationShapes } from '../../../cli/shapes/operations.ts';
import { hurryTime } from '../../helpers/hurried-time.ts';
import { FakeDaemon, json, refuse } from '../fake-daemon.ts';
import { TextSink } from '../fake-output.ts';

type Answer = ConstructorParameters<typeof FakeDaemon>[0];

const SET = ['kv', 'set', 'a', '1'];

let daemon: FakeDaemon | undefined;
afterEach(() => daemon?.close());

/** Answers in this order; the last one for all that come after. */
async function answering(...answers: readonly Answer[]): Promise<FakeDaemon> {
  const made = new FakeDaemon((seen, response) => {
    const answer = answers[Math.min(made.seen.length, answers.length) - 1];
    answer?.(seen, response);
  });
  daemon = made;
  await made.listen();
  return made;
}

const done: Answer = (_, response) => json(response, { version: 1 });
const lost: Answer = (_, response) => response.destroy();

/** An error of the interface, with details. */
const refusing =
  (status: number, code: string, details: Record<string, unknown> = {}): Answer =>
  (_, response) =>
    json(response, { error: { code, message: `${code}.`, hint: null, details } }, status);

function start(argv: readonly string[], fake: FakeDaemon, onTerminal = false) {
  const [stdout, stderr] = [new TextSink(), new TextSink(onTerminal, 80)];
  const abort = new AbortController();
  const { env } = fake;
  const ended = run(argv, { env, stdout, stderr, signal: abort.signal });
  return { abort, stderr, stdout, ended };
}

async function svc(argv: readonly string[], fake: FakeDaemon) {
  const { ended, stdout, stderr } = start(argv, fake);
  return { code: await ended, out: stdout.text, err: stderr.text };
}

function keysOf({ seen }: FakeDaemon): unknown[] {
  return seen.map(({ headers }) => headers['idempotency-key']);
}

/** Commands that write, but for those of one operation each. */
const OWN_COMMANDS = ['email reply', 'file sync', 'inbox park', 'policy suggest', 'api'];

describe('the flags of a write', () => {
  it('are those of every command that writes, and of no other', () => {
    const writing = operationShapes.filter(({ effect }) => effect === 'write');
    const expected = [...writing.map(({ words }) => words.join(' ')), ...OWN_COMMANDS];
    const marked = allCommands().filter(({ writes }) => writes);
    expect(marked.map(({ words }) => words.join(' ')).toSorted()).toEqual(expected.toSorted());
  });

  it.each(['soon', '60', '0s', '25h', '2d', '1.5m', '', '1 h', '5M'])(
    'refuse --retry-for=%s and name it',
    async (time) => {
      const fake = await answering(done);
      const { code, err } = await svc([...SET, `--retry-for=${time}`], fake);
      expect([code, fake.seen.length]).toEqual([2, 0]);
      expect(err).toBe(
        `USAGE: --retry-for can't be "${time}".\nUse a time up to 24h: 60s, 5m, 1h30m\n`,
      );
    },
  );

  it.each(['', 'schlüssel', 'a\nb', 'x'.repeat(256)])(
    'refuse --idempotency-key=%j and name it',
    async (key) => {
      const fake = await answering(done);
      const { code, err } = await svc([...SET, `--idempotency-key=${key}`], fake);
      expect([code, fake.seen.length]).toEqual([2, 0]);
      expect(err).toContain(
        'USAGE: --idempotency-key must be 1 to 255 printable ASCII characters.',
      );
    },
  );

  it('are refused as such by a command that reads', async () => {
    const { code, err } = await svc(
      ['kv', 'get', 'a', '--retry-for', '60s'],
      await answering(done),
    );
    expect([code, err]).toEqual([
      2,
      'USAGE: --retry-for only works with commands that write.\nSee: svc kv get --help\n',
    ]);
  });

  it('carry the key that was typed', async () => {
    const fake = await answering(done);
    await svc([...SET, '--idempotency-key', 'nightly 1'], fake);
    expect(keysOf(fake)).toEqual(['nightly 1']);
  });
});

describe('a write with --retry-for', () => {
  it.each([
    ['nobody can take', refusing(503, 'UNAVAILABLE')],
    ['a proxy finds nobody for', (_: unknown, response) => response.writeHead(502).end('<html>')],
    ['comes too often', refusing(429, 'RATE_LIMITED')],
    ['finds too many requests', refusing(429, 'TOO_MANY_PENDING_REQUESTS')],
    ['still runs', refusing(409, 'IDEMPOTENCY_IN_PROGRESS')],
    ['lost its answer', lost],
  ] satisfies [string, Answer][])('is tried again when it %s', async (_, failing) => {
    const fake = await answering(failing, failing, done);
    const { code, out } = await svc([...SET, '--retry-for', '30s'], fake);
    expect([code, out]).toEqual([0, '{"version":1}\n']);
    expect(fake.seen).toHaveLength(3);
    expect(new Set(keysOf(fake)).size).toBe(1);
  });

  it.each([
    [400, 'VALIDATION_FAILED', 2],
    [401, 'UNAUTHENTICATED', 4],
    [403, 'POLICY_DENIED', 5],
    [404, 'NOT_FOUND', 3],
    [409, 'QUOTA_EXCEEDED', 1],
    [500, 'INTERNAL', 1],
  ])('is not when it was refused: %i %s', async (status, code, exit) => {
    const fake = await answering((_, response) => refuse(response, status, code));
    expect(await svc([...SET, '--retry-for', '30s'], fake)).toMatchObject({ code: exit });
    expect(fake.seen).toHaveLength(1);
  });

  it('stays away for as long as it is told to', async () => {
    hurryTime();
    const times: number[] = [];
    const limited = refusing(429, 'RATE_LIMITED', { retry_after: 1 });
    const noting =
      (answer: Answer): Answer =>
      (seen, response) => {
        times.push(performance.now());
        answer(seen, response);
      };
    const fake = await answering(noting(limited), noting(done));
    expect(await svc([...SET, '--retry-for', '30s'], fake)).toMatchObject({ code: 0 });
    const [first = 0, second = 0] = times;
    expect(second - first).toBeGreaterThan(990);
  });

  it('ends at once when the limit holds for longer than there is time', async () => {
    const fake = await answering(refusing(429, 'RATE_LIMITED', { retry_after: 3000 }));
    const line = [...SET, '--retry-for', '60s', '--idempotency-key', "ana's"];
    const { code, err } = await svc(line, fake);
    expect([code, fake.seen.length]).toEqual([1, 1]);
    expect(err).toContain(`To repeat it safely, add: --idempotency-key='ana'\\''s'\n`);
  });

  it('ends with 7 when its time is over, and names the key', async () => {
    const gateway = 'https://svc.example.com';
    const fake = await answering(refusing(503, 'UNAVAILABLE', { gateway, retry_after: 5 }));
    const { code, out, err } = await svc([...SET, '--retry-for', '1s'], fake);
    expect([code, out]).toEqual([7, '']);
    const [key] = keysOf(fake);
    expect(err.split('\n')).toEqual([
      "The gateway can't be reached; trying again for 1 s …",
      'UNAVAILABLE: UNAVAILABLE.',
      `  gateway: ${gateway}`,
      '  retry_after: 5',
      `To repeat it safely, add: --idempotency-key=${String(key)}`,
      '',
    ]);
    expect(fake.seen).toHaveLength(2);
  });

  it('tells the key in the JSON of an error as well', async () => {
    const fake = await answering(refusing(503, 'UNAVAILABLE'));
    const { err } = await svc([...SET, '--retry-for', '1s', '--json', '--quiet'], fake);
    expect(JSON.parse(err)).toMatchObject({
      error: {
        code: 'UNAVAILABLE',
        hint: `To repeat it safely, add: --idempotency-key=${String(keysOf(fake)[0])}`,
      },
    });
  });

  it('says on a terminal how long it goes on', async () => {
    hurryTime();
    const fake = await answering(refusing(503, 'UNAVAILABLE', { retry_after: 1 }), done);
    const { ended, stderr } = start([...SET, '--retry-for', '5m'], fake, true);
    expect(await ended).toBe(0);
    expect(stderr.text).toContain('UNAVAILABLE; trying again for 5 min …');
  });

  it('sits out a daemon that is not there yet', async () => {
    hurryTime();
    const fake = new FakeDaemon(done);
    daemon = fake;
    const { ended, stderr } = start([...SET, '--retry-for', '30s'], fake);
    await expect.poll(() => stderr.text).toContain("The daemon can't be reached; trying again");
    await fake.listen();
    expect(await ended).toBe(0);
  });

  it.each([
    [...SET, '--retry-for', '1h'],
    ['inbox', 'work', '--exec', 'cat'],
    ['inbox', 'wait'],
  ])('does not try a certificate again that it does not trust: %s %s', async (...argv) => {
    const fake = new FakeDaemon(done);
    daemon = fake;
    await fake.listen(0);
    Object.assign(fake.env, { SVC_GATEWAY: `https://127.0.0.1:${fake.port}`, SVC_API_KEY: 'a' });
    const { code, err } = await svc(argv, fake);
    expect(code).toBe(7);
    expect(err).toContain("Can't make a secure connection");
    expect(err).toContain('NODE_EXTRA_CA_CERTS=FILE');
  });
});

describe('Ctrl-C', () => {
  it('ends a pause at once with 130, and names the key', async () => {
    const fake = await answering(refusing(503, 'UNAVAILABLE', { retry_after: 60 }));
    const { abort, ended, stderr } = start([...SET, '--retry-for', '1h'], fake);
    await expect.poll(() => stderr.text).toContain('trying again');
    abort.abort();
    expect(await ended).toBe(130);
    const key = String(keysOf(fake)[0]);
    expect(stderr.text).toContain(
      `\nNothing changed. To repeat it safely, add: --idempotency-key=${key}\n`,
    );
  });

  it('says of a question that asked nobody that nothing was done', async () => {
    const fake = new FakeDaemon(done);
    daemon = fake;
    const { abort, ended, stderr } = start(['ask', 'human', 'Who?', '--retry-for', '1h'], fake);
    await expect.poll(() => stderr.text).toContain('trying again');
    abort.abort();
    expect(await ended).toBe(130);
    expect(stderr.text).toMatch(
      /^The daemon can't be reached; trying again for 60 min …\nNothing changed\. To repeat it safely, add: --idempotency-key=\S+\n$/,
    );
  });

  it('says of a write without an answer that it may have been done', async () => {
    const fake = await answering(() => undefined);
    const { abort, ended, stderr } = start(SET, fake);
    await expect.poll(() => fake.seen.length).toBe(1);
    abort.abort();
    expect(await ended).toBe(130);
    const key = String(keysOf(fake)[0]);
    expect(stderr.text).toBe(
      `It may have worked. To repeat it safely, add: --idempotency-key=${key}\n`,
    );
  });
});

describe('a write that fails without --retry-for', () => {
  it('is tried no more, and names the key where it may have been done', async () => {
    const fake = await answering(lost);
    const { code, err } = await svc(SET, fake);
    expect([code, fake.seen.length]).toEqual([7, 2]);
    expect(err).toBe(
      `UNREACHABLE: The connection broke (ECONNRESET).\nTo repeat it safely, add: --idempotency-key=${String(keysOf(fake)[0])}\n`,
    );
  });

  it('is told in the words of the command line what it is to repeat', async () => {
    const hint = 'It may have worked: repeat it with the same idempotency key.';
    const error = { code: 'UNAVAILABLE', message: 'No.', hint };
    const fake = await answering((_, response) => json(response, { error }, 503));
    const { err } = await svc(SET, fake);
    expect(err).toBe(
      `UNAVAILABLE: No.\nIt may have worked. To repeat it safely, add:\n--idempotency-key=${String(keysOf(fake)[0])}\n`,
    );
  });

  it('names none where nothing was sent', async () => {
    const fake = new FakeDaemon(done);
    daemon = fake;
    const { code, err } = await svc(SET, fake);
    expect([code, err]).toEqual([
      7,
      "UNREACHABLE: The daemon isn't running. Start it with: svc up\n",
    ]);
  });
});

describe('svc api', () => {
  const POST = ['api', 'POST', '/v1/inbox/ack', '--body', '{}', '--retry-for'];

  it('tries again by the status alone, and prints the answer', async () => {
    hurryTime();
    const running = refusing(409, 'IDEMPOTENCY_IN_PROGRESS');
    const busy: Answer = (seen, response) => {
      response.setHeader('retry-after', '1');
      running(seen, response);
    };
    const fake = await answering(refusing(503, 'UNAVAILABLE'), busy, done);
    expect(await svc([...POST, '30s'], fake)).toMatchObject({ code: 0, out: '{"version":1}' });
    expect(new Set(keysOf(fake)).size).toBe(1);
  });

  it('prints the last answer when its time is over, and names the key', async () => {
    const fake = await answering(refusing(503, 'UNAVAILABLE'));
    const { code, out, err } = await svc([...POST, '1s'], fake);
    expect([code, JSON.parse(out)]).toMatchObject([7, { error: { code: 'UNAVAILABLE' } }]);
    expect(err).toContain(
      `HTTP 503\nTo repeat it safely, add: --idempotency-key=${String(keysOf(fake)[0])}\n`,
    );
  });

  it('names the key that was given as a header, which no flag may contradict', async () => {
    const fake = await answering(refusing(503, 'UNAVAILABLE'));
    const named = [...POST, '1s', '-H', 'Idempotency-Key: mine'];
    expect((await svc(named, fake)).err).toContain(
      'To repeat it safely, add: --idempotency-key=mine\n',
    );
    expect(new Set(keysOf(fake))).toEqual(new Set(['mine']));
    const both = await svc([...named, '--idempotency-key', 'other'], fake);
    expect([both.code, both.err]).toEqual([
      2,
      'USAGE: --idempotency-key and --header both name a key.\n',
    ]);
  });

  it.each([500, 302])(
    'takes %i from svc itself as its answer, and tries no more',
    async (status) => {
      const fake = await answering((_seen, response) => {
        response.writeHead(status, { 'x-service-version': '0.1.0' });
        response.end();
      });
      await svc([...POST, '1h'], fake);
      expect(fake.seen).toHaveLength(1);
    },
  );

  it('does not try a conflict again', async () => {
    const fake = await answering(refusing(409, 'EVENT_NOT_CLAIMABLE'));
    expect(await svc([...POST, '30s'], fake)).toMatchObject({ code: 1 });
    expect(fake.seen).toHaveLength(1);
  });
});
