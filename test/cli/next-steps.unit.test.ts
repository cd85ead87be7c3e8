import { expect, it, onTestFinished } from 'vitest';
import { nextSteps } from '../../cli/view/next-steps.ts';
import { storeClientProfile } from '../../cli/signin/profiles.ts';
import { resolveHome } from '../../daemon/home.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { FakeClient, fakeContext } from './tools/fakes.ts';

const ADD = 'svc source add github --verification github';
const ASK = 'svc ask approval deploy "Deploy v2" && echo deployed';
const ATTACH = ['svc mcp install claude-code', 'svc open'];
const GITHUB = { name: 'hub', type: 'webhook', verification: 'github' };

const USED_AT = '2026-01-02T11:00:00.000Z';

interface Project {
  readonly sources?: readonly object[];
  /** Whether its sources have received anything. */
  readonly used?: boolean;
  readonly pending?: number;
  readonly requests?: number;
}

function stepsOf({ sources = [], used = false, pending = 0, requests = 0 }: Project) {
  const client = new FakeClient({
    'GET /v1/sources': () => ({
      items: sources.map((source) => ({ ...source, last_event_at: used ? USED_AT : null })),
    }),
    // Only pending ones, unless another status is asked for.
    'GET /v1/inbox': () => ({ items: Array.from({ length: pending }, () => ({})) }),
    'GET /v1/requests': () => ({ items: Array.from({ length: requests }, () => ({})) }),
  });
  return nextSteps(fakeContext({ client }).context);
}

it.each<[string, Project, readonly string[]]>([
  ['nothing', {}, [ADD, 'svc trigger github.pull_request.opened', 'svc inbox wait', ASK]],
  [
    'a source',
    { sources: [GITHUB] },
    ['svc trigger github.pull_request.opened --source hub', 'svc inbox wait', ASK, ATTACH[0] ?? ''],
  ],
  [
    'an email source',
    { sources: [{ name: 'mail', type: 'email', verification: 'none' }] },
    ['svc trigger email', 'svc inbox wait', ASK, ATTACH[0] ?? ''],
  ],
  [
    'a pending event',
    { sources: [GITHUB], used: true, pending: 1 },
    ["svc inbox work --exec 'echo $SVC_EVENT_TYPE' --max 1", ASK, ...ATTACH],
  ],
  ['all of it', { sources: [GITHUB], used: true, requests: 1 }, ATTACH],
])('suggests what is still to do in a project with %s', async (_, project, steps) => {
  expect(await stepsOf(project)).toEqual(steps);
});

it('suggests everything where the key may read nothing', async () => {
  expect(await nextSteps(fakeContext({ client: new FakeClient({}) }).context)).toHaveLength(4);
});

it('leaves out mcp install where a client is set up', async () => {
  const home = temporaryFolder();
  onTestFinished(home.remove);
  const { context } = fakeContext({
    client: new FakeClient({
      'GET /v1/sources': () => ({ items: [{ ...GITHUB, last_event_at: USED_AT }] }),
      'GET /v1/inbox': () => ({ items: [] }),
      'GET /v1/requests': () => ({ items: [{}] }),
    }),
  });
  const own = { ...context, home: resolveHome({ SVC_HOME: home.path }) };
  expect(await nextSteps(own)).toEqual(ATTACH);
  const profile = {
    gateway: null,
    project: 'prj_0123456789abcdef',
    api_key: 'svc_live_x',
    client: 'mcp: codex on laptop',
  };
  storeClientProfile(own.home.credentialsFile, 'mcp-codex', profile, undefined);
  expect(await nextSteps(own)).toEqual(['svc open']);
});
