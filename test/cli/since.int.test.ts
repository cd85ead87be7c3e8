import { afterEach, describe, expect, it } from 'vitest';
import { answering, svc } from './approvals/fake-people.ts';
import type { FakeDaemon } from './fake-daemon.ts';

let daemon: FakeDaemon | undefined;
afterEach(() => daemon?.close());

describe('--since', () => {
  it.each([
    ['inbox list --since 1h', 'GET /v1/inbox', 'since', 3600],
    ['ledger query --until 2d', 'GET /v1/ledger', 'until', 2 * 86_400],
  ])('a span reaches the server as a time: %s', async (line, route, name, seconds) => {
    daemon = await answering({ [route]: { items: [], next_cursor: null } });
    const before = Date.now();
    expect((await svc(line.split(' '), daemon)).code).toBe(0);
    const url = daemon.seen.find(({ url: one }) => one.includes(`${name}=`))?.url ?? '';
    const at = Date.parse(new URL(url, 'http://x').searchParams.get(name) ?? '');
    expect(at).toBeGreaterThanOrEqual(before - seconds * 1000);
    expect(at).toBeLessThanOrEqual(Date.now() - seconds * 1000);
  });

  it('of another form is refused before any call', async () => {
    daemon = await answering({});
    const refused = await svc(['inbox', 'replay', '--before', 'monday'], daemon);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain('--before must be a time or a span, not "monday".');
    expect(daemon.seen).toEqual([]);
  });
});
