import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Machine } from './signin/machine.ts';

const KEY = 'svc_live_0123456789abcdef';
const GATEWAY = 'https://svc.example.com';

let machine: Machine;
beforeEach(() => {
  machine = new Machine();
});
afterEach(() => machine.remove());

function storeTeam(): void {
  const team = { gateway: GATEWAY, api_key: KEY, project: 'prj_1' };
  machine.store({ profiles: { team }, current: 'team' });
}

/** What a shell has in its environment after evaluating these lines. */
function evaluated(lines: string): string {
  const script = 'eval "$1"; echo "$SVC_GATEWAY $SVC_API_KEY"';
  return execFileSync('sh', ['-c', script, 'sh', lines], { env: {}, encoding: 'utf8' }).trim();
}

describe('svc env', () => {
  it('prints where the variables come from, and the key only on request', async () => {
    storeTeam();
    const { code, stdout } = await machine.svc(['env']);
    expect(code).toBe(0);
    const from = `profile team in ${machine.credentialsFile}`;
    expect(stdout.split('\n').slice(0, 3)).toEqual([
      `# SVC_GATEWAY: of ${from}`,
      `export SVC_GATEWAY=${GATEWAY}`,
      `# SVC_API_KEY: of ${from}; not shown. To print it: svc env --show-key`,
    ]);
    expect(stdout).not.toContain(KEY);
    expect(evaluated(stdout)).toBe(GATEWAY);
    const shown = await machine.svc(['env', '--show-key']);
    expect(evaluated(shown.stdout)).toBe(`${GATEWAY} ${KEY}`);
  });

  it('names the environment where the values come from there', async () => {
    storeTeam();
    const env = {
      SVC_API_KEY: 'svc_live_other',
      SVC_GATEWAY: 'https://b.example/$(id)',
      SVC_AGENT: 'bot',
    };
    const { stdout } = await machine.svc(['env', '--show-key'], { env });
    expect(stdout).toContain(
      '# SVC_API_KEY: from the environment\nexport SVC_API_KEY=svc_live_other\n',
    );
    expect(stdout).toContain("export SVC_GATEWAY='https://b.example/$(id)'\n");
    expect(stdout).toContain('# SVC_AGENT: from the environment\nexport SVC_AGENT=bot\n');
  });

  it('answers JSON without the key', async () => {
    storeTeam();
    const { stdout } = await machine.svc(['env', '--json']);
    const { variables } = JSON.parse(stdout) as { variables: { name: string; value: unknown }[] };
    expect(variables.slice(0, 2)).toMatchObject([
      { name: 'SVC_GATEWAY', value: GATEWAY },
      { name: 'SVC_API_KEY', value: null },
    ]);
  });

  it('says so without a daemon or a key', async () => {
    const { code, stdout } = await machine.svc(['env']);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^# SVC_GATEWAY: no daemon .*svc up\n# SVC_API_KEY: no key is stored/),
    ]);
    expect((await machine.svc(['env', '--show-key'])).code).toBe(4);
  });
});
