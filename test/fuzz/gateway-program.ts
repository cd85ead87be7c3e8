import { join } from 'node:path';
import pino from 'pino';
import { AddressRanges } from '../../gateway/lib/address-ranges.ts';
import { CallbackAllow } from '../../gateway/callbacks/callback-allow.ts';
import { Gateway } from '../../gateway/gateway.ts';
import { readMailConfig } from '../../gateway/mail/read-mail-config.ts';
import { DiskProbe } from '../../gateway/server/disk-probe.ts';
import { Front } from '../../gateway/server/front.ts';
import { PrometheusMetrics } from '../../gateway/server/metrics.ts';
import { Probes } from '../../gateway/server/probes.ts';
import { Admission } from '../../shared/admission/admission.ts';
import { HttpServer } from '../../shared/http/http-server.ts';
import { LongestTurn } from './longest-turn.ts';

/**
 * `gateway-program.ts FOLDER`: a gateway behind the hosted process's listener, with two projects. Prints its address, and
 * answers each message from its parent with how long its event loop was held at most since the last message, as
 * `LongestTurn` measures it.
 */
const [folder = ''] = process.argv.slice(2);
const log = pino({ level: process.env['SVC_TEST_LOG'] ?? 'error' }, pino.destination(2));
const metrics = new PrometheusMetrics();
const disk = new DiskProbe(folder);
const probes = new Probes({
  phase: () => 'open',
  disk,
  isServerSilent: () => null,
  telegram: () => null,
  metrics,
  metricsToken: null,
});
const trusted = AddressRanges.parse('127.0.0.0/8', 'SVC_TRUSTED_PROXIES');
const admission = Admission.hosted();
const front = new Front({
  kind: 'tcp',
  isSecure: false,
  trusted,
  content: null,
  admission,
  probes,
  metrics,
  log,
});
const http = await HttpServer.listen({ host: '127.0.0.1', port: 0 }, () => front.handle);
const url = `http://127.0.0.1:${http.port}`;
const gateway = await Gateway.open({
  dataFolder: join(folder, 'data'),
  urls: { api: url, mcp: `${url}/mcp`, hooks: url },
  ratePerMinute: 0,
  signIn: true,
  admission,
  checkAnswers: true,
  callbackAllow: CallbackAllow.parse('127.0.0.0/8'),
  messaging: { mail: readMailConfig({ SVC_MAIL_DOMAIN: 'inbox.example' }), telegram: null },
  log,
  onFatal: () => process.exit(1),
});
front.open(gateway.app);

const turns = new LongestTurn();
process.on('message', () => process.send?.(turns.take()));
// The parent is gone.
process.once('disconnect', () => process.exit(1));
process.once('SIGTERM', () => {
  void http
    .close(500)
    .then(() => gateway.close())
    .then(() => process.exit(0));
});

const project = async (slug: string) => {
  const { project: made, apiKey } = await gateway.createProject({ name: slug, slug });
  return { projectId: made.id, apiKey };
};
const projects = [await project('fuzzed'), await project('bystander')];
process.stdout.write(`${JSON.stringify({ url, projects })}\n`);
