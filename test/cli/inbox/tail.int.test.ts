import { describe, expect, it } from 'vitest';
import { run } from '../../../cli/commands/inbox/tail.ts';
import { unreachable } from '../../../cli/errors.ts';
import { run as svc } from '../../../cli/run.ts';
import { FakeDaemon, json } from '../fake-daemon.ts';
import { TextSink } from '../fake-output.ts';
import { event, fakeContext, FakeClient, fieldsOf, parsedLine } from '../tools/fakes.ts';

interface Stored {
  readonly id: string;
  status: string;
  readonly [field: string]: unknown;
}

/** An inbox whose lists and waits answer from these events; a wait without one calls `idle` and ends. */
class Inbox extends FakeClient {
  constructor(events: readonly Stored[], idle: () => void) {
    super({
      'GET /v1/inbox': ({ query }) => ({
        items: events.filter(({ status }) => status === query?.['status']),
        next_cursor: null,
      }),
      'GET /v1/inbox/wait': async ({ query }) => {
        const at = events.findIndex(({ id }) => id === query?.['after']);
        const next = events.slice(at + 1).find(({ status }) => status === 'pending');
        await Promise.resolve();
        if (next === undefined) idle();
        return { event: next ?? null };
      },
    });
  }
}

function stored(id: string, status: string, second: number): Stored {
  const received_at = `2026-01-01T00:00:0${second}.000Z`;
  return { ...event(id, { received_at }), status };
}

/** Follows until the inbox is idle for the nth time; each time `meanwhile` may change it. */
async function tail(events: Stored[], options: Record<string, string>, steps: (() => void)[] = []) {
  const stop = new AbortController();
  const client = new Inbox(events, () => {
    const step = steps.shift();
    if (step) step();
    else stop.abort();
  });
  const { context, printed } = fakeContext({ client, options, signal: stop.signal });
  const code = await run(context);
  return { code, client, ids: printed.lines.map((line) => parsedLine(line)['id']), printed };
}

const SINCE = { since: '2026-01-01T00:00:00Z' };

describe('svc inbox tail', () => {
  it('prints events of any status, oldest first and each once, and claims nothing', async () => {
    const events = [stored('evt_2', 'pending', 2), stored('evt_1', 'done', 1)];
    const come = () => void events.push(stored('evt_3', 'pending', 3));
    const { code, ids, client } = await tail(events, SINCE, [come]);
    expect([code, ids]).toEqual([130, ['evt_1', 'evt_2', 'evt_3']]);
    expect(client.calls.every(({ route }) => route.startsWith('GET '))).toBe(true);
  });

  it('does not miss an event that a worker took at once', async () => {
    const events: Stored[] = [];
    const { ids } = await tail(events, SINCE, [
      () => void events.push(stored('evt_1', 'claimed', 1)),
    ]);
    expect(ids).toEqual(['evt_1']);
  });

  it('asks for one source, one type and a time', async () => {
    const { client } = await tail([], { source: 'github', type: 'push', ...SINCE });
    const listed = client.calls.filter(({ options }) => options.query?.['status'] === 'pending');
    expect(listed[0]?.options.query).toMatchObject({
      source: 'github',
      type: 'push',
      since: '2026-01-01T00:00:00.000Z',
      status: 'pending',
    });
    await expect(tail([], { since: 'yesterday' })).rejects.toThrow('--since must be a time');
  });

  it('goes on after trouble, and says so once', async () => {
    const stop = new AbortController();
    let calls = 0;
    const client = new FakeClient({
      'GET /v1/inbox': ({ query }) => {
        calls += 1;
        if (calls < 3) throw unreachable('No daemon.');
        return { items: query?.['status'] === 'pending' ? [event('evt_1')] : [] };
      },
      'GET /v1/inbox/wait': () => (stop.abort(), { event: null }),
    });
    const { context, printed } = fakeContext({ client, options: SINCE, signal: stop.signal });
    expect(await run(context)).toBe(130);
    expect(printed.lines).toHaveLength(1);
    const said = printed.notes.filter((note) => /Trying again|Connected again/.test(note));
    expect(said).toEqual(['No daemon. Trying again.', 'Connected again.']);
  });

  it('shows the time, source, type and gist in one line on a terminal', async () => {
    const stop = new AbortController();
    const one = event('evt_1', {
      type: 'issues.opened',
      received_at: '2026-01-01T10:20:30.000Z',
      payload: { repository: { full_name: 'a/b' }, action: 'opened', sender: { login: 'mi\nra' } },
    });
    const daemon = new FakeDaemon(({ url }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://x');
      if (pathname === '/v1/inbox/wait') stop.abort();
      json(response, { items: searchParams.get('status') === 'pending' ? [one] : [] });
    });
    await daemon.listen();
    try {
      const [stdout, stderr] = [new TextSink(true, 60), new TextSink()];
      const argv = ['inbox', 'tail', '--since', '2026-01-01'];
      const env = { ...daemon.env, NO_COLOR: '1' };
      expect(await svc(argv, { env, stdout, stderr, signal: stop.signal })).toBe(130);
      expect(stdout.text).toMatch(
        /^01-01 \d\d:20:30 {2}github {2}issues\.opened {2}a\/b {2}opened/,
      );
      expect(stdout.text.trimEnd().split('\n')).toHaveLength(1);
      expect(fieldsOf(daemon.seen[0]).url).toContain('status=pending');
    } finally {
      daemon.close();
    }
  });
});
