import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { pageRoutes } from '../../../../gateway/web/pages/routes.tsx';
import type { ApprovalService } from '../../../../gateway/approvals/approvals.ts';
import { createVault } from '../../../../gateway/lib/vault.ts';
import { FormProofs } from '../../../../gateway/web/pages/form-proofs.ts';
import { identify, type HttpEnv } from '../../../../shared/api/http.ts';
import { hasClock, hasNoClock, MovingClock, readPage } from '../../../helpers/reading.ts';

/** The pages over real HTTP, before a desk. */
export class PagesServer {
  readonly url: string;
  /** What went wrong inside and was not shown. */
  readonly failures: readonly unknown[];
  readonly #server: Server;

  private constructor(url: string, server: Server, failures: readonly unknown[]) {
    this.url = url;
    this.#server = server;
    this.failures = failures;
  }

  static async start(approvals: ApprovalService): Promise<PagesServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const failures: unknown[] = [];
    const vault = createVault(randomBytes(32));
    const clock = new MovingClock();
    hasClock(url, clock);
    const app = new Hono<HttpEnv>();
    app.use(identify);
    app.route(
      '/',
      pageRoutes(approvals, {
        publicUrl: url,
        vault,
        forms: new FormProofs(vault, clock),
        onInternal: (error) => failures.push(error),
      }),
    );
    const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
    server.on('request', (request, response) => void listener(request, response));
    return new PagesServer(url, server, failures);
  }

  /** The page of a path, and the signature in its form. */
  async get(path: string): Promise<{ response: Response; html: string; csrf: string }> {
    const response = await fetch(this.url + path, { redirect: 'manual' });
    const html = await response.text();
    return { response, html, csrf: fieldOf(html, 'csrf') };
  }

  /** Reads the page, and sends a form as a browser does from a page of ours, which tells its origin as `null`. */
  async post(
    path: string,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    await readPage(this.url);
    return this.postAtOnce(path, fields, headers);
  }

  postAtOnce(
    path: string,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return fetch(this.url + path, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams(fields).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: 'null',
        'sec-fetch-site': 'same-origin',
        ...headers,
      },
    });
  }

  /** Looks at the page, then decides with the signature that was on it. */
  async decide(path: string, fields: Readonly<Record<string, string>>): Promise<Response> {
    const { csrf } = await this.get(path);
    return this.post(path, { ...fields, csrf });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    hasNoClock(this.url);
  }
}

/** The value of a hidden field or of a button, or nothing where there is none. */
export function fieldOf(html: string, name: string): string {
  return new RegExp(`<(?:input|button) [^>]*name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
}
