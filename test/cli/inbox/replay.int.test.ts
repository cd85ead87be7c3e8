import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../../cli/run.ts';
import { FakeDaemon, json } from '../fake-daemon.ts';
import { TextSink } from '../fake-output.ts';
import { fieldsOf, parsedLine } from '../tools/fakes.ts';

let daemon: FakeDaemon;
const interruption = { now: () => {} };
afterEach(() => daemon.close());

/** A daemon where `pages` pages of two events each match. */
async function matching(pages: number, then: (page: number) => void = () => {}): Promise<void> {
  daemon = new FakeDaemon(({ body }, response) => {
    const cursor = fieldsOf(JSON.parse(body))['cursor'];
    const page = typeof cursor === 'string' ? Number(cursor) : 1;
    then(page);
    json(response, {
      event_ids: [`evt_${page}a`, `evt_${page}b`],
      skipped: [],
      next_cursor: page < pages ? String(page + 1) : null,
    });
  });
  await daemon.listen();
}

async function replay(...flags: readonly string[]) {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const controller = new AbortController();
  interruption.now = () => controller.abort();
  const line = ['inbox', 'replay', '--status', 'done', ...flags];
  const code = await run(line, { env: daemon.env, stdout, stderr, signal: controller.signal });
  return { code, answer: parsedLine(stdout.text), err: stderr.text };
}

function sent(): unknown[] {
  return daemon.seen.map(({ body }) => fieldsOf(JSON.parse(body)));
}

describe('svc inbox replay', () => {
  it('goes from page to page, each under its own idempotency key', async () => {
    await matching(3);
    const { code, answer } = await replay();
    expect(code).toBe(0);
    expect(answer).toMatchObject({
      event_ids: ['evt_1a', 'evt_1b', 'evt_2a', 'evt_2b', 'evt_3a', 'evt_3b'],
      next_cursor: null,
    });
    const page = { status: 'done', limit: 100 };
    expect(sent()).toEqual([page, { ...page, cursor: '2' }, { ...page, cursor: '3' }]);
    const keys = daemon.seen.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(3);
  });

  it('ends after one page with --limit, and says how to go on', async () => {
    await matching(3);
    const { code, answer, err } = await replay('--limit', '2');
    expect([code, answer['next_cursor']]).toEqual([0, '2']);
    expect(err).toContain('More events match. To go on, add: --cursor 2');
  });

  it('counts the page that was on its way when Ctrl-C came', async () => {
    await matching(3, (page) => {
      if (page === 2) interruption.now();
    });
    const { code, answer, err } = await replay();
    expect(code).toBe(130);
    expect(answer).toMatchObject({ event_ids: ['evt_1a', 'evt_1b', 'evt_2a', 'evt_2b'] });
    expect(err).toContain('To go on, add: --cursor 3');
    expect(sent()).toHaveLength(2);
  });
});
