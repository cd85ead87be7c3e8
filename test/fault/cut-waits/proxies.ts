import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { isListening, startNginx } from '../../gateway/server/nginx.ts';
import { findProgram, freePort } from '../../helpers/programs.ts';

/** A proxy that cuts calls whose answer takes long. */
export interface CuttingProxy {
  readonly url: string;
  end(): Promise<void>;
}

const SILENCE_SECONDS = 5;

/** nginx as its packages bring it, but for the seconds after which it answers 504 for a silent gateway. */
export async function cuttingNginx(target: string, folder: string): Promise<CuttingProxy> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = `server {
  listen 127.0.0.1:${port};
  location / {
    proxy_pass ${target};
    proxy_http_version 1.1;
    proxy_read_timeout ${SILENCE_SECONDS}s;
  }
}`;
  const nginx = await startNginx(findProgram('nginx') ?? '', { folder, server, url });
  return { url, end: () => nginx.end() };
}

export async function cuttingHaproxy(target: string, folder: string): Promise<CuttingProxy> {
  const port = await freePort();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'haproxy.cfg');
  const [seconds, to] = [`${SILENCE_SECONDS}s`, new URL(target).host];
  writeFileSync(
    file,
    `defaults
  mode http
  timeout connect ${seconds}
  timeout client 60s
  timeout server ${seconds}
frontend in
  bind 127.0.0.1:${port}
  default_backend svc
backend svc
  server gateway ${to}
`,
  );
  const child = spawn(findProgram('haproxy') ?? '', ['-db', '-f', file], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  while (!(await isListening(port))) await new Promise((done) => setTimeout(done, 20));
  const end = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  return { url: `http://127.0.0.1:${port}`, end };
}

/** What it says for an answer that takes longer, one after the other; null breaks the connection, and 0 says nothing. */
const PAGES = [504, 502, 503, 200, 524, null, 302, 500, 0, 408] as const;
const PATIENCE_MS = 2_000;

/** A proxy that keeps each answer until it's whole, so that early bytes don't help. */
export async function bufferingProxy(target: string): Promise<CuttingProxy & { cuts: number }> {
  const port = await freePort();
  const proxy = { url: `http://127.0.0.1:${port}`, cuts: 0, end };
  const server = createServer((incoming, response) => {
    const up = request(target + (incoming.url ?? '/'), {
      method: incoming.method ?? 'GET',
      headers: incoming.headers,
    });
    const timer = setTimeout(() => {
      up.destroy();
      cut(response, PAGES[proxy.cuts % PAGES.length] ?? null);
      proxy.cuts += 1;
    }, PATIENCE_MS);
    const done = (): void => {
      clearTimeout(timer);
      up.destroy();
    };
    response.on('close', done);
    up.on('error', () => response.destroy());
    up.on('response', (answer) => void pass(answer, response));
    incoming.pipe(up);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  function end(): Promise<void> {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  }
  return proxy;
}

async function pass(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await buffer(answer).catch(() => null);
  if (body === null || response.headersSent) return void response.destroy();
  const { 'transfer-encoding': _, ...headers } = answer.headers;
  response.writeHead(answer.statusCode ?? 502, { ...headers, 'content-length': body.length });
  response.end(body);
}

function cut(response: ServerResponse, status: number | null): void {
  if (status === null) return void response.destroy();
  if (status === 0) return void response.writeHead(200).end();
  response.writeHead(status, {
    'content-type': 'text/html',
    server: 'a balancer',
    ...(status === 302 && { location: 'http://portal.example/' }),
  });
  response.end(`<html><body><h1>${status}</h1></body></html>`);
}
