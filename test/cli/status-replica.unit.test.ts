import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { copyText, replicaNote } from '../../cli/view/status-replica.ts';
import type { DaemonStatus, ReplicaReport } from '../../daemon/record.ts';
import { VERSION } from '../../shared/lib/version.ts';
import { FakeDaemon, json } from './fake-daemon.ts';
import { TextSink } from './fake-output.ts';

const GATEWAY = 'https://svc.example.com';

const LIVE: ReplicaReport = {
  state: 'live',
  reads: 'local',
  position: 12_345,
  behind: 0,
  age_ms: 900,
  offline_since: null,
  copied: null,
  detail: null,
  code: null,
  witness: { ok: true, seq: 4321 },
};

let daemon: FakeDaemon | undefined;
afterEach(() => daemon?.close());

function statusWith(replica: Partial<ReplicaReport>): DaemonStatus {
  return {
    pid: 42,
    started_at: '2026-01-02T10:00:00.000Z',
    instance: 'i',
    version: VERSION,
    base_url: 'http://127.0.0.1:4780',
    mcp_url: 'http://127.0.0.1:4780/mcp',
    hooks_url: GATEWAY,
    socket: '/run/svc.sock',
    project: 'prj_1',
    mode: 'replica',
    gateway: GATEWAY,
    state: 'ready',
    people: null,
    replica: { ...LIVE, ...replica },
    uptime_seconds: 7,
    memory: { rss_bytes: 85_400_000, heap_used_bytes: 1 },
  };
}

/** What `svc status` prints, on a terminal of 120 columns or into a pipe. */
async function printed(status: DaemonStatus, isTTY = true): Promise<string> {
  daemon = new FakeDaemon((_, response) => json(response, status));
  await daemon.listen();
  const [stdout, stderr] = [new TextSink(isTTY, 120), new TextSink()];
  const around = { env: { ...daemon.env, NO_COLOR: '1' }, stdout, stderr };
  const code = await run(['status'], { ...around, signal: new AbortController().signal });
  expect(code).toBe(0);
  return stdout.text;
}

/** The lines on the replica, as they stand. */
async function lines(replica: Partial<ReplicaReport>): Promise<string[]> {
  const all = (await printed(statusWith(replica))).split('\n');
  return all.slice(all.findIndex((line) => line.startsWith('  Gateway'))).slice(0, -1);
}

describe('svc status over a gateway', () => {
  it('says where the project is, and that the copy has everything', async () => {
    expect(await lines({})).toEqual([
      `  Gateway    ${GATEWAY}`,
      '  Replica    live, position 12,345',
      '  Reads      from the replica',
      '  Ledger     checked up to entry 4,321',
    ]);
  });

  it('says that the gateway is slow to answer', async () => {
    const shown = (await printed(statusWith({ reads: 'late' }))).replaceAll(/\s+/g, ' ');
    expect(shown).toContain('Reads from the replica, because the gateway is slow to answer');
    expect(shown).toContain(`${GATEWAY} is slow to answer. Reads come from the replica`);
    expect(replicaNote(statusWith({ reads: 'late' }))).toContain('is slow to answer');
  });

  it('gives scripts the same as fields', async () => {
    const { mode, gateway, replica } = JSON.parse(await printed(statusWith({}), false)) as Record<
      string,
      unknown
    >;
    expect({ mode, gateway, replica }).toEqual({
      mode: 'replica',
      gateway: GATEWAY,
      replica: LIVE,
    });
  });

  it('says since when the gateway is away, how old the copy is, and what that means', async () => {
    const away = {
      state: 'offline',
      reads: 'stale',
      age_ms: 8 * 60_000,
      offline_since: '2026-01-02T11:52:00.000Z',
      detail: "The gateway can't be reached: ECONNREFUSED.",
      witness: { ok: true, seq: 0 },
    } as const;
    expect(await lines(away)).toEqual([
      `  Gateway    ${GATEWAY}`,
      '  Replica    offline since 2026-01-02T11:52:00.000Z, position 12,345, 8 min behind',
      '  Reads      from the replica, marked stale; writes fail',
      '',
      `${GATEWAY} can't be reached: ECONNREFUSED. Reads come from the replica for up to 24`,
      'h; writes fail.',
    ]);
  });

  it("says why the gateway can't be reached, also without a copy", () => {
    const detail = "The gateway can't be reached: CERT_HAS_EXPIRED; to trust another, set X.";
    const away = { state: 'offline', reads: 'gateway', position: null, detail } as const;
    expect(replicaNote(statusWith(away))).toBe(
      `${GATEWAY} can't be reached: CERT_HAS_EXPIRED; to trust another, set X. The replica can't answer either, so reads and writes fail.`,
    );
  });

  it('says how far a first copy is', async () => {
    const copied = { done: 34 * 1024 * 1024, total: 120 * 1024 * 1024 };
    const report = { state: 'copying', reads: 'gateway', position: null, copied } as const;
    const [, state, reads, , ...advice] = await lines(report);
    expect([state, reads]).toEqual([
      '  Replica    copying 34 MB of 120 MB',
      '  Reads      from the gateway',
    ]);
    expect(advice.join(' ')).toContain(
      'svc keeps trying; until then, reads come from the gateway.',
    );
  });

  it('warns of another history, and says what to do about it', async () => {
    const file = '/home/ana/replicas/prj_1/witness.json';
    const witness = { ok: false, seq: 77, reason: 'rewritten', file } as const;
    const shown = await lines({ witness });
    expect(shown).toContain(
      '  Ledger     differs from what this machine saw before, from entry 77 on',
    );
    expect(shown.slice(5).join(' ')).toBe(
      `${GATEWAY} shows a different ledger than before (entries were rewritten at entry 77). Ask the gateway's operator. Once you know why: svc ledger verify --accept`,
    );
  });

  it.each([
    [
      { state: 'refused', code: 'SCOPE_MISSING', detail: 'The key lacks the scope disk.' },
      '  Replica    none: the key lacks scopes',
      'No replica: it needs a key with inbox:read, approvals, disk or disk:read, and ledger:read. All calls go to the gateway.',
    ],
    [
      { state: 'refused', code: 'KEY_REVOKED', detail: 'This API key has been revoked.' },
      '  Replica    none: the key is refused',
      `${GATEWAY} refuses the stored key (KEY_REVOKED). Sign in again: svc login`,
    ],
    [
      { state: 'none', code: 'SCOPE_MISSING', detail: 'This key is limited.' },
      '  Replica    none: the key is limited',
      'This key is limited. All calls go to the gateway.',
    ],
    [
      {
        state: 'unsupported',
        detail: 'The gateway has schema 9, this release knows 8: update svc here.',
      },
      '  Replica    none: see below',
      'No replica: The gateway has schema 9, this release knows 8: update svc here. Until then all calls go to the gateway.',
    ],
  ] as const)('says why there is no copy: %j', async (report, line, advice) => {
    const shown = await lines({
      ...report,
      reads: 'gateway',
      position: null,
      witness: { ok: true, seq: 0 },
    });
    expect(shown[1]).toBe(line);
    expect(shown.slice(4).join(' ')).toBe(advice);
  });
});

/** Runs `svc up` over a daemon whose copy has a backlog, and is done with it at the asked status of this number. */
async function upWhile(isTTY: boolean, askedOften: number): Promise<TextSink> {
  const backlog = {
    state: 'catching-up',
    reads: 'gateway',
    position: 12_000,
    behind: 88_000,
  } as const;
  daemon = new FakeDaemon((_, response) => {
    const isDone = (daemon?.seen.length ?? 0) >= askedOften;
    json(response, statusWith(isDone ? {} : backlog));
  });
  const team = { gateway: GATEWAY, api_key: daemon.apiKey, project: 'prj_1' };
  daemon.write('credentials.json', { profiles: { team }, current: 'team' });
  await daemon.listen();
  const [stdout, stderr] = [new TextSink(isTTY, 120), new TextSink(isTTY, 120)];
  const around = { env: { ...daemon.env, NO_COLOR: '1' }, stdout, stderr };
  const code = await run(['up'], { ...around, signal: new AbortController().signal });
  expect(code).toBe(0);
  return stderr;
}

describe('svc up over a copy that catches up', () => {
  it('shows how far it is on a terminal, until it is there', async () => {
    const { text } = await upWhile(true, 20);
    expect(text).toContain('catching up: 12,000 of 100,000 commits');
    expect(text).not.toContain('not ready');
    // Nothing of it stays on the line.
    expect(text.endsWith('\r\u001b[K')).toBe(true);
  });

  it('says how far it is on a line, where that takes longer and nobody looks on', async () => {
    const { text } = await upWhile(false, Infinity);
    expect(text).toBe(
      "The replica isn't ready (catching up: 12,000 of 100,000 commits). svc keeps trying; until then, reads come from the gateway. See: svc status\n",
    );
  });
});

describe('what svc up says of the copy', () => {
  it('is nothing while all is well', () => {
    expect(replicaNote(statusWith({}))).toBeNull();
    expect(replicaNote({ ...statusWith({}), replica: null })).toBeNull();
  });

  it('is how far it is', () => {
    expect(copyText(null)).toBe('connecting');
    expect(copyText({ ...LIVE, state: 'copying' })).toBe('copying');
    expect(copyText({ ...LIVE, state: 'catching-up', position: null })).toBe('catching up');
    const report = { state: 'catching-up', position: 12_000, behind: 88_000 } as const;
    expect(copyText({ ...LIVE, ...report })).toBe('catching up: 12,000 of 100,000 commits');
    expect(replicaNote(statusWith(report))).toBe(
      "The replica isn't ready (catching up: 12,000 of 100,000 commits). svc keeps trying; until then, reads come from the gateway. See: svc status",
    );
  });
});
