import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { randomBytes } from 'node:crypto';
import { plainEnvironment } from './children.ts';
import type { FloodRequest } from './child/flooder.ts';
import { bearer, WAIT, type FloodCase, type SignedInSite } from './floods.ts';
import { EXECUTABLE } from './product.ts';

const execute = promisify(execFile);

/** Of the folder that a member syncs. */
const FILES = 500;
const FILE_BYTES = 2000;

/** The pages that show the most. */
const PAGES = ['events', 'ledger', 'overview', 'usage', 'disk'];

interface CrowdSite extends SignedInSite {
  readonly dataFolder: string;
  /** A fresh folder. */
  readonly place: (name: string) => string;
}

/** What a busy team does, and nobody means as an attack. */
export async function crowdsOf(site: CrowdSite): Promise<FloodCase[]> {
  const { url, attacker, cookie, keys } = site;
  const key = bearer(attacker.apiKey);
  const writes = {
    line: 'PUT /v1/kv/busy',
    headers: { ...key, 'Content-Type': 'application/json' },
    body: '1',
  };
  return [
    {
      name: '25 waits and 64 calls',
      flood: { connections: 64, requests: [writes] },
      beside: {
        connections: 25,
        requests: keys.slice(0, 3).map((one) => ({ line: WAIT, headers: bearer(one) })),
      },
    },
    { name: `a sync of ${FILES} files`, work: syncs(site) },
    {
      name: 'the copies for 20 new replicas',
      flood: async () => ({ connections: 20, requests: [await newestCopy(url, key)] }),
    },
    {
      name: '200 replicas that read no changes, and 64 writers',
      flood: { connections: 64, requests: [writes] },
      beside: {
        connections: 200,
        requests: [{ line: 'GET /v1/replica/changes', headers: key }],
        reads: 'nothing',
      },
    },
    {
      name: 'pages of the web inbox × 500',
      flood: {
        connections: 500,
        requests: PAGES.map((page) => ({
          line: `GET /ui/p/team-0/${page}`,
          headers: { Cookie: cookie },
        })),
      },
    },
    {
      name: 'searches × 400',
      flood: {
        connections: 400,
        requests: [
          { line: 'GET /ui/p/team-0/events?q=nothing+like+it', headers: { Cookie: cookie } },
        ],
      },
    },
    {
      name: 'backups and exports, and 64 writers',
      flood: { connections: 64, requests: [writes] },
      work: copies(site),
    },
  ];
}

/** The request for the newest copy, which an earlier flood may have made old. */
async function newestCopy(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<FloodRequest> {
  const answer = await fetch(`${url}/v1/replica`, { headers });
  const { epoch, generation } = (await answer.json()) as { epoch: string; generation: number };
  return { line: `GET /v1/replica/${epoch}/export/${generation}`, headers };
}

/** A member's syncs of a folder, each to a new place. */
function syncs({ url, attacker, place }: CrowdSite): () => Promise<unknown> {
  const folder = place('files');
  for (let n = 0; n < FILES; n += 1) {
    writeFileSync(join(folder, `${n}`), randomBytes(FILE_BYTES));
  }
  const { apiKey: SVC_API_KEY } = attacker;
  const env = { ...plainEnvironment(), SVC_HOME: place('home'), SVC_GATEWAY: url, SVC_API_KEY };
  let rounds = 0;
  return () => run(['file', 'sync', folder, `synced/${(rounds += 1)}`], env);
}

/** An operator's backups, and exports of the attacker's project. */
function copies({ dataFolder, place }: CrowdSite): () => Promise<unknown> {
  const folder = place('copies');
  mkdirSync(folder, { recursive: true });
  const env = { ...plainEnvironment(), SVC_DATA: dataFolder };
  let rounds = 0;
  return async () => {
    rounds += 1;
    await run(['gateway', 'backup', join(folder, `backup-${rounds}`)], env);
    await run(['gateway', 'export', 'team-0', join(folder, `export-${rounds}`)], env);
  };
}

function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<unknown> {
  return execute(process.execPath, [EXECUTABLE, ...args], { env });
}
