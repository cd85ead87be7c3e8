import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyOf, svc, svcUp } from '../helpers/daemon.ts';
import { required } from '../helpers/require.ts';

const require = createRequire(import.meta.url);
const REDOCLY = require.resolve('@redocly/cli/bin/cli.js');
const OWN_TSC = resolve('node_modules/typescript/bin/tsc');
/** Where `.ci/run` installed `test/surface/clients/package.json`. */
const MODULES = join(process.env['SVC_GENERATORS'] ?? '', 'node_modules');
const OPTIONS =
  '--strict --target es2023 --lib es2023,dom,dom.iterable,esnext --module nodenext --skipLibCheck';

let home: string;
let url: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'svc-generated-'));
  ({ base_url: url } = await svcUp(home));
  env = {
    PATH: process.env['PATH'],
    HOME: home,
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    SVC_URL: url,
    SVC_KEY: await keyOf(home),
  };
  const document = await fetch(`${url}/v1/openapi.json`);
  writeFileSync(join(home, 'openapi.json'), await document.text());
  writeFileSync(join(home, 'package.json'), '{"type":"module"}');
});
afterAll(async () => {
  await svc(home, ['down']);
  rmSync(home, { recursive: true, force: true });
});

/** What the programs take from Node, whose types they don't have. */
const PROCESS = 'declare const process: { env: Record<string, string> };';

/** Runs a program beside the document; returns what it prints. */
function run(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: home,
    env,
    encoding: 'utf8',
  });
  expect([program, status, status === 0 ? '' : stdout + stderr]).toEqual([program, 0, '']);
  return stdout;
}

/** Compiles a program with the client beside it, and runs it. */
function compiled(tsc: string, program: string): unknown {
  writeFileSync(join(home, 'program.ts'), program);
  run(tsc, ...OPTIONS.split(' '), 'program.ts');
  return JSON.parse(run('program.js'));
}

const CALLED = {
  slug: 'local',
  stored: expect.any(Number),
  value: { n: 1 },
  listed: ['generated/a'],
  missing: 'NOT_FOUND',
};

describe('a client from redocly generate-client', () => {
  const PROGRAM = `
    import { client, ApiError, type KvEntry, type ErrorCode, type ApiError_2 } from './client.js';
    client.configure({ serverUrl: process.env.SVC_URL, auth: { bearer: process.env.SVC_KEY } });
    const { project } = await client.whoami();
    const stored = await client.kv_set({ path: { key: 'generated/a' }, body: { n: 1 } });
    const entry: KvEntry | null = await client.kv_get({ path: { key: 'generated/a' } });
    const { items } = await client.kv_list();
    let missing: ErrorCode | null = null;
    try {
      await client.inbox_get({ path: { event_id: 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3' } });
    } catch (error) {
      if (error instanceof ApiError) missing = (error.body as ApiError_2).error.code;
    }
    console.log(JSON.stringify({
      slug: project.slug,
      stored: stored.version,
      value: entry?.value,
      listed: items.map(({ key }) => key),
      missing,
    }));
  `;

  it('compiles, and calls the daemon', () => {
    run(REDOCLY, 'generate-client', 'openapi.json', '--output=client.ts', '--args-style=grouped');
    expect(compiled(OWN_TSC, `${PROCESS}${PROGRAM}`)).toEqual(CALLED);
  });
});

const hasGenerator = required(
  'a client from openapi-typescript',
  existsSync(join(MODULES, 'openapi-typescript')),
  'set SVC_GENERATORS to a folder with test/surface/clients/package.json installed',
);

describe.runIf(hasGenerator)('a client from openapi-typescript', () => {
  const PROGRAM = `
    import createClient from 'openapi-fetch';
    import type { components, paths } from './schema.js';
    type Schemas = components['schemas'];
    const client = createClient<paths>({
      baseUrl: process.env.SVC_URL,
      headers: { authorization: 'Bearer ' + process.env.SVC_KEY },
    });
    const { data: whoami } = await client.GET('/v1/whoami');
    const params = { path: { key: 'generated/a' } };
    const { data: stored } = await client.PUT('/v1/kv/{key}', { params, body: { n: 1 } });
    const { data } = await client.GET('/v1/kv/{key}', { params });
    const entry: Schemas['KvEntry'] | null | undefined = data;
    const { data: page } = await client.GET('/v1/kv');
    const { error } = await client.GET('/v1/inbox/events/{event_id}', {
      params: { path: { event_id: 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3' } },
    });
    const missing: Schemas['ErrorCode'] | undefined = error?.error.code;
    console.log(JSON.stringify({
      slug: whoami?.project.slug,
      stored: stored?.version,
      value: entry?.value,
      listed: page?.items.map(({ key }) => key),
      missing,
    }));
  `;

  it('compiles, and calls the daemon', () => {
    symlinkSync(MODULES, join(home, 'node_modules'));
    run(
      join(MODULES, 'openapi-typescript/bin/cli.js'),
      'openapi.json',
      '--default-non-nullable=false',
      '--output=schema.d.ts',
    );
    const tsc = join(MODULES, 'typescript/bin/tsc');
    expect(compiled(tsc, `${PROCESS}${PROGRAM}`)).toEqual(CALLED);
  });
});
