import { Hono } from 'hono';
import type { Executor } from '../../kernel/executor.ts';
import { once } from '../../lib/once.ts';
import type { HttpEnv, OnInternalError } from '../http.ts';
import type { McpTables } from './tables.ts';

export interface McpOptions {
  readonly serverVersion: string;
  readonly onInternal: OnInternalError;
  /** Checks the Origin that browsers send; without this function, all origins are refused. */
  readonly allowedOrigin?: (origin: string) => boolean;
  /** The address of MCP, if clients can sign people in by OAuth: a 401 says where to begin. */
  readonly oauthUrl?: string;
  /** How long a held call waits without output before its answer becomes a stream. */
  readonly streamAfterMs?: number;
  /** How often a stream says that the call is still running. */
  readonly tickMs?: number;
  /** The least time between two notifications of one subscription. */
  readonly pauseMs?: number;
  /** How long `tasks/get` waits for the end of a task (default 2.5 s). */
  readonly taskHoldMs?: number;
}

/** People who type an address may end it with a slash. */
const READ_ONLY = ['/readonly', '/readonly/'];

/**
 * MCP over HTTP; mount it at `/mcp` and `/mcp/`. The server keeps no sessions: each request has everything it needs. The
 * SDK loads with the first request, which saves most of its memory if nobody uses MCP.
 */
export function mcpRoutes(
  executor: Executor,
  tables: McpTables,
  options: McpOptions,
): Hono<HttpEnv> {
  const endpoint = once(async () => {
    const { Endpoint } = await import('./endpoint.ts');
    return new Endpoint(executor, tables, options);
  });
  const app = new Hono<HttpEnv>();
  app.post('/', async (c) => (await endpoint()).post(c));
  for (const path of READ_ONLY) app.post(path, async (c) => (await endpoint()).post(c, true));
  for (const path of ['/', ...READ_ONLY]) {
    app.all(path, async (c) => (await endpoint()).refuse(c));
  }
  return app;
}
