import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../shared/operations/index.ts';
import { SCOPES } from '../../shared/lib/scopes.ts';
import { openApiText } from '../surface/files.ts';
import { routesOf, type DescribedRoute } from './described.ts';
import type { Known } from './from-schema.ts';
import { FuzzedGateway, type Got } from './fuzzed-gateway.ts';
import { filledProject } from './project.ts';
import { hostileRequest, validRequest, type WireRequest } from './requests.ts';
import { fuzz, unmet, HUNG_MS } from './runs.ts';

const ROUTES = routesOf(JSON.parse(openApiText())).filter(
  ({ isKeyed, path }) => isKeyed && !path.startsWith('/mcp'),
);
const OPERATIONS = ROUTES.filter(({ name }) => operations.some((one) => one.name === name));

let gateway: FuzzedGateway;
let known: Known;
let revoked: string;
const byScope = new Map<string, string>();
beforeAll(async () => {
  gateway = await FuzzedGateway.start();
  known = await filledProject(gateway);
  // A lease that ran out meanwhile would be an entry of the ledger.
  const [, , event_id] = known['event_id'] ?? [];
  await gateway.call('POST', '/v1/inbox/extend', { event_id, lease_seconds: 3600 });
  for (const scope of SCOPES) byScope.set(scope, (await newKey(scope)).api_key);
  const { id, api_key } = await newKey('disk');
  await gateway.call('DELETE', `/v1/keys/${id}`);
  revoked = api_key;
});
afterAll(() => gateway.stop());

function newKey(...scopes: string[]): Promise<{ id: string; api_key: string }> {
  return gateway.call('POST', '/v1/keys', { name: 'fuzz', scopes });
}

const routes = (all: readonly DescribedRoute[]) =>
  all.map((route) => [`${route.method} ${route.path}`, route] as const);

/** Sent with this header in the place of the one with a key. */
function sendAs(request: WireRequest, authorization: string | null): Promise<Got> {
  const { route, target, headers, body } = request;
  return gateway.send({
    method: route.method,
    target,
    headers: { ...headers, ...(authorization !== null && { authorization }) },
    body,
    key: null,
  });
}

/** A key with one character changed, missing or doubled. */
const almostKey = fc.nat(200).chain((at) =>
  fc.constantFrom('', 'x', 'é', ' ', 'AA').map((text) => {
    const place = at % gateway.apiKey.length;
    return gateway.apiKey.slice(0, place) + text + gateway.apiKey.slice(place + 1);
  }),
);

const junk = fc
  .oneof(
    fc.constantFrom(
      'Bearer',
      'Bearer ',
      'Basic YTpi',
      'Bearer null',
      'Bearer undefined',
      'Bearer svc_live_',
      `Bearer svc_live_${'0'.repeat(54)}`,
      `Bearer ${'x'.repeat(7000)}`,
      'Bearer \u00ff\u00fe',
      "Bearer ' OR 1=1 --",
      'Bearer __proto__',
    ),
    almostKey.map((key) => `Bearer ${key}`),
    fc.string({ maxLength: 60 }).map((text) => `Bearer ${text}`),
  )
  .map((text) => text.replace(/[^\t\u0020-\u007e\u0080-\u00ff]/g, ''))
  .filter((text) => text.trim().replace(/\s+/g, ' ') !== `Bearer ${gateway.apiKey}`);

const UNAUTHENTICATED = {
  error: {
    code: 'UNAUTHENTICATED',
    message: 'Missing or invalid API key.',
    hint: 'Pass the key as `Authorization: Bearer <key>`. GET /llms.txt says how to get one.',
  },
};
const KEY_REVOKED = {
  error: {
    code: 'KEY_REVOKED',
    message: 'This API key has been revoked.',
    hint: 'Ask the owner for a new key.',
  },
};

/** No faults if it's exactly this answer. */
function faultsBut(got: Got, status: number, body: unknown): string[] {
  const isSo = got.status === status && isDeepStrictEqual(got.json, body);
  return isSo ? [] : [`${got.status} ${got.bytes.toString().slice(0, 500)}`];
}

describe('without a key that counts', () => {
  it.each(routes(ROUTES))(
    '%s says so and nothing more, whatever else it is sent',
    async (_name, route) => {
      const before = await gateway.head();
      const request = fc.oneof(validRequest(route, known), hostileRequest(route, known));
      const fault = await fuzz(fc.tuple(request, fc.option(junk)), 8, async ([one, sent]) => {
        const got = await sendAs(one, sent);
        // An odd path may match another route, or none.
        return got.status === 404 || isDots(one.target) ? [] : faultsBut(got, 401, UNAUTHENTICATED);
      });
      expect(fault).toBeNull();
      expect(await gateway.head()).toBe(before);
    },
    HUNG_MS,
  );
});

/** Such paths are refused before anything is looked at. */
function isDots(target: string): boolean {
  return /(?:^|\/)(?:\.|%2e){1,2}(?:[/?]|$)/i.test(target);
}

describe('with a key that was revoked', () => {
  it.each(routes(OPERATIONS))(
    '%s says so',
    async (_name, route) => {
      const fault = await fuzz(validRequest(route, known), 3, async (one) =>
        faultsBut(await sendAs(one, `Bearer ${revoked}`), 401, KEY_REVOKED),
      );
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );
});

describe('with a key of another scope', () => {
  const scoped = OPERATIONS.filter(({ name }) => scopeOf(name) !== 'any');

  it.each(routes(scoped))(
    '%s names the scope before it looks at the input',
    async (_name, route) => {
      const scope = scopeOf(route.name);
      const refusal = {
        error: {
          code: 'SCOPE_MISSING',
          message: 'This key lacks a required scope.',
          hint: `Create a key with the scope \`${scope}\` (needs an admin key).`,
          details: { scope },
        },
      };
      const others = SCOPES.filter((one) => one !== scope && one !== 'disk:read');
      const before = await gateway.head();
      const requests = fc.tuple(validRequest(route, known), fc.constantFrom(...others));
      const fault = await fuzz(requests, 6, async ([one, other]) =>
        faultsBut(await sendAs(one, `Bearer ${byScope.get(other)}`), 403, refusal),
      );
      expect(fault).toBeNull();
      expect(await gateway.head()).toBe(before);
    },
    HUNG_MS,
  );
});

function scopeOf(name: string): string | undefined {
  return operations.find((one) => one.name === name)?.scope;
}

describe('with a key of another project', () => {
  it.each(routes(OPERATIONS))(
    '%s finds nothing of this one, and changes nothing',
    async (_name, route) => {
      const before = await gateway.head();
      const ids = ['event_id', 'batch_id', 'id', 'approval', 'approvers']
        .flatMap((name) => known[name] ?? [])
        .map(String);
      const fault = await fuzz(validRequest(route, known), 6, async (one) => {
        const { status, bytes } = await sendAs(one, `Bearer ${gateway.otherKey}`);
        // A filter by an unknown id finds nothing; other inputs may be invalid anyway.
        const right = route.name === 'inbox_wait' ? [200, 400] : [404, 400];
        const names = ids.some((id) => one.target.includes(id));
        // An id that was sent may come back in words; nothing else of the project may.
        const sent = one.target + (one.body?.toString() ?? '');
        const shown = [gateway.projectId, ...ids].filter((id) => bytes.includes(id));
        return unmet({
          [`${status} is an answer`]: status < 500 && (!names || right.includes(status)),
          [`${shown.join()} is not shown`]: shown.every((id) => sent.includes(id)),
        });
      });
      expect(fault).toBeNull();
      expect(await gateway.head()).toBe(before);
    },
    HUNG_MS,
  );
});
