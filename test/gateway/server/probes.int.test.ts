import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DiskProbe } from '../../../gateway/server/disk-probe.ts';
import { PrometheusMetrics } from '../../../gateway/server/metrics.ts';
import { Probes, type Phase } from '../../../gateway/server/probes.ts';
import { HttpServer } from '../../../shared/http/http-server.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

let folder: ReturnType<typeof temporaryFolder>;
let server: HttpServer;
let phase: Phase;
let isServerSilent: boolean | null;
let damaged: number;
let telegram: { readonly trouble: string | null } | null;

beforeEach(async () => {
  folder = temporaryFolder();
  phase = 'opening';
  telegram = null;
  isServerSilent = null;
  damaged = 0;
  const metrics = new PrometheusMetrics();
  const disk = new DiskProbe(folder.path);
  const probes = new Probes({
    phase: () => phase,
    disk,
    isServerSilent: () => isServerSilent,
    telegram: () => telegram,
    damaged: () => damaged,
    metrics,
    metricsToken: null,
  });
  server = await HttpServer.listen({ host: '127.0.0.1', port: 0 }, () => (request, response) => {
    void probes.answer(request.url ?? '/', { request, response, isDirect: false });
  });
});
afterEach(async () => {
  await server.close(0);
  folder.remove();
});

async function ask(path: string): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`);
  return { status: answer.status, body: await answer.json() };
}

it.each([
  ['opening', 503],
  ['open', 200],
  ['closing', 503],
] as const)('while its stores are %s, /readyz answers %i and /healthz 200', async (now, status) => {
  phase = now;
  const ready = await ask('/readyz');
  expect(ready).toMatchObject({ status, body: { checks: { stores: now, disk: 'writable' } } });
  expect((await ask('/healthz')).status).toBe(200);
});

it('a database server that is silent makes /readyz 503', async () => {
  phase = 'open';
  isServerSilent = false;
  expect(await ask('/readyz')).toMatchObject({
    status: 200,
    body: { checks: { database_server: 'answers' } },
  });
  isServerSilent = true;
  expect(await ask('/readyz')).toMatchObject({
    status: 503,
    body: { status: 'not_ready', checks: { database_server: 'silent' } },
  });
});

it('damage on the disk is named by /readyz, which stays 200', async () => {
  phase = 'open';
  damaged = 2;
  expect(await ask('/readyz')).toMatchObject({
    status: 200,
    body: { status: 'ready', checks: { damage: '2 objects: see svc gateway check' } },
  });
});

it('a Telegram bot that does not work is named by /readyz, which stays 200', async () => {
  phase = 'open';
  expect((await ask('/readyz')).body).toEqual({
    status: 'ready',
    checks: { stores: 'open', disk: 'writable' },
  });
  telegram = { trouble: 'Telegram, getMe: 401 Unauthorized' };
  expect(await ask('/readyz')).toMatchObject({
    status: 200,
    body: { checks: { telegram: 'Telegram, getMe: 401 Unauthorized' } },
  });
  telegram = { trouble: null };
  expect(await ask('/readyz')).toMatchObject({
    status: 200,
    body: { checks: { telegram: 'connected' } },
  });
});

it('without a token nobody from elsewhere reads the metrics', async () => {
  expect(await ask('/metrics')).toMatchObject({ status: 404 });
  const headers = { authorization: 'Bearer null' };
  const url = `http://127.0.0.1:${server.port}/metrics`;
  expect((await fetch(url, { headers })).status).toBe(404);
});

it('the disk is tried every ten seconds at most', async () => {
  phase = 'open';
  expect((await ask('/readyz')).status).toBe(200);
  const file = join(folder.path, '.probe');
  rmSync(file, { force: true });
  mkdirSync(file);
  expect((await ask('/readyz')).status).toBe(200);
  expect(await new DiskProbe(folder.path).check()).toBe('EISDIR');
});
