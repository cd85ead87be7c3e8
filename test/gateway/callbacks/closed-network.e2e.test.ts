import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { required } from '../../helpers/require.ts';
import type { ClosedNetworkReport } from './closed-network.ts';

const UNSHARE = 'unshare';
/** All addresses lead back, so that no attempt leaves the machine and none is lost. */
const SETUP = [
  'ip link set lo up',
  'ip route add local default dev lo',
  'ip -6 route add local default dev lo',
].join(' && ');
const CHILD = fileURLToPath(new URL('closed-network.ts', import.meta.url));

function inClosedNetwork(...command: readonly string[]): string {
  const rights = process.geteuid?.() === 0 ? [] : ['--map-root-user'];
  const args = ['--net', ...rights, 'sh', '-c', `${SETUP} && exec "$@"`, 'sh', ...command];
  return execFileSync(UNSHARE, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

function isPossible(): boolean {
  try {
    return inClosedNetwork('echo', 'ready') === 'ready\n';
  } catch {
    return false;
  }
}

const ready = required(
  'hostile callbacks in a closed network',
  isPossible(),
  'no network namespace can be made here (needs unshare, ip and the right to)',
);

describe.runIf(ready)('in a network where every address answers', () => {
  let report: ClosedNetworkReport;
  beforeAll(() => {
    const text = inClosedNetwork(process.execPath, '--import', 'tsx', CHILD);
    report = JSON.parse(text) as ClosedNetworkReport;
  });

  it('none of the hostile URLs and names gets through', () => {
    expect(report.tried).toBeGreaterThan(180);
    expect(report.notRefused).toEqual([]);
    expect(report.reached).toEqual([]);
  });

  it('they are stopped by the guard alone', () => {
    expect(report.answering).toBeGreaterThan(60);
    expect(report.reachedWithoutGuard).toBeGreaterThan(90);
  });

  it('public names and addresses are reached where they are', () => {
    expect(report.publicReached).toEqual(['93.184.215.14', '8.8.8.8', '2606:4700::1111']);
  });

  it('a name is called at its public address, and no more once it has a private one', () => {
    expect(report.rebindingReached).toEqual(['93.184.215.14']);
    expect(report.rebinding).toMatchObject([
      { kind: 'failed', guard: false },
      { kind: 'failed', guard: true },
      { kind: 'failed', guard: true },
    ]);
  });
});
