import { afterEach, describe, expect, it } from 'vitest';
import { checkReplica } from '../../cli/doctor/gateway.ts';
import { run } from '../../cli/run.ts';
import type { DaemonStatus, ReplicaReport } from '../../daemon/record.ts';
import { FakeDaemon, json, refuse } from './fake-daemon.ts';
import { TextSink } from './fake-output.ts';

let gateway: FakeDaemon;
afterEach(() => gateway.close());

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly detail: string;
  readonly fix: string | null;
}

/** What `svc doctor` finds out about these, and its exit code. */
async function found(...checks: string[]): Promise<{ code: number; findings: Finding[] }> {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const around = { env: gateway.env, stdout, stderr, signal: new AbortController().signal };
  const code = await run(['doctor', '--json'], around);
  const { items } = JSON.parse(stdout.text) as { items: Finding[] };
  return { code, findings: items.filter(({ check }) => checks.includes(check)) };
}

async function signedIn(answer: ConstructorParameters<typeof FakeDaemon>[0]): Promise<string> {
  gateway = new FakeDaemon(answer);
  await gateway.listen(0);
  const address = `http://127.0.0.1:${gateway.port}`;
  const team = { gateway: address, api_key: gateway.apiKey, project: gateway.project };
  gateway.write('credentials.json', { profiles: { team }, current: 'team' });
  return address;
}

describe('svc doctor with a gateway', () => {
  it('asks it with the stored key', async () => {
    const address = await signedIn((_, response) =>
      json(response, { project: { id: gateway.project } }),
    );
    const { findings } = await found('gateway', 'sign-in');
    expect(findings).toEqual([
      { check: 'gateway', status: 'ok', detail: `${address} answers`, fix: null },
      {
        check: 'sign-in',
        status: 'ok',
        detail: `the key is accepted for ${gateway.project}`,
        fix: null,
      },
    ]);
    expect(gateway.seen.map(({ url }) => url)).toEqual([
      '/v1/whoami',
      '/v1/ledger?limit=1',
      '/v1/usage',
    ]);
    expect(gateway.seen[0]?.headers.authorization).toBe(`Bearer ${gateway.apiKey}`);
  });

  it('says that the key is refused', async () => {
    await signedIn((_, response) => refuse(response, 401, 'KEY_REVOKED'));
    const { code, findings } = await found('gateway', 'sign-in');
    expect(code).toBe(1);
    expect(findings).toMatchObject([
      { check: 'gateway', status: 'ok' },
      { check: 'sign-in', status: 'error', fix: 'Sign in again: svc login' },
    ]);
    expect(findings[1]?.detail).toContain('KEY_REVOKED');
    expect(JSON.stringify(findings)).not.toContain(gateway.apiKey);
  });

  it("says that it doesn't answer", async () => {
    const address = await signedIn((_, response) => json(response, {}));
    const profile = { gateway: 'http://127.0.0.1:1', api_key: gateway.apiKey, project: 'prj_1' };
    gateway.write('credentials.json', { profiles: { team: profile }, current: 'team' });
    const { code, findings } = await found('gateway', 'sign-in');
    expect(address).not.toBe(profile.gateway);
    expect(code).toBe(1);
    expect(findings).toMatchObject([{ check: 'gateway', status: 'error' }]);
    expect(findings[0]?.detail).toContain("http://127.0.0.1:1 doesn't answer: ");
  });

  it('says that no profile is left', async () => {
    await signedIn((_, response) => json(response, {}));
    gateway.write('credentials.json', { profiles: {}, current: 'team' });
    const { findings } = await found('key', 'gateway', 'sign-in');
    expect(findings).toEqual([
      {
        check: 'key',
        status: 'warning',
        detail: 'no profile left',
        fix: 'svc login, or svc up for one here.',
      },
    ]);
  });
});

describe('what svc doctor says of the replica', () => {
  const live: ReplicaReport = {
    state: 'live',
    reads: 'local',
    position: 3,
    behind: 0,
    age_ms: 900,
    offline_since: null,
    copied: null,
    detail: null,
    code: null,
    witness: { ok: true, seq: 3 },
  };

  function findings(replica: Partial<ReplicaReport> | null): Finding[] {
    gateway = new FakeDaemon(() => undefined);
    const status: Pick<DaemonStatus, 'gateway' | 'replica'> = {
      gateway: 'https://svc.example.com',
      replica: replica && { ...live, ...replica },
    };
    return checkReplica(status);
  }

  it('is nothing in local mode', () => {
    expect(findings(null)).toEqual([]);
  });

  it('is that it is live, and how far the ledger was checked', () => {
    expect(findings({})).toEqual([
      { check: 'replica', status: 'ok', detail: 'live', fix: null },
      { check: 'ledger', status: 'ok', detail: 'checked up to entry 3', fix: null },
    ]);
  });

  it('is why it is not live', () => {
    const [replica] = findings({ state: 'offline' });
    expect(replica).toMatchObject({ check: 'replica', status: 'warning' });
    expect(replica?.detail).toContain("https://svc.example.com can't be reached.");
  });

  it('is the alarm of the witness, with the way back', () => {
    const witness = { ok: false, seq: 2, reason: 'truncated', file: '/w.json' } as const;
    const [, ledger] = findings({ witness });
    expect(ledger).toMatchObject({ check: 'ledger', status: 'error' });
    expect(ledger?.detail).toContain('entries are missing at entry 2');
    expect(ledger?.fix).toBe(
      "Ask the gateway's operator. Once you know why: svc ledger verify --accept",
    );
  });
});
