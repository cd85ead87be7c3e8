import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CallbackAllow } from '../../gateway/callbacks/callback-allow.ts';
import { ask, linkFor, WebVisitor } from '../gateway/web/inbox/web-visitor.ts';
import { FakeClock, TestGateway } from '../helpers/gateway.ts';
import { linkToken, tokensOf } from '../helpers/outbox.ts';

const OWNER = 'grace.hopper.1906@example.com';
const HOOK_SECRET = 'hook-secret-of-this-test-1815';
const NEW_HOOK_SECRET = 'new-hook-secret-of-this-test-1843';

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await TestGateway.start({
    signIn: true,
    callbackAllow: CallbackAllow.parse('127.0.0.0/8'),
    clock: new FakeClock(),
  });
  await gateway.gateway.setOwner(gateway.projectId, OWNER);
});
afterEach(() => gateway.stop());

/** What a thief of the disk gets: all files except this machine's mails and the master key. */
function stolen(): Buffer {
  const files = readdirSync(gateway.folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes('/outbox/') && !path.endsWith('/master.key'));
  return Buffer.concat(files.map((path) => readFileSync(path)));
}

type Fields = Record<string, unknown>;

async function post(path: string, body: Fields, once?: string): Promise<Fields> {
  const headers = once === undefined ? {} : { 'idempotency-key': once };
  return (await gateway.call<Fields>('POST', path, { body, headers })).body;
}

/** Uses every feature that issues a secret, and returns the secrets. */
async function secrets(): Promise<Record<string, string>> {
  const key = await post('/v1/keys', { name: 'one', scopes: ['disk'] }, 'once');
  const rotated = await post(`/v1/keys/${String(key['id'])}/rotate`, { grace_seconds: 60 }, 'two');
  const hook = await gateway.addSource({
    name: 'gh',
    verification: 'github',
    secret: HOOK_SECRET,
  });
  await gateway.deliver(hook, '{}', { 'x-hub-signature-256': 'sha256=00' });
  await post('/v1/sources/gh/rotate', { secret: NEW_HOOK_SECRET }, 'five');
  const route = await post('/v1/routes', { callback_url: 'http://127.0.0.1:9/' }, 'three');
  const callback = await post('/v1/request-callback-secret', {}, 'four');
  const upload = await gateway.call<Fields>('PUT', '/v1/files/up', {
    body: { upload: { size: 4, content_type: 'text/plain' } },
    headers: { 'content-type': 'application/vnd.service.upload+json' },
  });
  await ask(gateway);
  const decision = await linkToken(gateway.folder, 'a');
  const visitor = new WebVisitor(gateway);
  const link = await linkFor(gateway, gateway.apiKey);
  await visitor.enter(link);
  const owner = await WebVisitor.asOwner(gateway, OWNER);
  const login = await post('/v1/auth/start', { email: OWNER });
  return {
    apiKey: gateway.apiKey,
    key: String(key['api_key']),
    rotated: String(rotated['api_key']),
    hook: hook.split('/w/')[1] ?? '',
    hookSecret: HOOK_SECRET,
    newHookSecret: NEW_HOOK_SECRET,
    route: String(route['secret']),
    callback: String(callback['secret']),
    upload: String(upload.body['upload_url']).split('/u/')[1] ?? '',
    decision,
    link: link.split('/ui/open/')[1] ?? '',
    cookie: visitor.cookie?.split('=')[1] ?? '',
    ownerLink: tokensOf(gateway.folder, 'ui/sign-in').at(-1) ?? '',
    ownerCookie: owner.cookie?.split('=')[1] ?? '',
    login: String(login['login_id']),
    loginLink: await linkToken(gateway.folder, 's'),
    owner: OWNER,
  };
}

it('a stolen disk has no key, no token, no secret and no address in it, as long as the master key is elsewhere', async () => {
  const all = await secrets();
  for (const [name, secret] of Object.entries(all)) {
    expect([name, secret === 'undefined' || secret.length < 20]).toEqual([name, false]);
  }
  const bytes = stolen();
  // Proof that the search finds things.
  expect(bytes.includes('g***@example.com')).toBe(true);
  const found = Object.entries(all).filter(([, secret]) => bytes.includes(secret));
  expect(found.map(([name]) => name)).toEqual([]);
});
