import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Machine } from './signin/machine.ts';

const SAID = 'The daemon uses the stored profile. These variables affect only commands: ';

let machine: Machine;
beforeEach(() => {
  machine = new Machine();
});
afterEach(() => machine.remove());

/** Ends before a daemon starts, as there is no such profile. */
function up(env: NodeJS.ProcessEnv) {
  return machine.svc(['up', '--profile', 'nope'], { env });
}

describe('svc up', () => {
  it.each([
    [{ SVC_API_KEY: 'svc_live_x' }, 'SVC_API_KEY.'],
    [{ SVC_API_KEY: 'svc_live_x', SVC_GATEWAY: 'https://gw.example' }, 'SVC_API_KEY, SVC_GATEWAY.'],
  ])('says that the daemon does not follow %j', async (env, names) => {
    const { stderr } = await up(env);
    expect(stderr.split('\n')[0]).toBe(SAID + names);
    expect(stderr).not.toContain('svc_live_x');
  });

  it('says nothing where neither is set', async () => {
    const { stderr } = await up({});
    expect(stderr).toContain('No profile "nope".');
    expect(stderr).not.toContain('for commands alone');
  });
});
