import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestGateway } from '../../helpers/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({ signIn: true });
});
afterAll(() => gateway.stop());

const PLACES = [
  '',
  '.well-known/oauth-protected-resource',
  '.well-known/oauth-authorization-server',
  'oauth/token',
  'oauth/register',
  'oauth/revoke',
  'ui',
  'ui/authorize',
  'ui/sign-in',
  'ui/open',
  'ui/join',
  'ui/live',
  'ui/p/acme/requests',
  'ui/p/acme/ledger',
  'a',
  'c',
  's',
  'w',
  'u',
  'f',
  'l',
  'm',
  'mcp',
  'mcp/readonly',
  'v1',
  'v1/kv',
  'v1/files',
  'v1/requests',
  'v1/ui/links',
  'v1/openapi.json',
];

/** What no URL parser, decoder or pattern expects. */
const ENDS = [
  '//[',
  '/[',
  '//',
  '/%',
  '/%zz',
  '/%00',
  '/%ff%fe',
  '/%ed%a0%80',
  '/\\\\evil.example',
  '//evil.example:99999',
  '//user:pass@[::1',
  '/..%2f..',
  '?%',
  '?=[&[]=%e2%82&a[b]=%',
  '?cursor=%ff&limit=1e999&tools=%',
  '?step=%00&late=__proto__&told=AAAA',
  '?client_id=https://[&redirect_uri=//[&resource=//[&response_type=code',
  `/${'a'.repeat(3000)}`,
];

const HEADERS = {
  authorization: 'Bearer svc_live_%ff',
  cookie: 'svc_ui=%ff; svc_ui_app=////; =; a==; __proto__=1',
  origin: 'http://[',
  'sec-fetch-site': '[',
  'idempotency-key': '\u00ff',
  'content-type': 'application/x-www-form-urlencoded; charset=[',
  'accept-encoding': ';;;q=,,',
  'if-none-match': '"',
  'x-service-agent': '%ff/[',
  range: 'bytes=--1,[',
};

/** The status of a request whose target is sent as it is written. */
function statusOf(method: string, path: string, headers: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const body = '%=[&csrf=%ff&grant_type=refresh_token&refresh_token=[';
    const sent = request(gateway.url, { method, path, headers: { ...headers } });
    sent.on('response', (answer) => {
      answer.destroy();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end(method === 'POST' ? body : undefined);
  });
}

it.each([
  ['GET', {}],
  ['POST', HEADERS],
])(
  'no address is answered with a fault of ours, however it is written: %s',
  async (method, headers) => {
    const faults: string[] = [];
    for (const place of PLACES) {
      const looks = ENDS.map(async (end) => {
        const status = await statusOf(method, `/${place}${end}`, headers);
        if (status >= 500) faults.push(`${status} /${place}${end}`);
      });
      await Promise.all(looks);
    }
    expect(faults).toEqual([]);
  },
);

it('a metadata address that no URL parser takes is not there', async () => {
  expect(await statusOf('GET', '/.well-known/oauth-protected-resource//[', {})).toBe(404);
});
