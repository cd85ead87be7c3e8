import { afterEach, describe, expect, it } from 'vitest';
import { answering, svc } from '../approvals/fake-people.ts';
import type { FakeDaemon } from '../fake-daemon.ts';

let daemon: FakeDaemon | undefined;
afterEach(() => daemon?.close());

const AT = '2026-11-22T03:32:27.811Z';

async function stored(value: unknown): Promise<FakeDaemon> {
  daemon = await answering({
    'GET /v1/kv/k': { key: 'k', value, expires_at: null, updated_at: AT, version: 1 },
    'GET /v1/kv/none': null,
    'GET /v1/state/t': { task_id: 't', state: value, note: null, saved_at: AT, version: 1 },
  });
  return daemon;
}

describe('a stored value', () => {
  it.each([
    [['kv', 'get', 'k'], 'value'],
    [['state', 'load', 't'], 'state'],
  ])('%j shows JSON as JSON on a terminal', async (line, heading) => {
    const { stdout } = await svc(line, await stored({ ok: true }), { terminal: true });
    expect(stdout).toContain(`\n\n${heading}\n  {\n    "ok": true\n  }\n`);
    expect(stdout).not.toContain('yes');
  });

  it.each([
    ['a\n"b"', 'a\n"b"'],
    [{ ok: true }, '{"ok":true}'],
    [7, '7'],
  ])('is %j alone with --raw, byte for byte', async (value, text) => {
    expect(await svc(['kv', 'get', 'k', '--raw'], await stored(value))).toMatchObject({
      code: 0,
      stdout: text,
    });
  });

  it('ends its line with --raw on a terminal', async () => {
    const line = ['state', 'load', 't', '--raw'];
    const { stdout } = await svc(line, await stored('text'), { terminal: true });
    expect(stdout).toBe('text\n');
  });

  it('says with --raw that nothing is stored for the key', async () => {
    const missing = await svc(['kv', 'get', 'none', '--raw'], await stored(1));
    expect(missing).toMatchObject({
      code: 3,
      stdout: '',
      stderr: 'Nothing is stored for this key.\n',
    });
  });

  it('is refused with both --raw and --json', async () => {
    const both = await svc(['kv', 'get', 'k', '--raw', '--json'], await stored(1));
    expect(both).toMatchObject({ code: 2, stdout: '' });
  });
});
