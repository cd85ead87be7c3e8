import { pino } from 'pino';
import { afterAll, afterEach, expect, it } from 'vitest';
import { AddressRanges } from '../../../gateway/lib/address-ranges.ts';
import { DiskProbe } from '../../../gateway/server/disk-probe.ts';
import { Front } from '../../../gateway/server/front.ts';
import { PrometheusMetrics } from '../../../gateway/server/metrics.ts';
import { Probes } from '../../../gateway/server/probes.ts';
import { Admission } from '../../../shared/admission/admission.ts';
import { HttpServer } from '../../../shared/http/http-server.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

const folder = temporaryFolder();
let server: HttpServer | null = null;
afterEach(async () => {
  await server?.close(0);
});
afterAll(folder.remove);

/** Sends two requests as a proxy does, and one without the header; returns the warnings about proxies. */
async function warningsWith(trusted: string): Promise<Record<string, unknown>[]> {
  const lines: string[] = [];
  const metrics = new PrometheusMetrics();
  const front = new Front({
    kind: 'tcp',
    isSecure: false,
    trusted: AddressRanges.parse(trusted, 'SVC_TRUSTED_PROXIES'),
    content: null,
    admission: Admission.hosted(),
    probes: new Probes({
      phase: () => 'open',
      disk: new DiskProbe(folder.path),
      isServerSilent: () => null,
      telegram: () => null,
      metrics,
      metricsToken: null,
    }),
    metrics,
    log: pino({ level: 'warn' }, { write: (line) => lines.push(line) }),
  });
  server = await HttpServer.listen({ host: '127.0.0.1', port: 0 }, () => front.handle);
  const url = `http://127.0.0.1:${server.port}/v1/whoami`;
  await fetch(url);
  await fetch(url, { headers: { 'x-forwarded-for': '192.0.2.7' } });
  await fetch(url, { headers: { 'x-forwarded-for': '192.0.2.8' } });
  return lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => String(msg).includes('X-Forwarded-For'));
}

it('a proxy that is not trusted is named in the log, once', async () => {
  const warnings = await warningsWith('10.0.0.0/8');
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatchObject({ peer: '127.0.0.1' });
  expect(warnings[0]?.['msg']).toContain(
    "127.0.0.1 sends X-Forwarded-For but isn't in SVC_TRUSTED",
  );
});

it('a trusted proxy is not', async () => {
  expect(await warningsWith('127.0.0.0/8')).toEqual([]);
});
