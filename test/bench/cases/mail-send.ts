import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '../../../shared/store/engine/connection.ts';
import { Program } from '../../helpers/mail-lab/program.ts';
import { freePort } from '../../helpers/programs.ts';
import { newProjects, type TeamGateway, type TeamProject } from '../../helpers/team.ts';
import type { Bench, RunBench } from '../bench.ts';
import { interleave } from '../bench.ts';
import type { Notification, SendOptions } from '../child/mail-sender.ts';
import type { Child } from '../children.ts';
import { Caller, MAIL_DOMAIN, NO_LAB, startLab, startMailGateway } from '../mail-gateway.ts';
import { buildProduct } from '../product.ts';
import type { Row } from '../report.ts';
import { ratios, spread } from '../stats.ts';
import { findTool, missing } from '../tools.ts';

/** A project sends 50 mails a day at the most. */
const PROJECTS = 20;
const CALLS = 2;
const RECIPIENTS = 25;
const MAILS = PROJECTS * CALLS * RECIPIENTS;
/** So many the product has to a server. */
const CONNECTIONS = 5;
const SELECTOR = 'bench';
const LOOK_MS = 20;
const PATIENCE_MS = 60_000;

/** What Postfix took is delivered a little later, and should not be while the other side is measured. */
const SETTLED_MS = 3000;

const target = { of: 'ratio', op: '>=', limit: 0.7 } as const;
const REAL = {
  bench: 'mail-send',
  what: `${MAILS} mails of ${PROJECTS} projects to Postfix`,
  target,
};
const PLAIN = { bench: 'mail-send', what: 'the same to a server that keeps nothing', target };
const SIGNED = {
  bench: 'mail-send',
  what: 'the same to that server, signed with DKIM',
  target,
};

/** Mails that agents send, each noted durably before it leaves and after, against the same by a pool of nodemailer. */
export const mailSend: RunBench = async (bench) => {
  const program = findTool('smtp-sink');
  if (!program) {
    const skipped = missing('smtp-sink');
    return [REAL, PLAIN, SIGNED].map((row) => ({ ...row, skipped }));
  }
  await buildProduct(bench.progress);
  const port = await startSink(bench, program);
  const key = signingKey(bench);
  const plain = await Sender.start(bench, port, {});
  const signed = await Sender.start(bench, port, key.settings);
  const child = await bench.workshop.child('mail-sender');
  const sides = {
    plain: () => plain.run(),
    barePlain: () => bare(child, port, null),
    signed: () => signed.run(),
    bareSigned: () => bare(child, port, key.dkim),
  };
  await interleave<keyof typeof sides, number>({ rounds: 1, progress: () => undefined }, sides);
  const runs = await interleave<keyof typeof sides, number>(bench, sides);
  for (const one of [plain, signed]) await one.end();
  const real = await toPostfix(bench, child);
  await child.end();
  return [
    real,
    { ...PLAIN, ...against(runs.plain, runs.barePlain) },
    { ...SIGNED, ...against(runs.signed, runs.bareSigned) },
  ];
};

/** The same to a real server, which has each mail on its disk before it says so. */
async function toPostfix(bench: Bench, child: Child): Promise<Row> {
  const lab = await startLab(bench);
  if (!lab) return { ...REAL, skipped: NO_LAB };
  const sender = await Sender.start(bench, lab.smtpPort, {});
  const sides = {
    ours: () => settled(sender.run()),
    bare: () => settled(bare(child, lab.smtpPort, null)),
  };
  await interleave<keyof typeof sides, number>({ rounds: 1, progress: () => undefined }, sides);
  const runs = await interleave<keyof typeof sides, number>(bench, sides);
  await sender.end();
  return { ...REAL, ...against(runs.ours, runs.bare) };
}

async function settled(run: Promise<number>): Promise<number> {
  const rate = await run;
  await sleep(SETTLED_MS);
  return rate;
}

function against(rateLimiter: readonly number[], bareRates: readonly number[]) {
  return {
    value: { unit: '/s', spread: spread(rateLimiter) },
    baseline: { name: 'a pool of nodemailer', unit: '/s', spread: spread(bareRates) },
    ratio: ratios(rateLimiter, bareRates),
  };
}

/** A server that takes every mail and keeps none; answers its port. */
async function startSink({ workshop }: Bench, program: string): Promise<number> {
  const port = await freePort();
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'postfix'] : [];
  const log = join(workshop.place('sink'), 'log');
  const command = [program, ...user, `127.0.0.1:${port}`, '100'];
  workshop.own(await Program.start(command, { log, doors: [port] }));
  return port;
}

interface Key {
  readonly settings: Readonly<Record<string, string>>;
  readonly dkim: SendOptions['dkim'];
}

function signingKey({ workshop }: Bench): Key {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const file = join(workshop.place('key'), 'dkim.pem');
  writeFileSync(file, privateKey, { mode: 0o600 });
  return {
    settings: { SVC_DKIM_KEY_FILE: file, SVC_DKIM_SELECTOR: SELECTOR },
    dkim: { domainName: MAIL_DOMAIN, keySelector: SELECTOR, privateKey },
  };
}

/** A gateway that sends, with projects for each round: none of them has sent anything today. */
class Sender {
  readonly #gateway: TeamGateway;
  readonly #projects: TeamProject[];

  private constructor(gateway: TeamGateway, projects: TeamProject[]) {
    this.#gateway = gateway;
    this.#projects = projects;
  }

  static async start(
    bench: Bench,
    port: number,
    settings: Readonly<Record<string, string>>,
  ): Promise<Sender> {
    const dataFolder = bench.workshop.place('mail-send');
    const projects = await newProjects(dataFolder, PROJECTS * (bench.rounds + 1));
    for (const { id } of projects) allowSending(join(dataFolder, 'projects', id, 'project.db'));
    const gateway = await startMailGateway(bench, dataFolder, {
      SVC_SMTP_URL: `smtp://127.0.0.1:${port}`,
      SVC_MAIL_FROM: `approvals@${MAIL_DOMAIN}`,
      ...settings,
    });
    return new Sender(gateway, projects);
  }

  /** Mails a second. */
  async run(): Promise<number> {
    const callers = this.#projects
      .splice(0, PROJECTS)
      .map(({ apiKey }) => new Caller(this.#gateway.url, apiKey));
    for (const caller of callers) await caller.takeMail();
    const start = performance.now();
    await sendAll(callers);
    const ms = performance.now() - start;
    for (const caller of callers) caller.close();
    return (MAILS * 1000) / ms;
  }

  end(): Promise<void> {
    return this.#gateway.end();
  }
}

/** What a person would have approved, put into the closed database of a project. */
function allowSending(file: string): void {
  const connection = new Connection(file);
  const rules = JSON.stringify([{ id: 'all', effect: 'allow', tool: 'email_send' }]);
  const approvedAt = new Date().toISOString();
  connection.run('INSERT INTO policy (version, rules, approved_at) VALUES (1, ?, ?)', [
    rules,
    approvedAt,
  ]);
  connection.close();
}

interface Batch {
  readonly batch_id: string;
  readonly status: string;
  readonly messages: readonly {
    readonly status: string;
    readonly error?: { readonly message: string };
  }[];
}

/** Resolves when all mails of all projects are sent. */
async function sendAll(callers: readonly Caller[]): Promise<void> {
  const calls = callers.flatMap((caller, project) =>
    notificationsOf(project).map(async ({ to, subject, text }) => {
      const wanted = { to, subject, text, wait_seconds: 0 };
      return { caller, batch: await caller.post<Batch>('/v1/emails', wanted) };
    }),
  );
  // One is looked at after another, so that looking costs the gateway next to nothing.
  for (const { caller, batch } of await Promise.all(calls)) await untilSent(caller, batch.batch_id);
}

async function untilSent(caller: Caller, id: string): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const { status, messages } = await caller.get<Batch>(`/v1/emails/${id}`);
    const sent = messages.filter((message) => message.status === 'sent').length;
    if (sent === RECIPIENTS) return;
    if (status !== 'queued' || performance.now() > until) {
      const why = messages.find(({ error }) => error)?.error?.message ?? '';
      throw new Error(`${sent} of ${RECIPIENTS} mails were sent. ${why}`);
    }
    await sleep(LOOK_MS);
  }
}

/** Mails a second of the library alone. */
async function bare(child: Child, port: number, dkim: SendOptions['dkim']): Promise<number> {
  const letters = Array.from({ length: PROJECTS }, (_, project) => notificationsOf(project)).flat();
  const options: SendOptions = { port, connections: CONNECTIONS, letters, dkim };
  return (MAILS * 1000) / (await child.call<number>('send', options));
}

function notificationsOf(project: number): Notification[] {
  return Array.from({ length: CALLS }, (_, number) => ({
    from: { name: `team-${project}`, address: `team-${project}@${MAIL_DOMAIN}` },
    replyTo: `team-${project}+r.0123456789abcdef0123456789abcdef@${MAIL_DOMAIN}`,
    to: Array.from({ length: RECIPIENTS }, (__, one) => `person-${one}@people.test`),
    subject: `Report ${number}`,
    text: 'It is all in the report, and nothing is out of the ordinary.\n'.repeat(16),
  }));
}
