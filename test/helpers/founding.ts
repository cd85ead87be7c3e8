import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import type { Gateway } from '../../gateway/gateway.ts';
import { unroutable } from '../../shared/api/http.ts';
import { parsedMail } from '../gateway/mail/parsed-mail.ts';
import { visit } from './page-visitor.ts';

const PATIENCE_MS = 60_000;

/** A gateway that people sign in to: its address, and the data folder with its letters. */
export interface SignInSite {
  readonly url: string;
  readonly folder: string;
}

interface FoundedProject {
  readonly id: string;
  readonly slug: string;
  readonly apiKey: string;
}

interface FoundingOptions {
  readonly slug: string;
  /** Default: a person of their own. */
  readonly owner?: string | undefined;
}

let people = 0;

/** Founds a project as people do: signs in, presses the button behind the mailed link, and creates it. */
export async function foundProject(
  site: SignInSite,
  { slug, owner }: FoundingOptions,
): Promise<FoundedProject> {
  people += 1;
  const email = owner ?? `owner-${people}@team.example`;
  const before = new Set(lettersIn(site.folder));
  const started = await post(site, '/v1/auth/start', { email });
  const { login_id, user_code: code } = started as { login_id: string; user_code: string };
  const token = await newToken(site.folder, before, email);
  await visit(`${site.url}/s/${token}`, { button: 'Confirm', typed: { code } });
  const made = await post(site, '/v1/projects', { login_id, name: slug, slug });
  const { project, api_key } = made as { project: { id: string }; api_key: string };
  return { id: project.id, slug, apiKey: api_key };
}

/** Opens a gateway that answers at an address of this machine, and closes it after the work. */
export async function whileOpen<T>(
  open: (url: string) => Promise<Gateway>,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const server = createServer({ keepAliveTimeout: 0 });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const gateway = await open(url);
    serve(server, gateway);
    try {
      return await work(url);
    } finally {
      await gateway.close();
    }
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Answers what arrives at the server. */
export function serve(server: Server, { app }: Gateway): void {
  const options = { overrideGlobalObjects: false, errorHandler: unroutable };
  const listener = getRequestListener(app.fetch, options);
  server.on('request', (asked, answer) => void listener(asked, answer));
}

/** Comes from an address of this machine that few have used: each may begin twenty sign-ins an hour. */
async function post({ url }: SignInSite, path: string, body: object): Promise<unknown> {
  const localAddress = `127.0.${Math.floor(people / 200) % 250}.${(people % 200) + 2}`;
  const answer = await new Promise<{ status: number; body: string }>((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const asked = request(url + path, { method: 'POST', headers, localAddress, agent: false });
    asked.on('error', reject);
    asked.on('response', (response) => {
      text(response).then(
        (read) => resolve({ status: response.statusCode ?? 0, body: read }),
        reject,
      );
    });
    asked.end(JSON.stringify(body));
  });
  if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}: ${answer.body}`);
  return JSON.parse(answer.body);
}

function lettersIn(folder: string): string[] {
  const outbox = join(folder, 'outbox');
  return existsSync(outbox) ? readdirSync(outbox).filter((name) => name.endsWith('.eml')) : [];
}

/** The link's token in the letter that this person gets next. */
async function newToken(folder: string, before: Set<string>, email: string): Promise<string> {
  const endsAt = performance.now() + PATIENCE_MS;
  while (performance.now() < endsAt) {
    for (const name of lettersIn(folder)) {
      if (before.has(name)) continue;
      before.add(name);
      const letter = readFileSync(join(folder, 'outbox', name), 'utf8');
      const token = /\/s\/([0-9a-zA-Z]{32,40})/.exec(parsedMail(letter).text)?.[1];
      if (letter.includes(email) && token !== undefined) return token;
    }
    await sleep(5);
  }
  throw new Error(`No letter came to ${email}.`);
}
