import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { FakeClock, temporaryFolder, TestGateway } from '../helpers/gateway.ts';
import { FakeDaemon, json } from './fake-daemon.ts';
import { TextSink } from './fake-output.ts';

const DAY_MS = 86_400_000;

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly detail: string;
  readonly fix: string | null;
}

/** What `svc doctor` says of the clock. */
async function clocks(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  await run(['doctor', '--json'], { env, stdout, stderr, signal: new AbortController().signal });
  const { items } = JSON.parse(stdout.text) as { items: Finding[] };
  return items.filter(({ check }) => check === 'clock');
}

const AGREES = { check: 'clock', status: 'ok', detail: 'agrees', fix: null };

describe('svc doctor, of the clock of a gateway', () => {
  let home: ReturnType<typeof temporaryFolder>;
  let gateway: TestGateway;
  let clock: FakeClock;
  beforeEach(async () => {
    home = temporaryFolder();
    clock = new FakeClock(Date.now());
    gateway = await TestGateway.start({ clock });
    await signIn(gateway.apiKey);
  });
  afterEach(async () => {
    await gateway.stop();
    home.remove();
  });

  async function signIn(api_key: string): Promise<void> {
    const team = { gateway: gateway.url, api_key, project: gateway.projectId };
    const text = JSON.stringify({ profiles: { team }, current: 'team' });
    writeFileSync(join(home.path, 'credentials.json'), text, { mode: 0o600 });
  }
  const env = (): NodeJS.ProcessEnv => ({ SVC_HOME: home.path });
  const write = () => gateway.call('PUT', '/v1/kv/a', { body: 1 });

  it('says that it agrees with ours, and with what it has written', async () => {
    await write();
    expect(await clocks(env())).toEqual([AGREES]);
  });

  it('says that it was ahead while its ledger carries a time to come', async () => {
    clock.advance(41 * DAY_MS);
    await write();
    expect(await clocks(env())).toEqual([
      {
        check: 'clock',
        status: 'warning',
        detail: expect.stringMatching(
          /^was ahead: the newest ledger entry says \d{4}-\S+Z \(in 4[01] days\)$/,
        ),
        fix: expect.stringMatching(/^If the clock is right now, do nothing: .*NTP\)\.$/),
      },
    ]);
  });

  it('compares with ours alone by a key that may not read the ledger', async () => {
    clock.advance(41 * DAY_MS);
    const body = { name: 'reader', scopes: ['inbox:read'] };
    const made = await gateway.call<{ api_key: string }>('POST', '/v1/keys', { body });
    await signIn(made.body.api_key);
    expect(await clocks(env())).toEqual([AGREES]);
  });
});

describe('svc doctor, of the clock of this machine', () => {
  let daemon: FakeDaemon;
  afterEach(() => daemon.close());

  /** A daemon in local mode whose newest entry has this time, and whose answers have that. */
  async function local(newest: number, date = Date.now()): Promise<NodeJS.ProcessEnv> {
    daemon = new FakeDaemon(({ url }, response) => {
      response.setHeader('date', new Date(date).toUTCString());
      if (url.startsWith('/_daemon/')) {
        const status = { pid: 1, instance: 'x', uptime_seconds: 1, mode: 'local' };
        json(response, { ...status, base_url: 'http://127.0.0.1:1' });
      } else json(response, { items: [{ seq: 9, at: new Date(newest).toISOString() }] });
    });
    await daemon.listen();
    return daemon.env;
  }

  it.each([
    ['agrees', 0, 0, AGREES],
    ['was ahead', 3 * DAY_MS, 0, { status: 'warning', detail: expect.stringMatching('was ahead') }],
    ['is apart', 0, 600_000, { status: 'warning', detail: expect.stringMatching(/^(599|60\d) s/) }],
  ])('says that it %s', async (_, aheadMs, apartMs, finding) => {
    const now = Date.now();
    expect(await clocks(await local(now + aheadMs, now + apartMs))).toMatchObject([finding]);
  });
});
