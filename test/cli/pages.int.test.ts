import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { answering, svc } from './approvals/fake-people.ts';
import type { FakeDaemon, Seen } from './fake-daemon.ts';
import { TextSink } from './fake-output.ts';

let daemon: FakeDaemon | undefined;
afterEach(() => daemon?.close());

const TOTAL = 250;

function page({ url }: Seen): Record<string, unknown> {
  const { searchParams: query } = new URL(url, 'http://x');
  const start = Number(query.get('cursor') ?? 0);
  const end = Math.min(TOTAL, start + Number(query.get('limit') ?? 20));
  const items = Array.from({ length: end - start }, (_, index) => ({
    key: `k${start + index}${start > 0 ? '-and-a-longer-name' : ''}`,
    size_bytes: index,
    path: `p${start + index}`,
    content_type: 'text/plain',
    updated_at: '2026-01-02T11:00:00.000Z',
    version: 1,
  }));
  return { items, next_cursor: end < TOTAL ? String(end) : null };
}

async function listing(): Promise<FakeDaemon> {
  daemon = await answering({ 'GET /v1/kv': page, 'GET /v1/files': page });
  return daemon;
}

describe('--all', () => {
  it.each(['kv', 'file'])(
    'prints one document with the items of every page: %s list',
    async (noun) => {
      const { code, stdout, stderr } = await svc([noun, 'list', '--all'], await listing());
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout.match(/\n/g)).toHaveLength(1);
      const answer = JSON.parse(stdout) as { items: { path: string }[]; next_cursor: null };
      expect(answer.next_cursor).toBeNull();
      expect(answer.items.map(({ path }) => path)).toEqual(
        Array.from({ length: TOTAL }, (_, index) => `p${index}`),
      );
      expect(daemon?.seen).toHaveLength(3);
    },
  );

  it.each(['kv', 'file'])('prints one table on a terminal: %s list', async (noun) => {
    const { stdout, stderr } = await svc([noun, 'list', '--all'], await listing(), {
      terminal: true,
    });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(TOTAL + 1);
    expect(lines.filter((line) => /KEY|PATH/.test(line))).toHaveLength(1);
    expect(stderr).toBe('');
  });

  it('is the same indented document with --json on a terminal', async () => {
    const { stdout } = await svc(['kv', 'list', '--all', '--json'], await listing(), {
      terminal: true,
    });
    expect(stdout.split('\n').slice(0, 4)).toEqual([
      '{',
      '  "items": [',
      '    {',
      '      "key": "k0",',
    ]);
    expect((JSON.parse(stdout) as { items: unknown[] }).items).toHaveLength(TOTAL);
  });

  it('says that the list is empty', async () => {
    daemon = await answering({ 'GET /v1/kv': { items: [], next_cursor: null } });
    const line = ['kv', 'list', '--all'];
    expect((await svc(line, daemon, { terminal: true })).stdout).toBe('The list is empty.\n');
    expect((await svc(line, daemon)).stdout).toBe('{"items":[],"next_cursor":null}\n');
  });

  it('is accepted by a list without pages, and refused with --limit', async () => {
    daemon = await answering({ 'GET /v1/channels': { items: [{ id: 'c' }] } });
    const { stdout } = await svc(['channel', 'list', '--all'], daemon);
    expect(JSON.parse(stdout)).toEqual({ items: [{ id: 'c' }], next_cursor: null });
    const both = await svc(['kv', 'list', '--all', '--limit', '3'], daemon);
    expect(both).toMatchObject({ code: 2, stdout: '' });
  });

  it('stopped by Ctrl-C keeps what was printed, ends the document and names the cursor', async () => {
    const stop = new AbortController();
    daemon = await answering({
      'GET /v1/kv': (seen) => {
        if (!seen.url.includes('cursor')) return page(seen);
        stop.abort();
        return undefined;
      },
    });
    const [stdout, stderr] = [new TextSink(), new TextSink()];
    const around = { env: daemon.env, stdout, stderr, signal: stop.signal };
    expect(await run(['kv', 'list', '--all'], around)).toBe(130);
    const answer = JSON.parse(stdout.text) as { items: unknown[]; next_cursor: string };
    expect(answer.items).toHaveLength(100);
    expect(answer.next_cursor).toBe('100');
    expect(stderr.text).toBe('To continue: --cursor 100\n');
  });
});

describe('--limit above one page', () => {
  it('fetches page by page, and says where to continue', async () => {
    const { code, stdout, stderr } = await svc(['kv', 'list', '--limit', '150'], await listing());
    const answer = JSON.parse(stdout) as { items: unknown[]; next_cursor: string };
    expect([code, answer.items.length, answer.next_cursor]).toEqual([0, 150, '150']);
    expect(stderr).toBe('To continue: --cursor 150\n');
    expect(daemon?.seen.map(({ url }) => url)).toEqual([
      '/v1/kv?limit=100',
      '/v1/kv?limit=50&cursor=100',
    ]);
  });
});
