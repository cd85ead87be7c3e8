import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyOf, svc, svcUp } from '../helpers/daemon.ts';
import { required } from '../helpers/require.ts';

/** Where `.ci/run` installed the packages of `test/surface/clients`, those for Node and those for Python. */
const INSTALLED = process.env['SVC_GENERATORS'] ?? '';
const BIN = join(INSTALLED, 'bin');
const PYTHON = join(BIN, 'python');
const OPTIONS =
  '--strict --target es2023 --lib es2023,dom,dom.iterable --module nodenext --skipLibCheck';

let home: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'svc-generators-'));
  const { base_url: url } = await svcUp(home);
  env = {
    ...process.env,
    HOME: home,
    // A folder that Go writes can't be removed otherwise.
    GOFLAGS: '-mod=mod -modcacherw',
    GOCACHE: join(home, 'go-build'),
    GOPATH: join(home, 'go'),
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

/** Runs a command in the client's folder, or beside the document; returns what it prints. */
function run(command: string, args: readonly string[], folder = '.'): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: join(home, folder),
    env,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const said = status === 0 ? '' : `${String(error)} ${stdout.slice(-4000)} ${stderr.slice(-4000)}`;
  expect([command, status, said]).toEqual([command, 0, '']);
  return stdout;
}

/** Writes a client into `folder` with OpenAPI Generator. */
function generate(generator: string, folder: string, ...options: readonly string[]): void {
  const args = ['generate', '-g', generator, '-i', 'openapi.json', '-o', folder];
  run(join(BIN, 'openapi-generator-cli'), [...args, '--package-name', 'svc_client', ...options]);
}

/** Writes the program to a file of the folder and runs the command on it; returns the JSON that it prints. */
function called(folder: string, file: string, program: string, ...command: string[]): unknown {
  mkdirSync(join(home, folder, file, '..'), { recursive: true });
  writeFileSync(join(home, folder, file), program);
  const [name = '', ...args] = command;
  return JSON.parse(run(name, args, folder));
}

const CALLED = {
  slug: 'local',
  stored: expect.any(Number),
  value: { n: 1 },
  listed: ['generated/a'],
  routes: null,
  missing: 'NOT_FOUND',
};

const has = (command: string): boolean => spawnSync(command, ['-version']).error === undefined;
const hasPython = required(
  'a client from openapi-python-client',
  existsSync(join(BIN, 'openapi-python-client')),
  'set SVC_GENERATORS to a virtual environment with test/surface/clients/requirements.txt installed',
);
const hasJava = required(
  'clients from OpenAPI Generator',
  existsSync(join(BIN, 'openapi-generator-cli')) && has('java'),
  'install Java, and set SVC_GENERATORS to a virtual environment with test/surface/clients/requirements.txt installed',
);
const hasTsc = required(
  'a client from OpenAPI Generator for TypeScript',
  existsSync(join(INSTALLED, 'node_modules/typescript')),
  'set SVC_GENERATORS to a folder with test/surface/clients/package.json installed',
);
const hasGo = required('a client from OpenAPI Generator for Go', has('go'), 'install Go');

describe.runIf(hasPython)('a client from openapi-python-client', () => {
  const PROGRAM = `
import json, os
from svc_client import AuthenticatedClient
from svc_client.api.inbox import inbox_get
from svc_client.api.kv import kv_get, kv_list, kv_set
from svc_client.api.route import route_list
from svc_client.api.whoami import whoami

with AuthenticatedClient(os.environ["SVC_URL"], os.environ["SVC_KEY"]) as client:
    print(json.dumps({
        "slug": whoami.sync(client=client).project.slug,
        "stored": kv_set.sync("generated/a", client=client, body={"n": 1}).version,
        "value": kv_get.sync("generated/a", client=client).value,
        "listed": [item.key for item in kv_list.sync(client=client).items],
        "routes": route_list.sync(client=client).next_cursor,
        "missing": inbox_get.sync("evt_01j9z3k4m5n6p7q8r9s0t1v2w3", client=client).error.code,
    }))
`;

  it('is imported, and calls the daemon', () => {
    const args = ['generate', '--path', 'openapi.json', '--output-path', 'plain'];
    run(join(BIN, 'openapi-python-client'), args);
    expect(called('plain', 'program.py', PROGRAM, PYTHON, 'program.py')).toEqual(CALLED);
  });
});

describe.runIf(hasJava)("a client from OpenAPI Generator's python", () => {
  const PROGRAM = `
import json, os
from svc_client import ApiClient, ApiException, Configuration, InboxApi, KvApi, RouteApi, WhoamiApi

with ApiClient(Configuration(host=os.environ["SVC_URL"], access_token=os.environ["SVC_KEY"])) as client:
    kv = KvApi(client)
    stored = kv.kv_set("generated/a", {"n": 1})
    missing = None
    try:
        InboxApi(client).inbox_get("evt_01j9z3k4m5n6p7q8r9s0t1v2w3")
    except ApiException as refused:
        missing = refused.data.error.code
    print(json.dumps({
        "slug": WhoamiApi(client).whoami().project.slug,
        "stored": stored.version,
        "value": kv.kv_get("generated/a").value,
        "listed": [item.key for item in kv.kv_list().items],
        "routes": RouteApi(client).route_list().next_cursor,
        "missing": missing,
    }))
`;

  it('is imported, and calls the daemon', () => {
    generate('python', 'python');
    run(PYTHON, ['-m', 'compileall', '-q', 'svc_client'], 'python');
    expect(called('python', 'program.py', PROGRAM, PYTHON, 'program.py')).toEqual(CALLED);
  });
});

describe.runIf(hasJava && hasTsc)("a client from OpenAPI Generator's typescript-fetch", () => {
  const PROGRAM = `
declare const process: { env: Record<string, string> };
import { Configuration, InboxApi, KvApi, ResponseError, RouteApi, WhoamiApi, ApiErrorFromJSON, type ErrorCode } from './client/index.js';
const configuration = new Configuration({ basePath: process.env.SVC_URL, accessToken: process.env.SVC_KEY });
const kv = new KvApi(configuration);
const { project } = await new WhoamiApi(configuration).whoami();
const stored = await kv.kvSet({ key: 'generated/a', body: { n: 1 } });
const entry = await kv.kvGet({ key: 'generated/a' });
const { items } = await kv.kvList();
const routes = await new RouteApi(configuration).routeList();
let missing: ErrorCode | null = null;
try {
  await new InboxApi(configuration).inboxGet({ eventId: 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3' });
} catch (error) {
  if (error instanceof ResponseError) missing = ApiErrorFromJSON(await error.response.json()).error.code;
}
console.log(JSON.stringify({ slug: project.slug, stored: stored.version, value: entry.value, listed: items.map(({ key }) => key), routes: routes.nextCursor, missing }));
`;

  it('compiles, and calls the daemon', () => {
    generate('typescript-fetch', 'fetch/client', '--additional-properties=importFileExtension=.js');
    writeFileSync(join(home, 'fetch/program.ts'), PROGRAM);
    const tsc = join(INSTALLED, 'node_modules/typescript/bin/tsc');
    run(process.execPath, [tsc, ...OPTIONS.split(' '), 'program.ts'], 'fetch');
    expect(JSON.parse(run(process.execPath, ['program.js'], 'fetch'))).toEqual(CALLED);
  });
});

describe.runIf(hasJava && hasGo)("a client from OpenAPI Generator's go", () => {
  const PROGRAM = `
package main

import (
  "context"
  "encoding/json"
  "os"

  svc "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func must[T any](value T, _ any, err error) T {
  if err != nil {
    panic(err)
  }
  return value
}

func main() {
  configuration := svc.NewConfiguration()
  configuration.Servers[0].URL = os.Getenv("SVC_URL")
  client := svc.NewAPIClient(configuration)
  call := context.WithValue(context.Background(), svc.ContextAccessToken, os.Getenv("SVC_KEY"))
  project := must(client.WhoamiAPI.Whoami(call).Execute()).Project
  stored := must(client.KvAPI.KvSet(call, "generated/a").Body(map[string]int{"n": 1}).Execute())
  entry := must(client.KvAPI.KvGet(call, "generated/a").Execute())
  listed := []string{}
  for _, item := range must(client.KvAPI.KvList(call).Execute()).Items {
    listed = append(listed, item.Key)
  }
  routes := must(client.RouteAPI.RouteList(call).Execute())
  _, _, err := client.InboxAPI.InboxGet(call, "evt_01j9z3k4m5n6p7q8r9s0t1v2w3").Execute()
  refused := err.(*svc.GenericOpenAPIError).Model().(svc.ApiError)
  json.NewEncoder(os.Stdout).Encode(map[string]any{
    "slug": project.Slug, "stored": stored.Version, "value": entry.Value, "listed": listed,
    "routes": routes.NextCursor.Get(), "missing": refused.Error.Code,
  })
}
`;

  it('compiles, and calls the daemon', () => {
    generate('go', 'go-client');
    expect(called('go-client', 'call/main.go', PROGRAM, 'go', 'run', './call')).toEqual(CALLED);
  });
});
