import { afterEach, beforeEach, expect, it } from 'vitest';
import { HttpClient, operationCalls, type Client } from '../../../cli/call/client.ts';
import { agentKey, type KeyWish } from '../../../cli/mcp/agent-key.ts';
import { storedProfiles } from '../../../cli/signin/profiles.ts';
import { resolveHome } from '../../../daemon/home.ts';
import { TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
import { fakeContext } from './fakes.ts';

const HOLDER = { profile: 'mcp-claude-desktop', label: 'mcp: claude-desktop on laptop' };
const USUAL: KeyWish = { scopes: null, diskPrefixes: null, readOnly: false };

let gateway: TestGateway;
let folder: ReturnType<typeof temporaryFolder>;
beforeEach(async () => {
  gateway = await TestGateway.start();
  folder = temporaryFolder();
});
afterEach(async () => {
  await gateway.stop();
  folder.remove();
});

const home = () => resolveHome({ SVC_HOME: folder.path });

function adminClient(): Client {
  const env = { SVC_GATEWAY: gateway.url, SVC_API_KEY: gateway.apiKey };
  return new HttpClient({ home: home(), env, warn: () => undefined });
}

function start(client = adminClient(), wish = USUAL) {
  const { context } = fakeContext({ client, env: {} });
  return agentKey({ ...context, home: home() }, HOLDER, wish);
}

/** A client that is told of its new key only after `meanwhile` has ended. */
function tellingLate(meanwhile: () => Promise<unknown>): Client {
  const client = adminClient();
  const send: Client['send'] = async (method, path, options) => {
    const answer = await client.send(method, path, options);
    if (method === 'POST' && path === '/v1/keys') await meanwhile();
    return answer;
  };
  const { apiKey, gateway: address } = client;
  const raw: Client['raw'] = (...call) => client.raw(...call);
  return { apiKey, gateway: address, raw, send, call: operationCalls({ send }) };
}

async function workingKeys(): Promise<string[]> {
  const { body } = await gateway.call<{ items: { name: string; status: string; last4: string }[] }>(
    'GET',
    '/v1/keys',
  );
  return body.items
    .filter(({ name, status }) => name === HOLDER.label && status === 'active')
    .map(({ last4 }) => last4);
}

it('two first starts of a client at the same moment leave one key, which both use', async () => {
  let other = '';
  const client = tellingLate(async () => {
    other ||= (await start()).apiKey;
  });
  const { apiKey, isNew } = await start(client);
  expect([apiKey, isNew]).toEqual([other, false]);
  expect(await workingKeys()).toEqual([other.slice(-4)]);
  expect(storedProfiles(home().credentialsFile).profiles[HOLDER.profile]?.api_key).toBe(other);
});

it('two starts that replace a key at the same moment leave one key, as the later one wishes', async () => {
  await start();
  const readOnly = { ...USUAL, readOnly: true };
  let isFirst = true;
  const client = tellingLate(async () => {
    if (!isFirst) return;
    isFirst = false;
    await start(adminClient(), { ...USUAL, diskPrefixes: ['team-a/'] });
  });
  const { apiKey, scopes } = await start(client, readOnly);
  expect(scopes).toEqual(['ledger:read', 'inbox:read', 'disk:read']);
  expect(await workingKeys()).toEqual([apiKey.slice(-4)]);
});
