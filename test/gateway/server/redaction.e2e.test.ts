import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newToken } from '../../../shared/lib/ids.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { newProject, type TeamProject } from '../../helpers/team.ts';
import { Hosted } from './hosted.ts';

const BOT = '8123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw';
const SMTP_PASSWORD = 'smtp-hunter2"%';
const METRICS = 'metrics-token-of-this-test';
const SOURCE_SECRET = 'source-secret-hunter2';
const BODY = 'words-of-a-stranger';
const soon = { timeout: 60_000 };

let folder: ReturnType<typeof temporaryFolder>;
let project: TeamProject;
let hosted: Awaited<ReturnType<typeof Hosted.start>>;
let url = '';

beforeAll(async () => {
  folder = temporaryFolder();
  const data = join(folder.path, 'data');
  project = await newProject(data, 'secrets');
  const password = encodeURIComponent(SMTP_PASSWORD);
  hosted = await Hosted.start({
    SVC_DATA: data,
    SVC_LISTEN: '127.0.0.1:0',
    SVC_LOG_LEVEL: 'trace',
    SVC_METRICS_TOKEN: METRICS,
    SVC_TELEGRAM_TOKEN: BOT,
    // Nobody listens there: every attempt fails, and is told.
    SVC_TELEGRAM_API_ROOT: 'http://127.0.0.1:1',
    SVC_SMTP_URL: `smtp://ana:${password}@127.0.0.1:1`,
    SVC_MAIL_FROM: 'svc@example.com',
  });
  url = hosted.status.base_url;
});
afterAll(async () => {
  await hosted.end('SIGKILL');
  folder.remove();
});

interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

async function send(path: string, { method = 'GET', headers = {}, body }: Sent = {}) {
  const answer = await fetch(url + path, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return (await answer.json().catch(() => ({}))) as Record<string, unknown>;
}

describe('the log at its loudest', () => {
  it('shows none of the secrets that pass through', async () => {
    const bearer = { authorization: `Bearer ${project.apiKey}` };
    const secrets = [BOT, SMTP_PASSWORD, METRICS, SOURCE_SECRET, project.apiKey, BODY];
    const source = await send('/v1/sources', {
      method: 'POST',
      headers: bearer,
      body: { type: 'webhook', name: 'gh', verification: 'github', secret: SOURCE_SECRET },
    });
    const hook = new URL(String(source['url'])).pathname;
    secrets.push(hook.slice(3));
    await send(hook, {
      method: 'POST',
      headers: { 'x-hub-signature-256': 'sha256=5ec7e7' },
      body: BODY,
    });
    secrets.push('5ec7e7');
    const key = await send('/v1/keys', {
      method: 'POST',
      headers: bearer,
      body: { name: 'other', scopes: ['disk'] },
    });
    secrets.push(String(key['api_key']));
    await send('/v1/inbox', { headers: { authorization: `Bearer ${String(key['api_key'])}` } });
    // Where it does not belong.
    await send(`/v1/inbox?key=${project.apiKey}`);
    await send(`/v1/kv/${project.apiKey}`, { headers: bearer });
    await send(`/v1/requests/${project.apiKey}`);
    for (const letter of ['w', 'u', 'f', 'a', 'c', 's']) {
      const token = newToken(project.id);
      secrets.push(token);
      await send(`/${letter}/${token}`);
      await send(`/${letter}/${token}`, { method: 'POST', body: {} });
      await send(`/prefix/${letter}/${token}?x=${token}`);
    }
    const body = project.id.slice(4);
    await send(`/l/${body}/evt_01j9z3k4m5n6p7q8r9s0t1v2w3/1/l1nk-signature`);
    await send(`/d/${body}/c2VjcmV0/1/2/d0wnload-signature`);
    await send('/v1/whoami', { headers: { authorization: 'Basic dXNlcjpodW50ZXIy' } });
    await send('/v1/whoami', { headers: { cookie: 'session=c00kie', ...bearer } });
    await send('/metrics', { headers: { authorization: `Bearer ${METRICS}`, via: 'x' } });
    secrets.push('l1nk-signature', 'd0wnload-signature', 'dXNlcjpodW50ZXIy', 'c00kie');
    // A mail that cannot be sent.
    await send('/v1/auth/start', { method: 'POST', body: { email: 'ana@example.com' } });
    await expect.poll(() => hosted.out, soon).toContain('elegram');
    await expect.poll(() => hosted.out, soon).toContain('"path":"/v1/auth/start"');

    expect(hosted.log.filter(({ msg }) => msg === 'request').length).toBeGreaterThan(25);
    expect(hosted.out).toContain('"path":"/w/…"');
    const seen = secrets.filter((secret) => `${hosted.out}${hosted.err}`.includes(secret));
    expect(seen).toEqual([]);
    const escaped = JSON.stringify(SMTP_PASSWORD).slice(1, -1);
    expect(hosted.out).not.toContain(escaped);
    expect(hosted.out).not.toContain(encodeURIComponent(SMTP_PASSWORD));
  });
});
