import { execFile, execFileSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyApp, isOwnOrigin, mcpTables } from '../../../../shared/api/api.ts';
import { mcpRoutes } from '../../../../shared/api/mcp/routes.ts';
import { TestGateway, temporaryFolder } from '../../../helpers/gateway.ts';
import { HeaderProxy } from '../../../helpers/header-proxy.ts';
import { conformanceTables } from '../../../helpers/mcp-fixtures.ts';
import { required } from '../../../helpers/require.ts';

/** The suite needs a newer Node than the product: this one, or the one that SVC_NODE24 names. */
const NODE = Number(process.versions.node.split('.', 1)[0]) >= 22 ? process.execPath : otherNode();

function otherNode(): string | null {
  const path = process.env['SVC_NODE24'];
  if (!path) return null;
  execFileSync(path, ['--version']);
  return path;
}

const require = createRequire(import.meta.url);
const suite = join(
  dirname(require.resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
);
const baseline = (revision: string): string =>
  resolve(`test/shared/api/mcp/conformance-baseline-${revision}.yml`);

let gateway: TestGateway;
let server: Server;
let proxy: HeaderProxy;
let folder: ReturnType<typeof temporaryFolder>;

const internal: unknown[] = [];
const onInternal = (error: unknown): number => internal.push(error);

/** The endpoint of the product over the executor of a gateway, with the tools that the suite calls by name. */
async function serve(): Promise<string> {
  server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const options = { serverVersion: '1.2.3', onInternal, allowedOrigin: isOwnOrigin(url) };
  const tables = conformanceTables(mcpTables());
  const app = emptyApp(onInternal);
  app.route('/mcp', mcpRoutes(gateway.gateway.executor, tables, { ...options, tickMs: 50 }));
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  server.on('request', (request, response) => void listener(request, response));
  return url;
}

const BOTH = [
  'tools-list',
  'tools-call-simple-text',
  'tools-call-error',
  'tools-call-with-progress',
  'resources-list',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'prompts-list',
  'prompts-get-with-args',
  'completion-complete',
  'dns-rebinding-protection',
];
/** Scenarios of which something must have been checked, and all of it have passed. */
const PASSING: readonly (readonly [string, readonly string[]])[] = [
  [
    '2026-07-28',
    [
      ...BOTH,
      'server-stateless',
      'caching',
      'server-sse-multiple-streams',
      'sep-2164-resource-not-found',
      'http-header-validation',
      'tasks-lifecycle',
      'tasks-capability-negotiation',
      'tasks-wire-fields',
      'tasks-request-state-removal',
      'tasks-mrtr-input',
      'tasks-request-headers',
      'tasks-dispatch-and-envelope',
      'tasks-required-task-error',
    ],
  ],
  ['2025-11-25', [...BOTH, 'server-initialize', 'ping']],
];

interface Run {
  readonly code: number;
  readonly output: string;
}

function conformance(revision: string): Promise<Run> {
  const args = ['server', '--url', `${proxy.url}/mcp`, '--requirements', revision];
  return new Promise((done) => {
    execFile(
      NODE ?? '',
      [suite, ...args, '--expected-failures', baseline(revision)],
      { cwd: folder.path, maxBuffer: 64 * 1024 * 1024 },
      (error, out, err) => {
        const code = error ? Number(error.code ?? 1) : 0;
        done({ code, output: out + err });
      },
    );
  });
}

describe.runIf(required('the conformance suite', NODE !== null, 'set SVC_NODE24 to a Node >= 22'))(
  'the conformance suite of MCP',
  () => {
    beforeAll(async () => {
      gateway = await TestGateway.start();
      // One of each kind of resource, so that the suite sees how they are listed.
      await gateway.call('PUT', '/v1/kv/a', { body: 1 });
      await gateway.call('PUT', '/v1/files/b', { body: { c: 1 } });
      await gateway.deliver(await gateway.addSource({ name: 'open' }), '{"type":"order"}');
      folder = temporaryFolder();
      const headers = { authorization: `Bearer ${gateway.apiKey}` };
      proxy = await HeaderProxy.open(await serve(), headers);
    });
    afterAll(async () => {
      await proxy.close();
      await new Promise((done) => {
        server.close(done);
        server.closeAllConnections();
      });
      await gateway.stop();
      folder.remove();
    });

    it.each([...PASSING])('passes for revision %s', async (revision, scenarios) => {
      const { code, output } = await conformance(revision);
      const [, report = ''] = output.split('=== SUMMARY ===');
      // What failed stands in the diff of the one, and that nothing passed for want of a check in the other.
      expect({ code, report }).toMatchObject({ code: 0 });
      const passed = scenarios.filter((name) => !report.includes(`\u2713 ${name}: 0 passed`));
      expect(passed.filter((name) => !report.includes(`\u2713 ${name}: `))).toEqual([]);
      expect(passed).toEqual(scenarios);
      expect(internal).toEqual([]);
    });
  },
);
