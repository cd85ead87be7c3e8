import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HttpClient } from '../../../cli/call/client.ts';
import type { Answer as CliAnswer } from '../../../cli/call/answers.ts';
import { CliError } from '../../../cli/errors.ts';
import type { OperationCall } from '../../../cli/call/operation-command.ts';
import { reconnectingAnswer } from '../../../cli/work/reconnecting-call.ts';
import { isObject } from '../../../shared/lib/guards.ts';
import { FakeDaemon, json, refuse, type Seen } from '../fake-daemon.ts';
import { answer } from '../approvals/fake-people.ts';
import { hurryTime } from '../../helpers/hurried-time.ts';

beforeEach(() => hurryTime(10));

type Answer = ConstructorParameters<typeof FakeDaemon>[0];

const APPROVED = answer({ status: 'approved' });
/** Seconds: more than anything here takes on a busy machine, though they pass ten times as fast. */
const PATIENT = 1000;

let daemon: FakeDaemon;
let answers: Answer[];
let away: number;

beforeEach(async () => {
  answers = [];
  away = 0;
  daemon = new FakeDaemon((seen, response) => {
    const [first] = answers;
    if (answers.length > 1) answers.shift();
    first?.(seen, response);
  });
  await daemon.listen();
});
afterEach(() => daemon.close());

function requestOf(seconds: number): OperationCall<'ask_approval'> {
  return {
    method: 'POST',
    path: '/v1/requests',
    options: { body: { action: 'deploy', wait_seconds: seconds }, timeoutMs: PATIENT * 1000 },
    seconds,
    input: { action: 'deploy', summary: 'Deploy' },
    isTimed: true,
    again: requestOf,
  };
}

function ask(
  seconds: number,
  signal = new AbortController().signal,
  isPatient = false,
  known?: unknown,
): Promise<unknown> {
  return reconnectingAnswer<'ask_approval'>({
    client: new HttpClient({ home: daemon.home, env: {}, warn: () => undefined }),
    idempotencyKey: 'the one of all tries',
    request: requestOf(seconds),
    ...(isObject(known) && { known: known as unknown as CliAnswer<'ask_approval'> }),
    isPatient,
    signal,
    isPending: ({ status }) => status === 'pending',
    onAway: () => {
      away += 1;
    },
  });
}

const approved: Answer = (_, response) => json(response, APPROVED);
const cutShort: Answer = (_, response) => json(response, answer());
const lost: Answer = (_, response) => response.destroy();
const held: Answer = () => undefined;

/** The end of the answer is missing, and nothing says so. */
const cutInside: Answer = (_, response) => {
  const whole = JSON.stringify(answer({ status: 'approved' }));
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(whole.slice(0, whole.length / 2));
};

const empty: Answer = (_, response) => response.writeHead(200).end();

const page =
  (status: number): Answer =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'text/html', server: 'nginx' });
    response.end('<html><body>Gateway Time-out</body></html>');
  };

function keysOf(seen: readonly Seen[]): Set<unknown> {
  return new Set(seen.map(({ headers }) => headers['idempotency-key']));
}

describe('a call that waits for a person', () => {
  it('is made once where it is answered', async () => {
    answers = [approved];
    expect(await ask(PATIENT)).toEqual(APPROVED);
    expect(daemon.seen).toHaveLength(1);
  });

  it('is repeated as the same call when its answer came before its time', async () => {
    answers = [cutShort, approved];
    expect(await ask(PATIENT)).toEqual(APPROVED);
    expect(keysOf(daemon.seen).size).toBe(1);
    expect(away).toBe(0);
  });

  it('is repeated as the same call when its answer was lost, however often', async () => {
    answers = [lost, lost, lost, lost, approved];
    expect(await ask(PATIENT)).toEqual(APPROVED);
    expect(daemon.seen.length).toBeGreaterThan(3);
    expect(keysOf(daemon.seen).size).toBe(1);
    expect(away).toBe(1);
  });

  it('goes on where the request is known, though nobody answers at first', async () => {
    daemon.close();
    daemon = new FakeDaemon((_, response) => json(response, APPROVED));
    const { signal } = new AbortController();
    const asked = ask(PATIENT, signal, true, answer());
    await expect.poll(() => away, { timeout: 60_000 }).toBe(1);
    await daemon.listen();
    expect(await asked).toEqual(APPROVED);
  });

  it('sits out who is busy with it, or starting', async () => {
    answers = [
      cutShort,
      (_, response) => refuse(response, 409, 'IDEMPOTENCY_IN_PROGRESS'),
      (_, response) => refuse(response, 503, 'UNAVAILABLE'),
      approved,
    ];
    expect(await ask(PATIENT)).toEqual(APPROVED);
    expect(away).toBe(1);
  });

  it('answers at the end of its time what it knows, though the repeat is still held', async () => {
    answers = [cutShort, held];
    const started = performance.now();
    expect(await ask(2)).toEqual(answer());
    expect(performance.now() - started).toBeGreaterThan(1400);
  });

  it('answers what it knows when nobody comes back', async () => {
    answers = [
      (seen, response) => {
        cutShort(seen, response);
        daemon.close();
      },
    ];
    expect(await ask(2)).toEqual(answer());
    // On a machine that's busy, the time may be over before it's asked again.
    expect(away).toBeLessThanOrEqual(1);
  });

  it('ends at its time, after one last try, when no answer ever comes', async () => {
    answers = [lost];
    await expect(ask(2)).rejects.toBeInstanceOf(CliError);
    const waits = daemon.seen.map(({ body }) => Number(JSON.parse(body).wait_seconds));
    // The client itself repeats a call once whose connection broke.
    expect(waits.filter((seconds) => seconds === 0).length).toBeLessThanOrEqual(2);
  });

  it.each([0, 1])('with %i s answers what there is at their end', async (seconds) => {
    answers = [cutShort, held];
    expect(await ask(seconds)).toEqual(answer());
  });

  it('goes on through what a proxy answers in place of the gateway, for the rest of its time', async () => {
    const numbers = [504, 502, 503, 524, 500, 408, 302, 200];
    answers = [...numbers.map(page), cutInside, empty, approved];
    expect(await ask(PATIENT)).toEqual(APPROVED);
    expect(keysOf(daemon.seen).size).toBe(1);
    const waited = daemon.seen.map(({ body }) => Number(JSON.parse(body).wait_seconds));
    expect(waited).toEqual(waited.toSorted((one, other) => other - one));
    expect(waited.at(-1)).toBeLessThan(PATIENT);
    expect(away).toBe(1);
  });

  it('goes on if a network wants its own page to be read after the call was held, and not before', async () => {
    answers = [(seen, response) => setTimeout(() => page(302)(seen, response), 2_000), approved];
    expect(await ask(PATIENT)).toEqual(APPROVED);
    answers = [page(302), approved];
    await expect(ask(PATIENT)).rejects.toMatchObject({ code: 'HTTP_302' });
  });

  it('asks for what there is when its time was used up by cuts, and learns the id', async () => {
    answers = [
      (_, response) => setTimeout(() => response.destroy(), 150),
      (seen, response) => {
        if (JSON.parse(seen.body).wait_seconds === 0) json(response, answer());
        else response.destroy();
      },
    ];
    expect(await ask(2)).toEqual(answer());
  });

  it('goes on after its time until the request is known, if the decision is waited for', async () => {
    answers = [lost];
    const asking = ask(1, undefined, true);
    // Many more tries than fit in its time.
    await expect.poll(() => daemon.seen.length, { timeout: 120_000 }).toBeGreaterThan(10);
    answers = [cutShort];
    expect(await asking).toEqual(answer());
  });

  it('that was refused is not repeated', async () => {
    answers = [(_, response) => refuse(response, 503, 'UNAVAILABLE')];
    await expect(ask(PATIENT)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(daemon.seen).toHaveLength(1);
  });

  it.each([
    ['TOO_MANY_PENDING_REQUESTS', 429],
    ['KEY_REVOKED', 401],
  ])('is given up when a repeat is refused: %s', async (code, status) => {
    answers = [lost, lost, (_, response) => refuse(response, status, code)];
    await expect(ask(PATIENT)).rejects.toMatchObject({ code });
  });

  it('that never left is not repeated', async () => {
    daemon.close();
    const failed = await ask(PATIENT).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(CliError);
    expect(failed).toMatchObject({ sent: false });
    expect(away).toBe(0);
  });

  it('ends at once when it is interrupted, also between two tries', async () => {
    answers = [cutShort, lost];
    const abort = new AbortController();
    const ended = ask(PATIENT, abort.signal).catch(String);
    await expect.poll(() => daemon.seen.length, { interval: 5 }).toBeGreaterThan(1);
    abort.abort();
    expect(await ended).toContain('Interrupted');
  });
});
