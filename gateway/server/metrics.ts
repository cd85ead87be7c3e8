import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Admission, TurnedAway } from '../../shared/admission/admission.ts';
import { DOORS } from '../../shared/admission/limits.ts';
import type { AttemptOutcome } from '../../shared/rules/inbox/retry-schedule.ts';
import { isSuccess } from '../../shared/rules/inbox/retry-schedule.ts';
import type { Gauges, Metrics } from '../lib/metrics.ts';

/** A finished request. */
interface RequestMetric {
  readonly method: string;
  /** The pattern of the path. */
  readonly route: string;
  readonly status: number;
  /** Whether the status is normal for this route's callers, not a failure. */
  readonly isExpected: boolean;
  readonly seconds: number;
  readonly delivery: 'accepted' | 'duplicate' | null;
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE']);
const INGRESS_ROUTE = '/w/{token}';
/** Waits take up to two minutes. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 120];
const GAUGES: readonly (readonly [name: string, help: string, key: keyof Gauges])[] = [
  ['svc_open_projects', 'Projects whose databases are open.', 'openProjects'],
  ['svc_waits', 'Open waits.', 'waits'],
  ['svc_streams', 'Streams of changes that replicas follow.', 'streams'],
  ['svc_writes_waiting', 'Writes that are waiting for an answer.', 'writes'],
  ['svc_mailbox_connected', 'Whether the mailbox can be reached; 0 without one.', 'mailbox'],
  ['svc_mailbox_backlog', 'Mails waiting in the mailbox.', 'mailboxBacklog'],
  ['svc_telegram_connected', 'Whether the Telegram bot works; 0 without one.', 'telegram'],
  ['svc_disk_free_bytes', 'Room on the disk, when something last came in.', 'diskFree'],
  [
    'svc_disk_level',
    '0: room for all; 1: the largest project takes nothing in; 2: no project takes in large bodies.',
    'diskLevel',
  ],
  ['svc_damaged_objects', 'Damaged blobs, pages and files: see svc gateway check.', 'damaged'],
];

/** Counts everything for Prometheus. */
export class PrometheusMetrics implements Metrics {
  readonly #registry = new Registry();
  readonly #requests = this.#counter(
    'svc_http_requests_total',
    'Requests, by status of the answer.',
    ['method', 'route', 'status'],
  );
  readonly #seconds = new Histogram({
    name: 'svc_http_request_seconds',
    help: 'Time from the headers of a request to the end of its answer.',
    labelNames: ['route'],
    buckets: SECONDS,
    registers: [this.#registry],
  });
  readonly #ingress = this.#counter('svc_ingress_total', 'Webhook deliveries, by outcome.', [
    'outcome',
  ]);
  readonly #ready = this.#counter(
    'svc_events_ready_total',
    'How often events became claimable. Events of one commit count once.',
    [],
  );
  readonly #pushes = this.#counter(
    'svc_pushes_total',
    'Attempts to push events to callbacks, by outcome.',
    ['outcome'],
  );
  readonly #mails = this.#counter(
    'svc_letters_total',
    'Notifications to people, by channel and outcome.',
    ['channel', 'outcome'],
  );
  readonly #mailsIn = this.#counter(
    'svc_mails_in_total',
    'Mails taken from the mailbox, by outcome.',
    ['outcome'],
  );
  readonly #mailsOut = this.#counter(
    'svc_mails_out_total',
    'Attempts to send mails of agents, by outcome.',
    ['outcome'],
  );

  readonly #turnedAway = this.#counter(
    'svc_turned_away_total',
    'Requests, connections and waits beyond a limit, and bodies that came too slowly.',
    ['at', 'reason'],
  );

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
  }

  /** Registers gauges that read the current counts at each scrape. */
  gauge(gauges: () => Gauges): void {
    for (const [name, help, key] of GAUGES) {
      const gauge = new Gauge({
        name,
        help,
        collect() {
          this.set(gauges()[key]);
        },
        registers: [],
      });
      this.#registry.registerMetric(gauge);
    }
  }

  answered({ method, route, status, isExpected, seconds, delivery }: RequestMetric): void {
    // A client may invent methods, and each would create a series.
    const known = METHODS.has(method) ? method : 'other';
    this.#requests.inc({ method: known, route, status: isExpected ? 'expected' : status });
    this.#seconds.observe({ route }, seconds);
    if (route === INGRESS_ROUTE) this.#ingress.inc({ outcome: delivery ?? ingressOutcome(status) });
  }

  turnedAway({ at, reason }: Pick<TurnedAway, 'at' | 'reason'>): void {
    this.#turnedAway.inc({ at, reason });
  }

  /** Registers gauges of the open connections and the bodies in transfer. */
  gaugeAdmission(admission: Admission): void {
    const connections = new Gauge({
      name: 'svc_connections',
      help: 'Open connections.',
      collect() {
        this.set(admission.connections.count);
      },
      registers: [],
    });
    const bodies = new Gauge({
      name: 'svc_body_bytes',
      help: 'Bytes of bodies in transfer, by door.',
      labelNames: ['at'],
      collect() {
        for (const at of DOORS) this.set({ at }, admission.bodyBytes(at));
      },
      registers: [],
    });
    const underWay = new Gauge({
      name: 'svc_requests_under_way',
      help: 'Requests that are being worked on.',
      collect() {
        this.set(admission.turns.underWay);
      },
      registers: [],
    });
    const waiting = new Gauge({
      name: 'svc_waiting_request_bytes',
      help: 'Bytes that requests hold which wait for their turn.',
      collect() {
        this.set(admission.turns.waitingBytes);
      },
      registers: [],
    });
    for (const gauge of [connections, bodies, underWay, waiting])
      this.#registry.registerMetric(gauge);
  }

  eventReady(): void {
    this.#ready.inc();
  }

  pushed(outcome: AttemptOutcome): void {
    this.#pushes.inc({ outcome: pushOutcome(outcome) });
  }

  posted(channel: string, outcome: string): void {
    this.#mails.inc({ channel, outcome });
  }

  mailTaken(outcome: string): void {
    this.#mailsIn.inc({ outcome });
  }

  mailSent(outcome: string): void {
    this.#mailsOut.inc({ outcome });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name, help, labelNames: [...labelNames], registers: [this.#registry] });
  }
}

/** The outcome of a delivery that failed: unknown address, a limit, rejected signature or size, or our own failure. */
function ingressOutcome(status: number): string {
  if (status === 404) return 'unknown';
  if (status === 429) return 'limited';
  return status >= 500 ? 'failed' : 'rejected';
}

function pushOutcome(outcome: AttemptOutcome): string {
  if (outcome.kind === 'answered') return isSuccess(outcome.status) ? 'delivered' : 'refused';
  return outcome.guard ? 'forbidden' : 'failed';
}
