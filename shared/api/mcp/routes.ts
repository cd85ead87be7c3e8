import { Hono } from 'hono';
import type { Executor } from '../../kernel/executor.ts';
import { once } from '../../lib/once.ts';
import type { HttpEnv, OnInternalError } from '../http.ts';
import type { McpTables } from './tables.ts';

export interface McpOptions {
  readonly serverVersion: string;
  readonly onInternal: OnInternalError;
  /** Browsers send an Origin; without this all of them are refused. */
  readonly allowedOrigin?: (origin: string) => boolean;
  /** How long a held call waits in silence before its answer becomes a stream. */
  readonly streamAfterMs?: number;
  /** How often a stream says that the call still runs. */
  readonly tickMs?: number;
  /** The least time between two notifications of the same subscription. */
  readonly pauseMs?: number;
}

/**
 * MCP over HTTP. The server keeps no sessions: each request carries all it needs. Mount it at `/mcp`. The SDK is loaded with
 * the first request: most of its memory is saved where nobody speaks MCP.
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
  app.all('/', async (c) => (await endpoint()).refuse(c));
  return app;
}
