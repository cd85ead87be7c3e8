import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach } from 'vitest';
import type { Choice, DecisionOutcome } from '../../../gateway/approvals/approvals.ts';
import type { Project } from '../../../gateway/projects/project.ts';
import { maintain } from '../../../gateway/projects/maintenance.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { readMailConfig } from '../../../gateway/mail/read-mail-config.ts';
import { FakeTelegram } from '../../helpers/fake-telegram.ts';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { tokensOf } from '../../helpers/outbox.ts';
import type { FakePerson } from '../../helpers/telegram-person.ts';

const PATIENCE_MS = 60_000;

/** An answer about a request, or the refusal of it. */
export interface Asked {
  readonly request_id: string;
  readonly status: string;
  readonly decision: string | null;
  readonly comment: string | null;
  readonly hint: string | null;
  readonly decided_by: string | null;
  readonly decided_at: string | null;
  readonly state_ref: string | null;
  readonly expires_at: string;
  readonly poll_after_seconds: number | null;
  readonly approvers: string[];
  readonly notified: { channel_id: string; kind: string; status: string; at: string }[];
  readonly approvals: { needed: number; given: { channel_id: string; at: string }[] };
  readonly error?: { code: string; hint: string | null; details?: Record<string, unknown> };
}

export interface Channel {
  readonly id: string;
  readonly status: string;
  readonly owner: boolean;
  readonly address: string | null;
  readonly label: string;
  readonly person_of: string | null;
}

interface Link {
  readonly requestId: string;
  readonly channelId: string;
}

/** A gateway with its people, at a time that stands still. */
interface PeopleSetting {
  readonly test: TestGateway;
  readonly clock: FakeClock;
  readonly people: TestPeople;
  /** The owner's channel. */
  readonly owner: string;
}

/** Gives each test of the file a gateway of its own, and stops it afterwards. */
export function eachWithPeople(use: (made: PeopleSetting) => unknown): void {
  let test: TestGateway;
  beforeEach(async () => {
    const clock = new FakeClock();
    test = await TestGateway.start({ clock });
    const people = await TestPeople.of(test, clock);
    await use({ test, clock, people, owner: await people.owner() });
  });
  afterEach(() => test.stop());
}

/** A gateway with a bot, which reads its chats. */
export async function startWithBot(
  clock: Clock,
): Promise<{ readonly test: TestGateway; readonly telegram: FakeTelegram }> {
  const telegram = await FakeTelegram.start();
  const { token, url: apiRoot } = telegram;
  const messaging = {
    mail: readMailConfig({}),
    telegram: { token, apiRoot, mode: 'poll' } as const,
  };
  return { test: await TestGateway.start({ clock, messaging }), telegram };
}

/** The people of a gateway's project: what they are mailed, and what they decide. */
export class TestPeople {
  readonly gateway: TestGateway;
  readonly project: Project;
  readonly #clock: Clock;
  /** What the links of mails so far lead to. */
  readonly #links = new Map<string, Link | null>();

  private constructor(gateway: TestGateway, project: Project, clock: Clock) {
    this.gateway = gateway;
    this.project = project;
    this.#clock = clock;
  }

  static async of(
    gateway: TestGateway,
    clock: Clock,
    projectId = gateway.projectId,
  ): Promise<TestPeople> {
    const project = await gateway.gateway.projects.find(projectId);
    if (!project) throw new Error('There is no project.');
    return new TestPeople(gateway, project, clock);
  }

  /** Asks, without waiting unless told otherwise. */
  async ask(body: Record<string, unknown> = {}, options: { key?: string; once?: string } = {}) {
    const { key, once } = options;
    const defaults = 'question' in body ? {} : { action: 'deploy', summary: 'Deploy v2' };
    return this.gateway.call<Asked>('POST', '/v1/requests', {
      body: { ...defaults, wait_seconds: 0, ...body },
      ...(key !== undefined && { key }),
      ...(once !== undefined && { headers: { 'idempotency-key': once } }),
    });
  }

  /** Asks, and answers the id of the request. */
  async asked(body: Record<string, unknown> = {}): Promise<string> {
    const { body: answer } = await this.ask(body);
    if (!answer.request_id) throw new Error(JSON.stringify(answer));
    return answer.request_id;
  }

  async status(requestId: string): Promise<Asked> {
    return (await this.gateway.call<Asked>('GET', `/v1/requests/${requestId}`)).body;
  }

  /** The link that a channel was mailed about a request, as soon as it has come. */
  async link(requestId: string, channelId?: string): Promise<string> {
    const until = performance.now() + PATIENCE_MS;
    while (performance.now() < until) {
      for (const [token, link] of await this.#allLinks()) {
        if (link?.requestId !== requestId) continue;
        if (channelId === undefined || link.channelId === channelId) return token;
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`No link about ${requestId} came to ${channelId ?? 'anybody'}.`);
  }

  async #allLinks(): Promise<ReadonlyMap<string, Link | null>> {
    for (const token of tokensOf(this.gateway.folder, 'a')) {
      if (this.#links.has(token)) continue;
      const opened = await this.gateway.gateway.approvals.open(token);
      this.#links.set(
        token,
        opened && { requestId: opened.request.id, channelId: opened.channel.id },
      );
    }
    return this.#links;
  }

  async decide(
    requestId: string,
    choice: Choice,
    channelId?: string,
  ): Promise<DecisionOutcome | null> {
    const token = await this.link(requestId, channelId);
    return this.gateway.gateway.approvals.decide(token, choice);
  }

  async owner(): Promise<string> {
    const owner = (await this.channels()).find((one) => one.owner);
    return owner?.id ?? '';
  }

  async channels(): Promise<Channel[]> {
    const { body } = await this.gateway.call<{ items: Channel[] }>('GET', '/v1/channels');
    return body.items;
  }

  async addChannel(address: string, label = 'more') {
    return this.gateway.call<{ channel: Channel; error?: Asked['error'] }>('POST', '/v1/channels', {
      body: { kind: 'email', address, label },
    });
  }

  /** The request of the newest channel to be let in. */
  async askedToLetIn(): Promise<string> {
    const pending = await this.project.store.read((store) =>
      store.requests.pending(this.#clock.now()),
    );
    return pending.findLast(({ kind }) => kind === 'channel')?.id ?? '';
  }

  /** A channel through all its steps: added, confirmed, let in by the owner. */
  async activeChannel(
    address: string,
    label = 'more',
    said: Choice = { verb: 'approve' },
  ): Promise<string> {
    const before = tokensOf(this.gateway.folder, 'c').length;
    const { body } = await this.addChannel(address, label);
    const token = await this.#newLink(before);
    await this.gateway.gateway.approvals.verifyEmail(token);
    await this.decide(await this.askedToLetIn(), said);
    return body.channel.id;
  }

  /** A Telegram chat through all its steps: added, started by the person, let in by the owner with these words. */
  async chat(person: FakePerson, said: Choice, label?: string): Promise<string> {
    const body = { kind: 'telegram', ...(label !== undefined && { label }) };
    const add = () =>
      this.gateway.call<{ channel: Channel; start_url: string }>('POST', '/v1/channels', { body });
    let added = await add();
    // Until the bot knows its own name.
    while (added.status !== 201) {
      await sleep(5);
      added = await add();
    }
    person.says(`/start ${new URL(added.body.start_url).searchParams.get('start') ?? ''}`);
    let asked = await this.askedToLetIn();
    while (asked === '') {
      await sleep(5);
      asked = await this.askedToLetIn();
    }
    await this.decide(asked, said);
    return added.body.channel.id;
  }

  /** The newest link that confirms an address, once there are more than so many. */
  async confirmLink(before = 0): Promise<string> {
    return this.#newLink(before);
  }

  async #newLink(before: number): Promise<string> {
    const until = performance.now() + PATIENCE_MS;
    while (performance.now() < until) {
      const tokens = tokensOf(this.gateway.folder, 'c');
      if (tokens.length > before) return tokens.at(-1) ?? '';
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error('No link came that confirms an address.');
  }

  async removeChannel(channelId: string) {
    return this.gateway.call('DELETE', `/v1/channels/${channelId}`);
  }

  async propose(rules: readonly unknown[], more: Record<string, unknown> = {}) {
    return this.gateway.call<Asked & { warnings: { rule: string }[] }>('PUT', '/v1/policy', {
      body: { policy: { rules }, wait_seconds: 0, ...more },
    });
  }

  /** Makes these rules the policy that holds. */
  async setPolicy(...rules: readonly unknown[]): Promise<void> {
    const { body } = await this.propose(rules);
    if (!body.request_id) throw new Error(JSON.stringify(body));
    const done = await this.decide(body.request_id, { verb: 'approve' });
    if (done?.opened.request.status !== 'approved') throw new Error('It was not approved.');
  }

  /** What time has done is written down. */
  async maintenance(): Promise<void> {
    await maintain(this.project, this.#clock);
  }

  /** Payloads of the events that told how requests ended, oldest first; `done`: of requests whose asker had the answer. */
  async events(status = 'pending'): Promise<Asked[]> {
    const path = `/v1/inbox?type=request.resolved&status=${status}&limit=100`;
    const { body } = await this.gateway.call<{ items: { payload: Asked }[] }>('GET', path);
    return body.items.map(({ payload }) => payload);
  }

  async ledger(op: string): Promise<Record<string, unknown>[]> {
    const path = `/v1/ledger?op=${op}&limit=500`;
    const { body } = await this.gateway.call<{ items: Record<string, unknown>[] }>('GET', path);
    return body.items;
  }
}

/** A refusal, to match an answer with. */
export const refused = (status: number, code: string, details?: unknown) => ({
  status,
  body: { error: { code, ...(details !== undefined && { details }) } },
});
