import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { foundProject } from '../../helpers/founding.ts';
import { temporaryFolder, TestGateway } from '../../helpers/gateway.ts';
import { HranaProcess } from '../../helpers/hrana/process.ts';
import { freePort } from '../../helpers/programs.ts';
import { SQLD, Sqld } from '../../helpers/sqld.ts';
import { TeamGateway, type TeamProject } from '../../helpers/team.ts';

const PROJECTS = 100;
/** More than the projects and the control database. */
const NAMESPACES = 1000;

let endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.toReversed()) await end();
  endings = [];
});

interface Server {
  readonly url: string;
  readonly createUrl: string | null;
}

async function startServer(folder: string): Promise<Server> {
  mkdirSync(folder);
  if (SQLD === undefined) {
    const server = await HranaProcess.start({ folder, maxActiveNamespaces: NAMESPACES });
    endings.push(() => server.end());
    return { url: server.url, createUrl: null };
  }
  const sqld = await Sqld.start(SQLD, folder, { maxActiveNamespaces: NAMESPACES });
  endings.push(() => sqld.end());
  return sqld;
}

/** Repeats it while the gateway says that it will answer later, as clients do. */
async function read(url: string, { apiKey }: TeamProject): Promise<string> {
  for (;;) {
    const headers = { authorization: `Bearer ${apiKey}` };
    const answer = await fetch(`${url}/v1/kv/of`, { headers });
    if (answer.status !== 503) return answer.text();
    await answer.arrayBuffer();
    await sleep(100);
  }
}

it('a second gateway with an empty folder starts after a hundred people have signed up, and serves all their projects', async () => {
  const root = temporaryFolder();
  endings.push(() => root.remove());
  const server = await startServer(join(root.path, 'libsql-server'));
  const masterKeyFile = join(root.path, 'shared.key');
  const { url: at, createUrl } = server;
  const store = {
    url: `${at}/{project}/`,
    token: null,
    maker: createUrl === null ? null : { url: createUrl, token: null },
  };
  const folder = join(root.path, 'first');
  const first = await TestGateway.start({ store, masterKeyFile, folder });
  endings.push(() => first.stop());
  const made: TeamProject[] = [];
  for (let n = 0; n < PROJECTS; n += 1) {
    const project = await foundProject(first, { slug: `team-${n}` });
    const put = { key: project.apiKey, body: project.id };
    expect((await first.call('PUT', '/v1/kv/of', put)).status).toBe(200);
    made.push(project);
  }
  const second = await TeamGateway.start({
    dataFolder: join(root.path, 'second'),
    listen: `127.0.0.1:${await freePort()}`,
    env: {
      SVC_DATABASE_URL: store.url,
      ...(createUrl !== null && { SVC_DATABASE_CREATE_URL: createUrl }),
      SVC_MASTER_KEY_FILE: masterKeyFile,
      SVC_BLOBS: `file:${join(root.path, 'blobs')}`,
    },
  });
  endings.push(() => second.end());
  const answers = await Promise.all(made.map((project) => read(second.url, project)));
  expect(answers.map((text) => (JSON.parse(text) as { value: unknown }).value)).toEqual(
    made.map(({ id }) => id),
  );
});
