import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERROR_CODES, type ErrorCode } from '../../shared/lib/errors.ts';
import { Contract } from '../surface/contract.ts';
import { wholeDocument } from '../surface/doors/document.ts';
import { openApiText } from '../surface/files.ts';
import { routesOf, type DescribedRoute } from './described.ts';
import type { Known } from './from-schema.ts';
import { FuzzedGateway, type Got } from './fuzzed-gateway.ts';
import { filledProject } from './project.ts';
import { hostileRequest, validRequest, type WireRequest } from './requests.ts';
import { fuzz, unmet, HUNG_MS } from './runs.ts';

/** One never ends; the others have tests of their own. */
const ELSEWHERE = new Set([
  'replica_changes',
  'mcp',
  'mcp_read_only',
  'webhook_receive',
  'webhook_greet',
  'webhook_options',
]);
const ROUTES = routesOf(JSON.parse(openApiText())).filter(({ name }) => !ELSEWHERE.has(name));
const OPERATIONS = ROUTES.filter(
  ({ path }) => path.startsWith('/v1/') && !path.includes('replica'),
);

let gateway: FuzzedGateway;
let contract: Contract;
let known: Known;
beforeAll(async () => {
  gateway = await FuzzedGateway.start();
  const document = await gateway.send({
    method: 'GET',
    target: '/v1/openapi.json',
    key: null,
  });
  contract = new Contract(wholeDocument(document.json));
  known = await filledProject(gateway);
});
afterAll(() => gateway.stop());

/** Deletes come last: until then the others find what they're about. */
const routes = (all: readonly DescribedRoute[]) =>
  all
    .toSorted((one, other) => Number(one.method === 'DELETE') - Number(other.method === 'DELETE'))
    .map((route) => [`${route.method} ${route.path}`, route] as const);

function send({ route, target, headers, body }: WireRequest): Promise<Got> {
  const key = route.isKeyed ? gateway.apiKey : null;
  return gateway.send({ method: route.method, target, headers, body, key });
}

interface ErrorBody {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly details?: {
      readonly fields?: readonly { readonly path: string; readonly message: string }[];
    };
  };
}

/** False if its parameters make it match another route, or none. */
function isOn({ path }: DescribedRoute, target: string): boolean {
  const [written = ''] = target.split('?', 1);
  const pattern = path.replaceAll(/\{(?:path|key)\}/g, '.+').replaceAll(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${pattern}$`).test(written) && !hasDots(written);
}

/** Refused as such, before anything is looked at. */
function hasDots(path: string): boolean {
  return /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i.test(path);
}

/** What must not be, whatever was asked. */
function faultsOf(request: WireRequest, got: Got): string[] {
  const { route, target } = request;
  const { status, json, headers, bytes } = got;
  const type = (headers['content-type'] ?? '').split(';', 1)[0];
  const isJson = type === 'application/json' && route.method !== 'HEAD';
  const faults = [
    ...unmet({
      'it is answered': status >= 200 && status < 500,
      'it has an id': /^\S{10,}$/.test(String(headers['x-request-id'])),
      'no header came from outside': headers['x-injected'] === undefined,
      'no line of code is shown': !/\n {4}at |node_modules|\.ts:\d/.test(bytes.toString()),
    }),
    ...(isJson && isOn(route, target) ? contract.faults(route.name, status, json) : []),
    ...(isJson && status >= 400 ? errorFaults(json) : []),
  ];
  return faults.map((fault) => `${fault}: ${status} ${bytes.toString().slice(0, 500)}`);
}

function errorFaults(json: unknown): string[] {
  const { error } = json as ErrorBody;
  return unmet({
    'the code is known': ERROR_CODES.includes(error.code),
    'it is no fault of ours': error.code !== 'INTERNAL' && error.code !== 'UNAVAILABLE',
    'it has a message': error.message !== '',
  });
}

describe('requests as the document wants them', () => {
  const succeeded = new Set<string>();

  it.each(routes(OPERATIONS))(
    '%s are answered as it promises',
    async (_name, route) => {
      const fault = await fuzz(validRequest(route, known), 12, async (request) => {
        const got = await send(request);
        if (got.status < 300) succeeded.add(route.name);
        return faultsOf(request, got);
      });
      expect(fault).toBeNull();
    },
    HUNG_MS,
  );

  it('are not all refused', () => {
    // Some want a decision of a person, a sign-in or a delivery first.
    expect(succeeded.size).toBeGreaterThan(OPERATIONS.length * 0.7);
  });
});

describe('a body', () => {
  const TOO_LARGE = Buffer.alloc(3 * 1024 * 1024, ' ');

  it('that is too large or compressed is refused with what is documented', async () => {
    const faults: string[] = [];
    for (const route of ROUTES.filter(({ bodies }) => bodies.length > 0)) {
      // Uploads end when their time is over, and tell nobody why before.
      if (route.name === 'file_upload') continue;
      const target = route.path.replaceAll(/\{\w+\}/g, 'x');
      const type = { 'content-type': route.bodies[0]?.type ?? '' };
      const requests: WireRequest[] = [
        {
          route,
          target,
          headers: { ...type, 'content-encoding': 'gzip' },
          body: Buffer.from('{}'),
        },
        { route, target, headers: type, body: TOO_LARGE },
      ];
      for (const request of requests) {
        const got = await send(request);
        const found = [...faultsOf(request, got), ...unmet({ 'it is refused': got.status >= 400 })];
        faults.push(...found.map((fault) => `${route.name}: ${fault}`));
      }
    }
    expect(faults).toEqual([]);
  });
});

describe('hostile requests', () => {
  it.each(routes(ROUTES))(
    '%s are refused in words, and change nothing',
    async (_name, route) => {
      const fault = await fuzz(hostileRequest(route, known), 22, async (request) => {
        let faults: string[] = [];
        const held = await gateway.unheld(async () => {
          const before = await gateway.head();
          const got = await send(request);
          faults = [...faultsOf(request, got), ...(await refusalFaults(request, got, before))];
        });
        return [...faults, ...held];
      });
      expect(fault).toBeNull();
      expect(gateway.isAlive).toBe(true);
    },
    HUNG_MS,
  );
});

const KEY_REUSED = 'This key was used for another call.';

/** The faults of an input's refusal: it must name the field and change nothing. */
async function refusalFaults(request: WireRequest, got: Got, before: number): Promise<string[]> {
  if (got.status !== 400 || request.route.method === 'HEAD') return [];
  const { code, details } = (got.json as ErrorBody).error;
  if (code !== 'VALIDATION_FAILED') return [];
  const fields = details?.fields ?? [];
  const named = fields.map(({ path }) => path);
  const { wrong, route } = request;
  // A body that is too deep, or no object, is refused whole; a key of another call before a policy is read.
  const isWhole =
    named.includes('') || fields.some(({ message }) => message.startsWith(KEY_REUSED));
  const mustName = wrong !== undefined && isWrong(request) && !isWhole;
  const target = `/v1/ledger?limit=100&op=${route.name}`;
  const { items } = await gateway.call<{ items: { seq: number }[] }>('GET', target);
  return unmet({
    'something is named': fields.length > 0,
    'every problem is told': fields.every(({ message }) => message !== ''),
    [`${wrong} is named by ${named.join()}`]:
      !mustName || named.some((path) => path.startsWith(wrong ?? '')),
    'nothing is in the ledger': items.every(({ seq }) => seq <= before),
  });
}

/** Whether the published schema itself forbids the changed value, rather than a rule about its meaning. */
function isWrong({ route, target, body, wrong }: WireRequest): boolean {
  const { method, bodies } = route;
  const fields: unknown = JSON.parse(body?.toString() ?? '{}');
  const carried = { body: fields, type: bodies.at(-1)?.type ?? '' };
  const faults = contract.requestFaults(route.name, { method, path: target, carried });
  return faults.some((fault) => fault.startsWith(`/${wrong} `) || fault.includes('additional'));
}
