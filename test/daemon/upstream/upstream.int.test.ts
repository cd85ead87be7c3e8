import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Upstream } from '../../../daemon/upstream/upstream.ts';
import type { AgentIdentity } from '../../../shared/kernel/context.ts';
import { asServiceError } from '../../../shared/lib/errors.ts';
import type { Answer, Credentials } from '../../../shared/kernel/executor.ts';
import { selfSigned } from '../../helpers/certificate.ts';
import { TestGateway } from '../../helpers/gateway.ts';
import { LossyProxy } from '../../helpers/lossy-proxy.ts';
import { operationNamed } from '../../surface/scenario.ts';

const NEVER = new AbortController().signal;
const NOBODY: AgentIdentity = { label: null, platform: 'unknown', source: 'none' };

let gateway: TestGateway;
let proxy: LossyProxy;
let upstream: Upstream;

beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  proxy = await LossyProxy.open(gateway.url);
  upstream = new Upstream(new URL(proxy.url));
});
afterEach(async () => {
  await upstream.close();
  await proxy.down();
});

interface Wanted {
  readonly credentials?: Partial<Credentials>;
  readonly agent?: AgentIdentity;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  readonly upstream?: Upstream;
  readonly timeoutMs?: number;
}

function call(name: string, input: unknown, wanted: Wanted = {}): Promise<Answer> {
  const { agent = NOBODY, idempotencyKey = null, signal = NEVER, timeoutMs } = wanted;
  return (wanted.upstream ?? upstream).call({
    operation: operationNamed(name),
    input,
    caller: { agent, idempotencyKey },
    credentials: {
      authorization: `Bearer ${gateway.apiKey}`,
      agentHeader: undefined,
      userAgent: undefined,
      requestId: 'r1',
      idempotencyKey: undefined,
      ...wanted.credentials,
    },
    signal,
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
}

async function refusal(answer: Promise<Answer>) {
  const error = await answer.then(
    () => null,
    (thrown: unknown) => asServiceError(thrown),
  );
  if (!error) throw new Error('It was not refused.');
  return { ...error.body().error, status: error.status, headers: error.headers() };
}

/** How many writes of a kind the ledger has. */
async function entriesOf(op: string): Promise<number> {
  const { body } = await gateway.call<{ items: { op: string }[] }>('GET', '/v1/ledger?limit=500');
  return body.items.filter((one) => one.op === op).length;
}

/** Who calls, as the gateway sees it. */
async function agentOf(wanted: Wanted): Promise<unknown> {
  const { value } = await call('whoami', {}, wanted);
  return (value as { agent: unknown }).agent;
}

describe('a call to a gateway', () => {
  it('is answered as the gateway answers, with the position of what was written', async () => {
    const { value, position } = await call('kv_set', { key: 'a/b', value: [1] });
    expect(value).toMatchObject({ key: 'a/b', size_bytes: 3 });
    expect(position).toBeGreaterThan(0);
    expect(await call('kv_get', { key: 'a/b' })).toMatchObject({ value: { value: [1] } });
    expect(await call('kv_get', { key: 'none' })).toEqual({ value: null });
  });

  it('keeps its connections', async () => {
    for (let n = 0; n < 10; n += 1) await call('kv_get', { key: 'a' });
    // One may not be free again yet when the next call comes.
    expect(proxy.connections).toBeLessThanOrEqual(2);
  });

  it('says who calls, as the caller did', async () => {
    expect(await agentOf({ credentials: { agentHeader: 'bob' } })).toMatchObject({
      label: 'bob',
      source: 'header',
    });
    expect(await agentOf({ credentials: { userAgent: 'claude-cli/2' } })).toMatchObject({
      platform: 'claude-code',
      source: 'user_agent',
    });
    const agent = { label: 'Codex é', platform: 'codex', source: 'mcp_client_info' } as const;
    expect(await agentOf({ agent })).toEqual({ ...agent, label: 'Codex ?' });
    expect(await agentOf({})).toEqual(NOBODY);
  });

  it('goes below the path of the base address', async () => {
    const seen: string[] = [];
    const server = await answering((request, response) => {
      seen.push(request.url ?? '');
      response.end('{}');
    });
    const below = new Upstream(new URL(`${urlOf(server)}/team/`));
    await call('kv_get', { key: 'x' }, { upstream: below });
    expect(seen).toEqual(['/team/v1/kv/x']);
    await below.close();
    server.close();
  });
});

describe('a refusal', () => {
  it('comes back as the gateway said it', async () => {
    expect(await refusal(call('inbox_claim', operationNamed('inbox_claim').example))).toMatchObject(
      {
        code: 'NOT_FOUND',
        status: 404,
        message: 'Not found.',
      },
    );
    const { value } = await call('kv_set', { key: 'v', value: 1 });
    expect(await refusal(call('kv_set', { key: 'v', value: 2, if_version: 0 }))).toMatchObject({
      code: 'PRECONDITION_FAILED',
      status: 412,
      details: { version: (value as { version: number }).version },
    });
    const authorization = 'Bearer svc_live_nonsense';
    expect(await refusal(call('kv_list', {}, { credentials: { authorization } }))).toMatchObject({
      code: 'UNAUTHENTICATED',
      headers: { 'WWW-Authenticate': 'Bearer' },
    });
  });

  it('names tools, as MCP does, though the gateway names routes', async () => {
    const { example } = operationNamed('email_status');
    expect((await refusal(call('email_status', example))).hint).toContain(' of email_send,');
  });

  it('keeps its headers, and a code that this release does not know', async () => {
    const server = await answering((_, response) => {
      const error = {
        code: 'NEW_CODE',
        message: 'New.',
        hint: 'Do so.',
        details: { retry_after: 7 },
      };
      const headers = {
        'retry-after': '7',
        'ratelimit-policy': '"key";q=600;w=60',
        'x-secret': 'y',
      };
      response.writeHead(418, headers).end(JSON.stringify({ error }));
    });
    const other = new Upstream(new URL(urlOf(server)));
    expect(await refusal(call('kv_list', {}, { upstream: other }))).toEqual({
      code: 'NEW_CODE',
      message: 'New.',
      hint: 'Do so.',
      details: { retry_after: 7 },
      status: 418,
      headers: { 'Retry-After': '7', 'RateLimit-Policy': '"key";q=600;w=60' },
    });
    await other.close();
    server.close();
  });

  it('with a status that is none is no refusal of a gateway', async () => {
    const server = await answering((_, response) => {
      const error = { code: 'NOT_FOUND', message: 'Not found.', hint: null };
      response.writeHead(999).end(JSON.stringify({ error }));
    });
    const other = new Upstream(new URL(urlOf(server)));
    expect(await refusal(call('kv_list', {}, { upstream: other }))).toMatchObject({
      code: 'UNAVAILABLE',
      status: 503,
    });
    await other.close();
    server.close();
  });

  it('leads nowhere else: the key goes to no other address', async () => {
    const seen: string[] = [];
    const elsewhere = await answering((request, response) => {
      seen.push(request.url ?? '');
      response.end('{}');
    });
    const server = await answering((_, response) => {
      response.writeHead(307, { location: `${urlOf(elsewhere)}/v1/kv` }).end();
    });
    const other = new Upstream(new URL(urlOf(server)));
    expect(await refusal(call('kv_list', {}, { upstream: other }))).toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect(seen).toEqual([]);
    await other.close();
    server.close();
    elsewhere.close();
  });

  it.each([502, 302, 200])('by something before the gateway is its silence: %i', async (status) => {
    const server = await answering((_, response) => {
      response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Not the gateway</h1>');
    });
    const other = new Upstream(new URL(urlOf(server)));
    expect(await refusal(call('kv_list', {}, { upstream: other }))).toMatchObject({
      code: 'UNAVAILABLE',
      hint: `The gateway ${urlOf(server)} didn't answer (something in front of it answered ${status}). Repeat it when the gateway is back; see \`svc status\`.`,
    });
    await other.close();
    server.close();
  });
});

describe('a connection that breaks', () => {
  it('before the answer to a write: it is sent again, and done once', async () => {
    const before = await entriesOf('kv_set');
    proxy.loseAnswersTo('PUT /v1/kv/once');
    const { value } = await call('kv_set', { key: 'once', value: 1 });
    expect(value).toMatchObject({ key: 'once' });
    expect(proxy.lost).toBe(1);
    expect(await entriesOf('kv_set')).toBe(before + 1);
  });

  it('before the answer to a read: it is sent again', async () => {
    proxy.loseAnswersTo('GET /v1/kv');
    expect(await call('kv_list', {})).toHaveProperty('value.items');
    expect(proxy.lost).toBe(1);
  });

  it('twice: the caller is told that it may have been done, and how to find out', async () => {
    proxy.loseAnswersTo('PUT /v1/kv/twice', 2);
    expect(await refusal(call('kv_set', { key: 'twice', value: 1 }))).toMatchObject({
      code: 'UNAVAILABLE',
      status: 503,
      hint: `The gateway ${proxy.url} didn't answer (the connection broke). It may have worked: check before you repeat it.`,
      details: { gateway: proxy.url, retry_after: 5 },
      headers: { 'Retry-After': '5' },
    });
    proxy.loseAnswersTo('PUT /v1/kv/twice', 2);
    const kept = call('kv_set', { key: 'twice', value: 2 }, { idempotencyKey: 'k-1' });
    expect(await refusal(kept)).toMatchObject({
      hint: expect.stringContaining('repeat it with the same idempotency key.'),
    });
    const before = await entriesOf('kv_set');
    const again = await call('kv_set', { key: 'twice', value: 2 }, { idempotencyKey: 'k-1' });
    expect(again.value).toMatchObject({ key: 'twice' });
    expect(await entriesOf('kv_set')).toBe(before);
  });

  it('while the first try is still at work: the second waits for it', async () => {
    let calls = 0;
    const server = await answering((request, response) => {
      calls += 1;
      if (calls === 1) request.socket.destroy();
      else if (calls < 4) {
        const error = { code: 'IDEMPOTENCY_IN_PROGRESS', message: 'Running.', hint: null };
        response.writeHead(409).end(JSON.stringify({ error }));
      } else response.end('{"done":true}');
    });
    const other = new Upstream(new URL(urlOf(server)));
    const { value } = await call('kv_set', { key: 'a', value: 1 }, { upstream: other });
    expect([value, calls]).toEqual([{ done: true }, 4]);
    await other.close();
    server.close();
  });

  it('and no gateway: nothing was changed, and it is named', async () => {
    await proxy.down();
    expect(await refusal(call('kv_set', { key: 'a', value: 1 }))).toMatchObject({
      code: 'UNAVAILABLE',
      hint: `The gateway ${proxy.url} can't be reached (nothing is listening there). Nothing changed: repeat it when the gateway is back; see \`svc status\`.`,
    });
  });

  it('says nothing of the key', async () => {
    await proxy.down();
    const told = JSON.stringify(await refusal(call('kv_list', {})));
    expect(told).not.toContain(gateway.apiKey);
    expect(told).toContain("can't be reached");
  });
});

describe('a gateway whose certificate is not trusted', () => {
  it('gets nothing, and the caller is told that and what to do', async () => {
    const server = createTlsServer(selfSigned('127.0.0.1'), () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const behindTls = new Upstream(new URL(url));
    const write = call('kv_set', { key: 'a', value: 1 }, { upstream: behindTls });
    const { hint } = await refusal(write);
    expect(hint).toBe(
      `The gateway ${url} can't be reached (no secure connection: DEPTH_ZERO_SELF_SIGNED_CERT; to trust your own certificate authority, start the daemon with NODE_EXTRA_CA_CERTS=FILE). Nothing changed: repeat it when the gateway is back; see \`svc status\`.`,
    );
    await behindTls.close();
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('a gateway that is silent', () => {
  it('is waited for as long as the caller has patience, and not asked again', async () => {
    let calls = 0;
    const server = await answering(() => {
      calls += 1;
    });
    const other = new Upstream(new URL(urlOf(server)));
    const asking = call('kv_list', {}, { upstream: other, timeoutMs: 2000 });
    expect(await refusal(asking)).toMatchObject({
      code: 'UNAVAILABLE',
      hint: expect.stringContaining('(it took too long to answer)'),
    });
    expect(calls).toBe(1);
    await other.close();
    server.closeAllConnections();
    server.close();
  });
});

describe('a gateway that does not come to an end', () => {
  it('is not listened to beyond 16 MB', async () => {
    let sent = 0;
    const server = await answering((_, response) => {
      const more = (): void => {
        sent += 1;
        if (!response.destroyed && sent < 1000) response.write('x'.repeat(1024 * 1024), more);
      };
      more();
    });
    const other = new Upstream(new URL(urlOf(server)));
    expect(await refusal(call('kv_list', {}, { upstream: other }))).toMatchObject({
      code: 'UNAVAILABLE',
      hint: expect.stringContaining('(its answer is too long)'),
    });
    expect(sent).toBeLessThan(100);
    await other.close();
    server.close();
  });

  it('is given up though it says a little again and again', async () => {
    const server = await answering((_, response) => {
      const dripping = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(dripping));
    });
    const other = new Upstream(new URL(urlOf(server)), { answerMs: 100 });
    const asking = call('kv_list', {}, { upstream: other, timeoutMs: 2000 });
    expect(await refusal(asking)).toMatchObject({
      code: 'UNAVAILABLE',
      hint: expect.stringContaining('(it took too long to answer)'),
    });
    await other.close();
    server.closeAllConnections();
    server.close();
  });
});

describe('a caller who goes', () => {
  it('takes a held call along', async () => {
    let closed = false;
    const gone = new AbortController();
    const server = await answering((request) => {
      request.socket.on('close', () => {
        closed = true;
      });
      gone.abort(new Error('gone'));
    });
    const other = new Upstream(new URL(urlOf(server)));
    const wanted = { upstream: other, signal: gone.signal };
    const asking = call('ask_human', operationNamed('ask_human').example, wanted);
    await expect(asking).rejects.toThrow('gone');
    await expect.poll(() => closed).toBe(true);
    await other.close();
    server.close();
  });
});

async function answering(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Server> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
