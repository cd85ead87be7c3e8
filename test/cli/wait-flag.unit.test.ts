import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { allCommands } from '../../cli/tree.ts';
import { FakeDaemon, json, refuse } from './fake-daemon.ts';
import { TextSink } from './fake-output.ts';

const ASK = 'ask approval deploy Deploy';

let daemon: FakeDaemon | undefined;
afterEach(() => daemon?.close());

async function svc(line: string, answer: (call: number) => unknown = () => ({ event: null })) {
  daemon?.close();
  let calls = 0;
  daemon = new FakeDaemon((_, response) => {
    calls += 1;
    const given = answer(calls);
    if (given === null) refuse(response, 400, 'VALIDATION_FAILED');
    else json(response, given);
  });
  await daemon.listen();
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const { signal } = new AbortController();
  const code = await run(line.split(' '), { env: daemon.env, stdout, stderr, signal });
  const waits = daemon.seen.filter(({ url }) => /wait|next|requests(?!.*\/received)/.test(url));
  return { code, stderr: stderr.text, waits };
}

function secondsOf({ url, body }: { url: string; body: string }): unknown {
  const asked = new URL(url, 'http://x').searchParams.get('timeout_seconds');
  if (asked !== null) return Number(asked);
  const { timeout_seconds, wait_seconds } = JSON.parse(body) as Record<string, unknown>;
  return timeout_seconds ?? wait_seconds;
}

const EVENT = { event: { id: 'evt_1' } };

describe('--wait', () => {
  it.each([
    ['inbox wait --wait 1', 1],
    ['inbox wait --wait 90s', 90],
    ['inbox wait --wait=2m', 120],
    ['inbox wait --timeout-seconds 7', 7],
  ])('svc %s asks for %d seconds', async (line, seconds) => {
    const { waits } = await svc(line, () => EVENT);
    expect(waits.map(secondsOf)).toEqual([seconds]);
  });

  it.each(['--wait 7', '--wait 7s', '--wait-seconds 7'])(
    'is sent with a question: %s',
    async (flag) => {
      const answer = { status: 'approved', request_id: 'req_1' };
      const { code, waits } = await svc(`${ASK} ${flag}`, () => answer);
      expect([code, ...waits.map(secondsOf)]).toEqual([0, 7]);
    },
  );

  it('lasts longer than the service holds a call: it asks again', async () => {
    const { code, waits } = await svc('inbox next --wait 5m', (call) =>
      call < 3 ? { items: [] } : { items: [{ id: 'evt_1' }] },
    );
    expect([code, waits.map(secondsOf)]).toEqual([0, [120, 120, 60]]);
    const keys = new Set(daemon?.seen.map(({ headers }) => headers['idempotency-key']));
    expect(keys.size).toBe(3);
  });

  it('ends with 3 when its time is over', async () => {
    const { code, waits } = await svc('inbox next --wait 130', () => ({ items: [] }));
    expect([code, waits.map(secondsOf)]).toEqual([3, [120, 10]]);
  });

  it.each(['soon', '1.5m', '25h', '-1', ''])('refuses "%s"', async (text) => {
    const { code, stderr, waits } = await svc(`inbox wait --wait=${text}`);
    expect([code, waits]).toEqual([2, []]);
    expect(stderr).toContain(`--wait must be a time up to 24h, not "${text}".`);
  });

  it('refuses two lengths', async () => {
    const { code, stderr } = await svc('inbox wait --wait 1 --timeout-seconds 2');
    expect([code, stderr.split('\n')[0]]).toEqual([2, 'USAGE: --wait is given twice.']);
  });

  it('is the only name that commands show', () => {
    const flags = allCommands().flatMap(({ options }) => options.map(({ flag }) => flag));
    expect(flags.filter((flag) => /^(?:wait|timeout)-/.test(flag))).toEqual([]);
    expect(flags.filter((flag) => flag === 'wait').length).toBeGreaterThan(5);
    const examples = allCommands().flatMap((command) => command.examples);
    expect(examples.join('\n')).not.toMatch(/--(?:wait|timeout)-seconds/);
  });
});
