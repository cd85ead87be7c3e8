import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway } from '../../../helpers/gateway.ts';
import { Member } from '../../../helpers/team.ts';
import { runs, svc, svcUp } from '../../../helpers/daemon.ts';
import { readPage } from '../../../helpers/reading.ts';

describe('svc open, with the daemon of this machine', () => {
  let home: string;
  let base: string;
  let pid: number;

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-ui-'));
    ({ base_url: base, pid } = await svcUp(home));
  });
  afterAll(async () => {
    if (runs(pid)) await svc(home, ['down']);
    rmSync(home, { recursive: true, force: true });
  });

  /** As a browser sends it: a form of ours tells no origin. */
  async function enter(): Promise<string> {
    const { url, opened } = JSON.parse(await svc(home, ['open', '--print', '--json'])) as {
      url: string;
      opened: boolean;
    };
    expect(opened).toBe(false);
    expect(url.startsWith(`${base}/ui/open/`)).toBe(true);
    const html = await (await fetch(url)).text();
    await readPage(url);
    const csrf = /name="csrf" value="([^"]*)"/.exec(html)?.[1] ?? '';
    const answer = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: 'null', 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ csrf }),
    });
    expect(answer.status).toBe(303);
    return answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  }

  it('leads to the pages, whose style and script are there', async () => {
    const cookie = await enter();
    const start = await fetch(`${base}/ui`, { headers: { cookie }, redirect: 'manual' });
    expect(start.headers.get('location')).toBe('/ui/p/local/overview');
    const page = await fetch(`${base}/ui/p/local/requests`, { headers: { cookie } });
    const html = await page.text();
    expect(html).toContain('No owner’s address is set');
    for (const [, path] of html.matchAll(/(?:href|src)="(\/ui\/(?:style|script)[^"]*)"/g)) {
      expect([path, (await fetch(base + path)).status]).toEqual([path, 200]);
    }
  });

  it('opens the page that was asked for, also by the id of a request', async () => {
    const id = `req_${'0'.repeat(26)}`;
    for (const [page, leadsTo] of [
      ['requests', 'requests'],
      [id, `requests/${id}`],
    ] as const) {
      const out = await svc(home, ['open', page, '--print']);
      expect(out).toContain(`?page=${leadsTo}"`);
    }
    await expect(svc(home, ['open', 'req_/../v1', '--print'])).rejects.toThrow('VALIDATION_FAILED');
  });

  it('ends with the daemon, however many pages listen', async () => {
    const cookie = await enter();
    const ended = new Promise<number>((resolve) => {
      request(`${base}/ui/live?project=local`, { headers: { cookie } }, (answer) => {
        answer.resume().once('close', () => resolve(answer.statusCode ?? 0));
      }).end();
    });
    await svc(home, ['down']);
    expect(await ended).toBe(200);
    expect(runs(pid)).toBe(false);
  });
});

describe('svc open, with a daemon over the project of a gateway', () => {
  it('leads to the gateway, as does the daemon itself', async () => {
    const home = mkdtempSync(join(tmpdir(), 'svc-ui-'));
    const gateway = await TestGateway.start({ signIn: true });
    const project = { id: gateway.projectId, apiKey: gateway.apiKey };
    const member = new Member({ home, gateway: gateway.url, project });
    await member.up();
    const { url } = JSON.parse(await member.svc(['open', '--print', '--json'])) as { url: string };
    expect(url.startsWith(`${gateway.url}/ui/open/`)).toBe(true);
    const { base_url } = JSON.parse(await member.svc(['status', '--json'])) as { base_url: string };
    for (const path of ['/ui', '/ui/p/x/requests?status=denied']) {
      const answer = await fetch(base_url + path, { redirect: 'manual' });
      expect([answer.status, answer.headers.get('location')]).toEqual([302, gateway.url + path]);
    }
    await member.svc(['down']);
    await gateway.stop();
    rmSync(home, { recursive: true, force: true });
  });
});
