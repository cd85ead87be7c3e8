import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Svc } from '../../../clients/typescript/main.ts';
import { runMark } from '../../helpers/reaper.ts';

/** Where a wait calls, with its own source and words. */
interface Site {
  readonly url: string;
  readonly apiKey: string;
  /** An empty folder. */
  readonly home: string;
  /** The source of its event, and the summary of its question. */
  readonly own: string;
}

export interface Wait {
  readonly name: string;
  /** What ends it. */
  readonly for: 'event' | 'decision';
  /** Whether the program is a stranger's: then only the bytes that the server sends keep the line. */
  readonly isStrangers?: true;
  /** Resolves to all that the waiting program was told. */
  readonly run: (site: Site) => Promise<string>;
}

const SECONDS = 110;

function svc({ url, apiKey, home }: Site, args: readonly string[], stdin: 'ignore' | 'pipe') {
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, ...runMark() };
  return spawn(process.execPath, [resolve('dist/svc.cjs'), ...args], {
    env: { ...env, SVC_HOME: home, SVC_GATEWAY: url, SVC_API_KEY: apiKey },
    stdio: [stdin, 'pipe', 'pipe'],
  });
}

/** All that a command prints, with its exit code. */
async function command(site: Site, words: string, ...args: string[]): Promise<string> {
  const child = svc(site, [...words.split(' '), ...args], 'ignore');
  const [out, err] = [child.stdout, child.stderr].map((one) => one && text(one));
  const [code] = (await once(child, 'close')) as [number];
  return `${await out}${await err}exit ${code}`;
}

/** What a program printed when this stood there; then it's ended. */
async function until(child: ChildProcess, sign: string | RegExp): Promise<string> {
  let told = '';
  await new Promise<void>((done) => {
    const hear = (bytes: Buffer): void => {
      told += bytes.toString();
      if (told.search(sign) >= 0) done();
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('close', () => done());
  });
  child.kill('SIGTERM');
  return told;
}

async function rest(site: Site, method: string, path: string, body?: object): Promise<string> {
  const answer = await fetch(site.url + path, {
    method,
    headers: { authorization: `Bearer ${site.apiKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return `${answer.status} ${JSON.stringify(await answer.json())}`;
}

const call = (name: string, input: object) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: input },
  });

async function mcp(site: Site, accept: string, body: string): Promise<string> {
  const answer = await fetch(`${site.url}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${site.apiKey}`, 'content-type': 'application/json', accept },
    body,
  });
  return answer.text();
}

async function bridge(site: Site, body: string): Promise<string> {
  const child = svc(site, ['mcp'], 'pipe');
  child.stdin?.write(`${body}\n`);
  return until(child, '"id":1');
}

async function python(site: Site, code: string): Promise<string> {
  const start = `import os, svc_agents\nsvc = svc_agents.Svc(gateway=${JSON.stringify(site.url)}, api_key=${JSON.stringify(site.apiKey)})\n`;
  const env = { ...process.env, PYTHONPATH: resolve('clients/python/src'), SVC_HOME: site.home };
  const child = spawn('python3', ['-c', start + code], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err] = [text(child.stdout), text(child.stderr)];
  await once(child, 'close');
  return (await out) + (await err);
}

const client = ({ url, apiKey }: Site) => new Svc({ gateway: url, apiKey, note: () => undefined });
const BOTH = 'application/json, text/event-stream';
const asked = ({ own }: Site) => ({ action: 'deploy', summary: own, wait_seconds: SECONDS });
const wanted = ({ own }: Site) => ({ source: own, timeout_seconds: SECONDS });
const ask = (site: Site, ...more: string[]): Promise<string> =>
  command(site, 'ask approval deploy', site.own, ...more);

/** Every way to wait. */
export const WAITS: readonly Wait[] = [
  {
    name: 'GET /v1/inbox/wait',
    for: 'event',
    isStrangers: true,
    run: (site) =>
      rest(site, 'GET', `/v1/inbox/wait?timeout_seconds=${SECONDS}&source=${site.own}`),
  },
  {
    name: 'POST /v1/inbox/next',
    for: 'event',
    isStrangers: true,
    run: (site) => rest(site, 'POST', '/v1/inbox/next', wanted(site)),
  },
  {
    name: 'POST /v1/requests',
    for: 'decision',
    isStrangers: true,
    run: (site) => rest(site, 'POST', '/v1/requests', asked(site)),
  },
  {
    name: 'MCP: inbox_wait with claim',
    for: 'event',
    isStrangers: true,
    run: (site) => mcp(site, BOTH, call('inbox_wait', { ...wanted(site), claim: true })),
  },
  {
    name: 'MCP: ask_approval, for a client that reads no streams',
    for: 'decision',
    isStrangers: true,
    run: (site) => mcp(site, 'application/json', call('ask_approval', asked(site))),
  },
  {
    name: 'svc inbox wait',
    for: 'event',
    run: (site) => command(site, 'inbox wait', `--wait=${SECONDS}s`, '--source', site.own),
  },
  {
    name: 'svc inbox next',
    for: 'event',
    run: (site) => command(site, 'inbox next', `--wait=${SECONDS}s`, '--source', site.own),
  },
  {
    name: 'svc ask approval',
    for: 'decision',
    run: (site) => ask(site, `--wait=${SECONDS}s`),
  },
  {
    name: 'svc ask approval --until-decided',
    for: 'decision',
    run: (site) => ask(site, '--until-decided'),
  },
  {
    name: 'svc email send',
    for: 'decision',
    run: (site) =>
      command(
        site,
        'email send --to ana@example.com --text Hello --reply-to-inbox false',
        '--subject',
        site.own,
        `--wait=${SECONDS}s`,
      ),
  },
  {
    name: 'svc policy set',
    for: 'decision',
    run: (site) =>
      command(site, 'policy set', '{"rules":[]}', '--note', site.own, `--wait=${SECONDS}s`),
  },
  {
    name: 'svc listen',
    for: 'event',
    run: (site) => until(svc(site, ['listen', '--source', site.own], 'ignore'), '"for"'),
  },
  {
    name: 'svc mcp: inbox_wait with claim',
    for: 'event',
    run: (site) => bridge(site, call('inbox_wait', { ...wanted(site), claim: true })),
  },
  {
    name: 'svc mcp: ask_approval',
    for: 'decision',
    run: (site) => bridge(site, call('ask_approval', asked(site))),
  },
  {
    name: 'TypeScript: inbox.wait',
    for: 'event',
    run: async (site) => JSON.stringify(await client(site).inbox.wait({ source: site.own })),
  },
  {
    name: 'TypeScript: ask.approval',
    for: 'decision',
    run: async (site) => JSON.stringify(await client(site).ask.approval('deploy', site.own)),
  },
  {
    name: 'TypeScript: work',
    for: 'event',
    run: async (site) => {
      const done = new AbortController();
      let told = '';
      const handle = (event: { readonly payload: unknown }): void => {
        told = JSON.stringify(event.payload);
        done.abort();
      };
      await client(site).work({ source: site.own }, handle, { signal: done.signal });
      return told;
    },
  },
  {
    name: 'Python: inbox.wait',
    for: 'event',
    run: (site) =>
      python(
        site,
        `print(svc.inbox.wait(source="${site.own}", timeout_seconds=${SECONDS})["payload"])`,
      ),
  },
  {
    name: 'Python: ask.approval',
    for: 'decision',
    run: (site) =>
      python(site, `print(svc.ask.approval(action="deploy", summary="${site.own}").status)`),
  },
];
