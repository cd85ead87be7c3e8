import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { FakeClock, TestGateway } from '../helpers/gateway.ts';
import { TextSink } from './fake-output.ts';

const DAY_MS = 86_400_000;
const clock = new FakeClock();
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({ clock });
});
afterAll(() => gateway.stop());

async function svc(...line: string[]): Promise<Record<string, unknown>> {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const env = { SVC_GATEWAY: gateway.url, SVC_API_KEY: gateway.apiKey, SVC_HOME: gateway.folder };
  const { signal } = new AbortController();
  const code = await run([...line, '--json'], { env, stdout, stderr, signal });
  expect([0, 6]).toContain(code);
  return JSON.parse(stdout.text) as Record<string, unknown>;
}

const after = (ms: number) => new Date(clock.now() + ms).toISOString();

describe('a span as people type it reaches the gateway:', () => {
  it('1w and 1d12h for a question to expire in, and 1d12h to its reminder', async () => {
    const week = ['--expires-in', '1w', '--remind', '1d12h', '--wait', '0'];
    const asked = await svc('ask', 'human', 'This week?', ...week);
    expect(asked).toMatchObject({ status: 'pending', expires_at: after(7 * DAY_MS) });
    const sooner = await svc('ask', 'human', 'Sooner?', '--expires-in', '1d12h', '--wait', '0');
    expect(sooner).toMatchObject({ status: 'pending', expires_at: after(1.5 * DAY_MS) });
  });

  it('1w and 1d12h for an event to be parked until', async () => {
    const source = await svc('source', 'add', 'shop');
    for (const [span, ms] of [
      ['+1w', 7 * DAY_MS],
      ['+1d12h', 1.5 * DAY_MS],
    ] as const) {
      const { body } = await gateway.deliver(String(source['url']), JSON.stringify({ span }));
      const id = String(body['event_id']);
      await svc('inbox', 'claim', id);
      const parked = await svc('inbox', 'park', id, '--until', span);
      expect(parked).toMatchObject({ status: 'waiting', wakes_at: after(ms) });
    }
  });
});
