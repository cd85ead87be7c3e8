import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LATER_FIELDS } from '../../cli/call/answers.ts';
import { run } from '../../cli/run.ts';
import { isObject } from '../../shared/lib/guards.ts';
import { temporaryFolder, TestGateway } from '../helpers/gateway.ts';
import { listenHttp } from './tools/fakes.ts';
import { TextSink } from './fake-output.ts';

let gateway: TestGateway;
let request: string;
let key: string;
const folder = temporaryFolder();

beforeAll(async () => {
  gateway = await TestGateway.start();
  await gateway.addSource({ name: 'open' });
  const ask = { action: 'deploy', summary: 'Deploy v2', wait_seconds: 0 };
  request = String((await gateway.call('POST', '/v1/requests', { body: ask })).body['request_id']);
  const made = { name: 'ci', scopes: ['inbox:read'] };
  key = String((await gateway.call('POST', '/v1/keys', { body: made })).body['id']);
});
afterAll(async () => {
  await gateway.stop();
  folder.remove();
});

/** Answers what the gateway answers, without these fields. */
function older(fields: readonly string[]) {
  return (incoming: IncomingMessage, response: ServerResponse): void => {
    void passOn(incoming, response, fields);
  };
}

async function passOn(
  incoming: IncomingMessage,
  response: ServerResponse,
  fields: readonly string[],
): Promise<void> {
  const { method = '', url = '', headers } = incoming;
  const { authorization = '', 'content-type': type = '', 'idempotency-key': id } = headers;
  const body = method === 'GET' ? null : await text(incoming);
  const sent = {
    authorization,
    'content-type': type,
    ...(id && { 'idempotency-key': String(id) }),
  };
  const answer = await fetch(gateway.url + url, { method, headers: sent, body });
  response.writeHead(answer.status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(without(await answer.json(), fields)));
}

function without(value: unknown, fields: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => without(one, fields));
  if (!isObject(value)) return value;
  const left = Object.entries(value).filter(([name]) => !fields.includes(name));
  return Object.fromEntries(
    left.map(([name, one]) => [name, name === 'items' ? without(one, fields) : one]),
  );
}

const LINES: Readonly<Record<keyof typeof LATER_FIELDS, () => string>> = {
  key_list: () => 'key list',
  key_revoke: () => `key revoke ${key} --yes`,
  request_list: () => 'request list',
  request_status: () => `request status ${request}`,
  route_list: () => 'route list',
  source_get: () => 'source get open',
  source_list: () => 'source list',
  source_sign: () => 'trigger webhook --source open',
  usage: () => 'usage',
  whoami: () => 'channel add email ops@example.com',
};

it.each(Object.entries(LATER_FIELDS))(
  '%s: a command shows what an older server answers',
  async (name, fields) => {
    const server = await listenHttp(older(fields));
    const [stdout, stderr] = [new TextSink(true, 120), new TextSink()];
    const env = {
      SVC_HOME: folder.path,
      SVC_GATEWAY: server.url,
      SVC_API_KEY: gateway.apiKey,
      NO_COLOR: '1',
    };
    const line = LINES[name as keyof typeof LATER_FIELDS]();
    const { signal } = new AbortController();
    const code = await run(line.split(' '), { env, stdout, stderr, signal });
    await server.close();
    expect({ code, errors: stderr.text.match(/^[A-Z_]+: .*/gm) }).toEqual({
      code: name === 'request_status' ? 6 : 0,
      errors: null,
    });
    expect(stdout.text).not.toMatch(/undefined|\bNaN\b/);
  },
);
