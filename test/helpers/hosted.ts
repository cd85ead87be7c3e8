import { join } from 'node:path';
import { pino } from 'pino';
import { Gateway } from '../../gateway/gateway.ts';
import { AddressRanges } from '../../gateway/lib/address-ranges.ts';
import { DiskProbe } from '../../gateway/server/disk-probe.ts';
import { Front } from '../../gateway/server/front.ts';
import { PrometheusMetrics } from '../../gateway/server/metrics.ts';
import { Probes } from '../../gateway/server/probes.ts';
import { RECEIVE_LIMITS } from '../../gateway/server/server.ts';
import { Admission } from '../../shared/admission/admission.ts';
import { HttpServer } from '../../shared/http/http-server.ts';
import { foundProject } from './founding.ts';
import { STEADY, temporaryFolder } from './gateway.ts';
import { cloningWriters } from './writers.ts';

/** A project on a hosted gateway. */
export interface HostedProject {
  readonly id: string;
  readonly apiKey: string;
  /** The address of a source that takes anything. */
  readonly hook: string;
}

interface Parts {
  readonly gateway: Gateway;
  readonly dataFolder: string;
  readonly admission: Admission;
  readonly server: HttpServer;
  readonly metrics: PrometheusMetrics;
  readonly remove: () => void;
}

/** A gateway behind the listener of the hosted process, with its limits, in this process. */
export class HostedGateway {
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** `trusted`: the proxies whose X-Forwarded-For counts. */
  static async start(trusted: string): Promise<HostedGateway> {
    const folder = temporaryFolder();
    const log = pino({ level: process.env['SVC_TEST_LOG'] ?? 'silent' });
    const metrics = new PrometheusMetrics();
    const admission = Admission.hosted((turnedAway) => metrics.turnedAway(turnedAway));
    metrics.gaugeAdmission(admission);
    const front = new Front({
      kind: 'tcp',
      isSecure: false,
      trusted: AddressRanges.parse(trusted, 'SVC_TRUSTED_PROXIES'),
      content: null,
      admission,
      probes: new Probes({
        phase: () => 'open',
        disk: new DiskProbe(folder.path),
        isServerSilent: () => null,
        telegram: () => null,
        metrics,
        metricsToken: null,
      }),
      metrics,
      log,
    });
    const server = await HttpServer.listen({ host: '127.0.0.1', port: 0 }, () => front.handle, {
      limits: RECEIVE_LIMITS,
      onConnection: front.connected,
      onSlowBody: front.tooSlow,
      onCutOff: front.cutOff,
    });
    const url = `http://127.0.0.1:${server.port}`;
    const dataFolder = join(folder.path, 'data');
    const gateway = await Gateway.open({
      dataFolder,
      urls: { api: url, mcp: `${url}/mcp`, hooks: url },
      ratePerMinute: 0,
      signIn: true,
      admission,
      checkAnswers: true,
      log,
      onFatal: () => undefined,
      deletionClock: STEADY,
      openWriters: cloningWriters,
    });
    front.open(gateway.app);
    const { remove } = folder;
    return new HostedGateway({ gateway, dataFolder, admission, server, metrics, remove });
  }

  get port(): number {
    return this.#parts.server.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async project(slug: string): Promise<HostedProject> {
    const { id, apiKey } = await foundProject(
      { url: this.url, folder: this.#parts.dataFolder },
      { slug },
    );
    const added = await fetch(`${this.url}/v1/sources`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'webhook', name: 'open' }),
    });
    const { url: hook } = (await added.json()) as { url: string };
    return { id, apiKey, hook };
  }

  get admission(): Admission {
    return this.#parts.admission;
  }

  /** The lines of the metrics. */
  async metrics(): Promise<string[]> {
    return (await this.#parts.metrics.text()).split('\n');
  }

  async stop(): Promise<void> {
    await this.#parts.server.close(0);
    await this.#parts.gateway.close();
    this.#parts.remove();
  }
}
