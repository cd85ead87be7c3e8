import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ImapFlow } from 'imapflow';
import type { MailLab } from '../../helpers/mail-lab.ts';
import { newProject } from '../../helpers/team.ts';
import type { Bench, RunBench } from '../bench.ts';
import { Caller, MAIL_DOMAIN, NO_LAB, startLab, startMailGateway } from '../mail-gateway.ts';
import { buildProduct } from '../product.ts';
import type { Row } from '../report.ts';
import { quantile, ratios, spread } from '../stats.ts';

const WARM_UP = 3;
/** By then the wait has reached the server, looked, found nothing and gone to sleep. */
const ASLEEP_MS = 15;
/**
 * Dovecot tells what is new half a second after the first sign of it. By now all is told that the last mail has set off,
 * so that the next one waits for that half second from its own start, and with every client.
 */
const SETTLED_MS = 700;
/** A mail that is moved away before Dovecot looks is one that it does not tell of. */
const UNSEEN_MS = 2000;

const WHOLE = {
  bench: 'mail-wake',
  what: 'signed mail, from SMTP to the answer of a wait, p50',
};
const BEYOND = {
  bench: 'mail-wake',
  what: "signed mail, from the mail server's notice to the answer of a wait, p50",
  target: { of: 'value', op: '<=', limit: 100 } as const,
};

interface Timed {
  /** From handing the mail to the SMTP server to the answer of the wait. */
  readonly wholeMs: number;
  /** From there to the notice that another IMAP client gets; null when it got none. */
  readonly noticeMs: number | null;
}

/** How soon a wait answers a mail, beside a client that the IMAP server tells of it at the same time. */
export const mailWake: RunBench = async (bench) => {
  const lab = await startLab(bench);
  if (!lab) return [WHOLE, BEYOND].map((row) => ({ ...row, skipped: NO_LAB }));
  await buildProduct(bench.progress);
  const probe = await Probe.open(bench, lab);
  for (let time = 0; time < WARM_UP; time += 1) await probe.once();
  const rounds: Timed[][] = [];
  for (let round = 0; round < bench.rounds; round += 1) {
    const times: Timed[] = [];
    for (let time = 0; time < (bench.quick ? 10 : 40); time += 1) times.push(await probe.once());
    rounds.push(times);
    bench.progress(`round ${round + 1} of ${bench.rounds}`);
  }
  await probe.close();
  return rowsOf(rounds);
};

function rowsOf(rounds: readonly (readonly Timed[])[]): Row[] {
  const medians = (of: (time: Timed) => number | null): number[] =>
    rounds.map((times) =>
      quantile(
        times.flatMap((time) => of(time) ?? []),
        0.5,
      ),
    );
  const whole = medians(({ wholeMs }) => wholeMs);
  const notice = medians(({ noticeMs }) => noticeMs);
  const beyond = medians(({ wholeMs, noticeMs }) =>
    noticeMs === null ? null : wholeMs - noticeMs,
  );
  const all = rounds.flat();
  const unseen = all.filter(({ noticeMs }) => noticeMs === null).length;
  return [
    {
      ...WHOLE,
      value: figure(whole),
      baseline: { name: 'an IMAP client in IDLE', ...figure(notice) },
      ratio: ratios(whole, notice),
    },
    {
      ...BEYOND,
      value: figure(beyond),
      ...(unseen > 0 && { note: `${unseen} of ${all.length} mails were moved away unnoticed` }),
    },
  ];
}

function figure(ms: readonly number[]) {
  return { unit: 'ms', spread: spread(ms) };
}

/** Sends a mail while an agent waits and another client of the mailbox looks on. */
class Probe {
  readonly #lab: MailLab;
  readonly #caller: Caller;
  readonly #witness: Witness;
  #last: string | null = null;
  #number = 0;

  private constructor(lab: MailLab, caller: Caller, witness: Witness) {
    this.#lab = lab;
    this.#caller = caller;
    this.#witness = witness;
  }

  static async open(bench: Bench, lab: MailLab): Promise<Probe> {
    const dataFolder = bench.workshop.place('mail-wake');
    const { apiKey } = await newProject(dataFolder, 'team');
    const { url } = await startMailGateway(bench, dataFolder, {
      SVC_IMAP_URL: lab.imapUrl,
      SVC_DNS_SERVERS: lab.dnsServers.join(','),
    });
    const caller = new Caller(url, apiKey);
    await caller.takeMail();
    return new Probe(lab, caller, await Witness.open(lab));
  }

  async once(): Promise<Timed> {
    this.#number += 1;
    const subject = `Mail ${this.#number}`;
    const after = this.#last === null ? '' : `after=${this.#last}&`;
    const waiting = this.#caller
      .get<{ event: WokenBy | null }>(`/v1/inbox/wait?${after}timeout_seconds=60`)
      .then(({ event }) => ({ event, at: performance.now() }));
    await sleep(ASLEEP_MS);
    const noticed = this.#witness.noticed();
    const start = performance.now();
    await this.#lab.send({
      from: 'ana@people.test',
      to: `team@${MAIL_DOMAIN}`,
      raw: letter(subject),
    });
    const { event, at } = await waiting;
    if (event?.payload?.subject !== subject) throw new Error('The wait answered another event.');
    if (!event.verified) throw new Error('The mail was not verified.');
    this.#last = event.id;
    const noticedAt = await Promise.race([noticed, sleep(UNSEEN_MS, null)]);
    await sleep(SETTLED_MS);
    return { wholeMs: at - start, noticeMs: noticedAt === null ? null : noticedAt - start };
  }

  async close(): Promise<void> {
    this.#caller.close();
    await this.#witness.close();
  }
}

interface WokenBy {
  readonly id: string;
  readonly verified: boolean;
  readonly payload: { readonly subject: string } | null;
}

function letter(subject: string): string {
  return [
    'From: Ana <ana@people.test>',
    `To: team@${MAIL_DOMAIN}`,
    `Subject: ${subject}`,
    `Date: ${new Date().toUTCString()}`,
    `Message-ID: <${randomUUID()}@people.test>`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'It is all in the report.\r\n'.repeat(40),
  ].join('\r\n');
}

/** A client of the same mailbox in IDLE (RFC 2177), which does nothing but listen. */
class Witness {
  readonly #client: ImapFlow;

  private constructor(client: ImapFlow) {
    this.#client = client;
  }

  static async open(lab: MailLab): Promise<Witness> {
    const client = new ImapFlow({
      host: '127.0.0.1',
      port: lab.imapPort,
      secure: false,
      doSTARTTLS: false,
      auth: { user: lab.user, pass: lab.password },
      disableAutoIdle: true,
      logger: false,
    });
    await client.connect();
    await client.mailboxOpen('INBOX');
    void client.idle();
    return new Witness(client);
  }

  /** Resolves at the next notice of a new mail, with the time. */
  noticed(): Promise<number> {
    return new Promise((resolve) => {
      this.#client.once('exists', () => resolve(performance.now()));
    });
  }

  async close(): Promise<void> {
    await this.#client.logout();
  }
}
