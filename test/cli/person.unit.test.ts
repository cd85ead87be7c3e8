import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { VERSION } from '../../shared/lib/version.ts';
import { FakeDaemon, json } from './fake-daemon.ts';
import { TextSink } from './fake-output.ts';

// What a person reads on a terminal, and that a pipe still gets the whole answer.

let daemon: FakeDaemon | undefined;
afterEach(() => daemon?.close());

async function answering(answer: (url: string) => unknown): Promise<FakeDaemon> {
  daemon = new FakeDaemon(({ url }, response) => json(response, answer(url)));
  await daemon.listen();
  return daemon;
}

async function svc(line: string, { env }: FakeDaemon, isTTY = true) {
  const [stdout, stderr] = [new TextSink(isTTY, 120), new TextSink()];
  const around = { env: { ...env, NO_COLOR: '1' }, stdout, stderr };
  const { signal } = new AbortController();
  const code = await run(line.split(' '), { ...around, signal });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

describe('status', () => {
  const status = {
    pid: 42,
    started_at: '2026-01-02T10:00:00.000Z',
    instance: 'i',
    version: VERSION,
    base_url: 'http://127.0.0.1:4780',
    mcp_url: 'http://127.0.0.1:4780/mcp',
    hooks_url: 'http://127.0.0.1:4780',
    socket: '/run/svc.sock',
    project: 'prj_1',
    mode: 'local',
    state: 'ready',
    uptime_seconds: 7,
    memory: { rss_bytes: 85_400_000, heap_used_bytes: 1 },
  };

  it('says what runs and since when, then where', async () => {
    const fake = await answering(() => status);
    const { code, stdout } = await svc('status', fake);
    expect(code).toBe(0);
    const [first, ...rest] = stdout.split('\n');
    expect(first).toMatch(/^svc [\d.]+ is running \(pid 42\) since 2026-01-02 10:00:00 \(.*\)$/);
    expect(rest).toEqual([
      '',
      '  Address    http://127.0.0.1:4780',
      '  Web inbox  http://127.0.0.1:4780/ui (to sign in: svc open)',
      '  MCP        http://127.0.0.1:4780/mcp',
      '  Webhooks   http://127.0.0.1:4780/w/…',
      '  Socket     /run/svc.sock',
      '  Project    prj_1',
      `  Data       0 bytes in ${fake.folder}/data`,
      '  Memory     81.4 MB',
      `  Log        ${fake.folder}/daemon.log`,
      '',
    ]);
  });

  const PEOPLE = {
    mail: 'smtp',
    owner: 'a***@example.com',
    telegram: false,
    telegram_trouble: null,
    active_email: 1,
    active_telegram: 0,
  };
  it.each([
    [{ mail: 'outbox' }, 'in the local outbox (svc outbox open)'],
    [{}, 'by mail to a***@example.com'],
    [{ active_email: 2 }, 'by mail to a***@example.com and 1 other address'],
    [{ telegram: true, active_telegram: 1 }, 'by mail to a***@example.com and by Telegram'],
    [
      { mail: 'outbox', telegram: true, active_telegram: 2 },
      'in the local outbox (svc outbox open) and by Telegram in 2 chats',
    ],
    [{ owner: null, active_email: 3 }, 'by mail to 2 other addresses'],
  ])('says where people are asked, and who is the owner: %j', async (fields, where) => {
    const fake = await answering(() => ({ ...status, people: { ...PEOPLE, ...fields } }));
    const { stdout } = await svc('status', fake);
    const owner = 'owner' in fields ? 'not set (svc up --owner EMAIL)' : 'a***@example.com';
    expect(stdout).toContain(`  Decisions  asked for ${where}\n  Owner      ${owner}\n`);
  });

  it.each([
    [{ mail: 'outbox' }, 'An agent running as your user could read the outbox and decide for you.'],
    [{ telegram: true }, 'Connect someone with: svc channel add telegram'],
    [{ owner: null, active_email: 3 }, 'the owner has no address: svc up --owner EMAIL'],
  ])('says what to know and to do about it: %j', async (fields, advice) => {
    const fake = await answering(() => ({ ...status, people: { ...PEOPLE, ...fields } }));
    expect((await svc('status', fake)).stdout.replaceAll('\n', ' ')).toContain(advice);
  });

  it('says why the Telegram bot does not work', async () => {
    const trouble = 'Telegram, getMe: 401 Unauthorized';
    const people = { ...PEOPLE, telegram: true, active_telegram: 1, telegram_trouble: trouble };
    const { stdout } = await svc('status', await answering(() => ({ ...status, people })));
    expect(stdout).toContain(`  Telegram   doesn't work: ${trouble}\n`);
  });

  it('has nothing to say where everything is well', async () => {
    const fake = await answering(() => ({ ...status, people: PEOPLE }));
    expect((await svc('status', fake)).stdout.trimEnd()).toMatch(/Owner +a\*\*\*@example\.com$/);
  });

  it('says that nobody can be asked where mail goes out and there is no owner', async () => {
    const people = { ...PEOPLE, owner: null };
    const { stdout } = await svc('status', await answering(() => ({ ...status, people })));
    expect(stdout).toContain('  Decisions  nobody to ask yet\n');
    expect(stdout).toContain('the owner has no address: svc up --owner EMAIL');
  });

  it('has the name of the project before its id, now or as it was at the sign-in', async () => {
    const project = { id: 'prj_1', name: 'Web shop' };
    const { stdout } = await svc(
      'status',
      await answering((url) => (url.startsWith('/v1/whoami') ? { project } : status)),
    );
    expect(stdout).toContain('  Project    Web shop (prj_1)\n');
    const fake = await answering(() => status);
    const profile = { gateway: null, api_key: fake.apiKey, project: 'prj_1', name: 'Old shop' };
    fake.write('credentials.json', { profiles: { default: profile }, current: 'default' });
    expect((await svc('status', fake)).stdout).toContain('  Project    Old shop (prj_1)\n');
  });

  it('says that it starts, and has no project yet', async () => {
    const fake = await answering(() => ({ ...status, state: 'starting', project: null }));
    const { stdout } = await svc('status', fake);
    expect(stdout).toContain('is starting (pid 42)');
    expect(stdout).toContain('  Project    –\n');
  });

  it('is the same JSON as ever in a pipe', async () => {
    const fake = await answering(() => status);
    const { stdout } = await svc('status', fake, false);
    const { instance: _, memory, uptime_seconds, started_at, ...fields } = status;
    expect(stdout).toBe(
      `${JSON.stringify({
        running: true,
        ...fields,
        inbox_url: `${status.base_url}/ui`,
        started_at,
        uptime_seconds,
        memory_bytes: memory.rss_bytes,
        data_folder: `${fake.folder}/data`,
        data_bytes: 0,
        log_file: `${fake.folder}/daemon.log`,
      })}\n`,
    );
  });
});

describe('whoami', () => {
  const answer = {
    project: { id: 'prj_1', slug: 'shop', name: 'Shop' },
    key: { id: 'key_1', name: 'ci\u001b[2J', scopes: ['disk', 'send'], expires_at: null },
    scopes: ['disk', 'send'],
    agent: { label: 'billing-bot', platform: 'claude-code', source: 'mcp_client_info' },
    urls: { api: 'http://x', mcp: 'http://x/mcp', hooks: 'http://h' },
    server: { version: '1', channels: [] },
  };

  it('is a few plain lines', async () => {
    const { stdout } = await svc('whoami', await answering(() => answer));
    expect(stdout.split('\n')).toEqual([
      'Project   Shop (prj_1)',
      'Key       ci (key_1)',
      'Scopes    disk, send',
      'Expires   never',
      'Agent     billing-bot on claude-code, from mcp client info',
      'API       http://x',
      'MCP       http://x/mcp',
      'Webhooks  http://h/w/…',
      '',
    ]);
  });

  it.each([
    [{ label: null, platform: 'unknown', source: 'none' }, 'not named'],
    [
      { label: null, platform: 'custom', source: 'user_agent' },
      'unnamed on custom, from user agent',
    ],
  ])('agent %j', async (agent, text) => {
    const { stdout } = await svc('whoami', await answering(() => ({ ...answer, agent })));
    expect(stdout).toContain(`Agent     ${text}\n`);
  });

  it('is the answer itself in a pipe, and shown like others where its form is not known', async () => {
    const piped = await svc('whoami', await answering(() => answer), false);
    expect(JSON.parse(piped.stdout)).toEqual(answer);
    daemon?.close();
    expect((await svc('whoami', await answering(() => ({ a: 1, b: 2 })))).stdout).toBe(
      'a  1\nb  2\n',
    );
  });
});

describe('ledger verify', () => {
  const hash = 'abcdef0123456789';
  const at = '2026-01-02T10:00:00.000Z';
  const good = {
    ok: true,
    from_seq: 1,
    to_seq: 1234,
    checked: 1234,
    anchored: true,
    first_bad_seq: null,
    reason: null,
    head: { seq: 1234, hash, at },
  };

  it('says OK with the head, and the next time that the head is still there', async () => {
    const fake = await answering(() => good);
    const first = await svc('ledger verify', fake);
    expect(first.code).toBe(0);
    expect(first.stdout).toMatch(
      /^OK {2}1,234 entries verified, head #1234 abcdef012345… \(2026-01-02T10:00:00.000Z, .*\)\n$/,
    );
    const second = await svc('ledger verify', fake);
    expect(second.stdout.split('\n')[1]).toBe(
      `#1234, which this machine saw on ${at}, is unchanged.`,
    );
    const piped = await svc('ledger verify', fake, false);
    expect(JSON.parse(piped.stdout)).toEqual({
      ...good,
      witness: { ok: true, remembered: good.head },
    });
  });

  it.each([
    [
      { from_seq: 1000, checked: 235, anchored: false },
      'OK  235 entries verified (#1000 to #1234), ',
    ],
    [{ to_seq: 1, checked: 1 }, 'OK  1 entry verified (#1 to #1), head #1234 '],
    [{ to_seq: 0, checked: 0, head: null }, 'OK  0 entries verified, the ledger is empty\n'],
  ])('%j', async (part, text) => {
    const { stdout } = await svc('ledger verify', await answering(() => ({ ...good, ...part })));
    expect(stdout).toContain(text);
    expect(stdout.includes("Entries before #1000 weren't checked.")).toBe('anchored' in part);
  });

  it('says where it is broken, and nothing twice', async () => {
    const bad = { ...good, ok: false, first_bad_seq: 17, reason: 'hash_mismatch' };
    const fake = await answering(() => bad);
    const person = await svc('ledger verify', fake);
    expect(person).toEqual({ code: 1, stdout: 'BROKEN at #17: hash mismatch\n', stderr: '' });
    const piped = await svc('ledger verify', fake, false);
    expect([piped.code, piped.stderr]).toEqual([1, 'THE LEDGER IS BROKEN at seq 17.\n']);
  });

  it('does not accept what is broken', async () => {
    let answer: Record<string, unknown> = good;
    const fake = await answering(() => answer);
    await svc('ledger verify', fake);
    answer = { ...good, ok: false, first_bad_seq: 17, reason: 'hash_mismatch' };
    expect(await svc('ledger verify --accept', fake)).toEqual({
      code: 1,
      stdout: 'BROKEN at #17: hash mismatch\n',
      stderr: "Not accepted: this ledger's chain is broken.\n",
    });
    answer = good;
    expect((await svc('ledger verify', fake)).stdout).toContain('is unchanged.');
  });

  it('says what it accepted', async () => {
    let head = good.head;
    const fake = await answering(() => ({ ...good, to_seq: head.seq, head }));
    await svc('ledger verify', fake);
    head = { seq: 12, hash: '0123456789abcdef', at };
    const { code, stdout } = await svc('ledger verify --accept', fake);
    expect(code).toBe(0);
    expect(stdout).toContain(
      'Accepted. This machine remembered #1234 abcdef012345…; now it remembers #12 0123456789ab….\n',
    );
  });

  it('does not say OK beside an alarm', async () => {
    let head = good.head;
    const fake = await answering(() => ({ ...good, to_seq: head.seq, head }));
    await svc('ledger verify', fake);
    head = { seq: 12, hash, at };
    const { code, stdout, stderr } = await svc('ledger verify', fake);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^TRUNCATED {2}1,234 entries verified, head #12 /);
    expect(stderr).toContain('LEDGER TRUNCATED: ');
  });
});
