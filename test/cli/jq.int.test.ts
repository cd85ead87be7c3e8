import { afterEach, describe, expect, it } from 'vitest';
import { answering, svc } from './approvals/fake-people.ts';
import type { FakeDaemon } from './fake-daemon.ts';

let daemon: FakeDaemon | undefined;
afterEach(() => daemon?.close());

const ITEMS = [
  { key: 'a', version: 1 },
  { key: 'b\u001b[31m', version: 2 },
];

async function given(): Promise<FakeDaemon> {
  daemon = await answering({
    'GET /v1/kv': ({ url }) =>
      url.includes('cursor')
        ? { items: [{ key: 'c', version: 3 }], next_cursor: null }
        : { items: ITEMS, next_cursor: 'more' },
    'PUT /v1/kv/k': { key: 'k', version: 1 },
    'GET /v1/whoami': { n: 1 },
  });
  return daemon;
}

describe('--jq', () => {
  it.each([
    ['.items[0].key', 'a\n'],
    ['.items[0]', '{"key":"a","version":1}\n'],
    ['.items | length', '2\n'],
    ['empty', ''],
    ['-1', '-1\n'],
  ])('prints what %s makes of the answer, text without quotes', async (expression, text) => {
    const ran = await svc(['kv', 'list', '--jq', expression], await given());
    expect(ran).toMatchObject({ code: 0, stdout: text });
  });

  it('sees the items of every page with --all', async () => {
    const line = ['kv', 'list', '--all', '--jq=[.items[].key] | length'];
    expect((await svc(line, await given())).stdout).toBe('3\n');
  });

  it('works where a command prints bytes as they come', async () => {
    const line = ['api', 'GET', '/v1/whoami', '--jq', '.n + 1'];
    expect((await svc(line, await given())).stdout).toBe('2\n');
  });

  it('prints no control sequence on a terminal', async () => {
    const line = ['kv', 'list', '--jq', '.items[1].key'];
    expect((await svc(line, await given(), { terminal: true })).stdout).toBe('b\n');
  });

  it('refuses a wrong expression in the words of jq before the command does anything', async () => {
    const refused = await svc(['kv', 'set', 'k', '1', '--jq', '.items['], await given());
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/^USAGE: --jq: syntax error, unexpected end of file .+\.\n/);
    expect(daemon?.seen).toEqual([]);
  });

  it('prints what came before a failure, and says why it failed', async () => {
    const failed = await svc(['kv', 'list', '--jq', '.items[0].key, .items.key'], await given());
    expect(failed).toMatchObject({ code: 1, stdout: 'a\n' });
    expect(failed.stderr).toMatch(/^JQ_FAILED: Cannot index array with /);
  });
});
