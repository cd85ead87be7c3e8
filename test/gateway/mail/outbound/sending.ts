import { join } from 'node:path';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { MailConfig } from '../../../../gateway/mail/mail-config.ts';
import type { Project } from '../../../../gateway/projects/project.ts';
import { maintain } from '../../../../gateway/projects/maintenance.ts';
import { isoTime } from '../../../../shared/lib/clock.ts';
import type { Envelope } from '../../../../shared/kernel/envelope.ts';
import type { ErrorBody } from '../../../../shared/lib/errors.ts';
import type { EmailMessageRow } from '../../../../shared/store/tables/mail/emails.ts';
import type { FakeSmtp } from '../../../helpers/fake-smtp.ts';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { writerOf } from '../../../helpers/writers.ts';
import { until } from '../../callbacks/callback-receiver.ts';

export const DOMAIN = 'agents.test';

export interface Batch {
  readonly status: string;
  readonly batch_id: string;
  readonly request_id: string | null;
  readonly messages: readonly {
    readonly message_id: string;
    readonly to: string;
    readonly status: string;
    readonly error?: { readonly code: string; readonly message: string };
  }[];
  readonly error?: ErrorBody['error'];
}

type GatewayOptions = NonNullable<Parameters<typeof TestGateway.start>[0]>;

type Options = Omit<GatewayOptions, 'clock' | 'messaging'> & {
  readonly clock?: FakeClock;
  /** Where mail goes; into the outbox without it. */
  readonly smtp?: FakeSmtp;
  readonly mail?: Partial<MailConfig>;
  /** Whether the project takes mail: so unless told otherwise. */
  readonly source?: boolean;
};

/** A project that sends mail. */
export class TestSending {
  readonly gateway: TestGateway;
  readonly project: Project;
  readonly clock: FakeClock;
  readonly apiKey: string;

  private constructor(gateway: TestGateway, project: Project, clock: FakeClock, apiKey: string) {
    this.gateway = gateway;
    this.project = project;
    this.clock = clock;
    this.apiKey = apiKey;
  }

  static async start(options: Options = {}): Promise<TestSending> {
    const { clock = new FakeClock(), smtp, mail, source = true, ...more } = options;
    const people = { mail: { ...configOf(smtp), ...mail } as MailConfig, telegram: null };
    const gateway = await TestGateway.start({ ...more, clock, messaging: people });
    const sending = await TestSending.of(gateway, gateway.projectId, clock);
    if (source) await gateway.addSource({ type: 'email', name: 'mail' });
    return sending;
  }

  /** The same for a project that is there; with the key of the gateway's own unless another is given. */
  static async of(
    gateway: TestGateway,
    projectId: string,
    clock: FakeClock,
    apiKey = gateway.apiKey,
  ): Promise<TestSending> {
    const project = await gateway.gateway.projects.find(projectId);
    if (!project) throw new Error('There is no project.');
    return new TestSending(gateway, project, clock, apiKey);
  }

  /** Another project of the same gateway. */
  async neighbour(slug: string, { source = true } = {}): Promise<TestSending> {
    const { gateway, clock } = this;
    const { project, apiKey } = await gateway.gateway.createProject({ name: 'Other', slug });
    const other = await TestSending.of(gateway, project.id, clock, apiKey);
    if (source) await other.call('POST', '/v1/sources', { type: 'email', name: 'mail' });
    return other;
  }

  call<T = Record<string, unknown>>(method: string, path: string, body?: unknown) {
    const { apiKey: key } = this;
    return this.gateway.call<T>(method, path, { key, ...(body !== undefined && { body }) });
  }

  /** The address of the project. */
  get address(): string {
    return `${this.project.info.slug}@${DOMAIN}`;
  }

  async send(
    body: Record<string, unknown> = {},
    options: { key?: string; once?: string } = {},
  ): Promise<{ status: number; body: Batch }> {
    const defaults = { to: ['ana@example.com'], subject: 'Hello', text: 'Hi.', wait_seconds: 0 };
    const { key = this.apiKey, once } = options;
    return this.gateway.call<Batch>('POST', '/v1/emails', {
      body: { ...defaults, ...body },
      key,
      ...(once !== undefined && { headers: { 'idempotency-key': once } }),
    });
  }

  /** Sends, and answers the id of the batch. */
  async sent(body: Record<string, unknown> = {}): Promise<string> {
    const answer = await this.send(body);
    if (!answer.body.batch_id) throw new Error(JSON.stringify(answer.body));
    return answer.body.batch_id;
  }

  async status(batchId: string): Promise<Batch> {
    return (await this.call<Batch>('GET', `/v1/emails/${batchId}`)).body;
  }

  /** Once no message of a batch is under way, what became of each. */
  async ended(batchId: string): Promise<Batch['messages']> {
    const isOver = ({ status }: Batch): boolean => ['sent', 'failed', 'cancelled'].includes(status);
    return (await until(() => this.status(batchId), isOver)).messages;
  }

  async file(path: string, content: string): Promise<void> {
    const answer = await this.gateway.call('PUT', `/v1/files/${encodeURIComponent(path)}`, {
      body: {
        content_base64: Buffer.from(content).toString('base64'),
        content_type: 'text/plain',
      },
      headers: { 'content-type': 'application/vnd.service.upload+json' },
    });
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  }

  /** Makes these rules the policy that holds, with nobody asked. */
  async policy(...rules: readonly Record<string, unknown>[]): Promise<void> {
    await writerOf(this.project).write(async (store) => {
      const version = ((await store.policies.current())?.version ?? 0) + 1;
      await store.policies.insert({
        version,
        rules: JSON.stringify(rules.map((rule, index) => ({ id: `rule-${index + 1}`, ...rule }))),
        note: null,
        request_id: null,
        approved_by: null,
        approved_at: isoTime(this.clock.now()),
      });
    });
  }

  /** Everything may be sent. */
  allowAll(): Promise<void> {
    return this.policy({ effect: 'allow', tool: ['email_send'] });
  }

  /** Events of a type, oldest first. */
  async events(type: string): Promise<Envelope[]> {
    const path = `/v1/inbox?type=${type}&limit=100`;
    return (await this.call<{ items: Envelope[] }>('GET', path)).body.items;
  }

  message(messageId: string): Promise<EmailMessageRow | undefined> {
    return this.project.store.read((store) => store.emails.find(messageId));
  }

  /** How many messages count as asked for today. */
  async asked(): Promise<number> {
    const { body } = await this.call<{ emails: { today: number } }>('GET', '/v1/usage');
    return body.emails.today;
  }

  /** Mails of the outbox that agents sent, in the order in which they were asked for. */
  outbox(): string[] {
    const folder = join(this.gateway.folder, 'outbox');
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .filter((name) => name.startsWith('msg_'))
      .toSorted()
      .map((name) => readFileSync(join(folder, name), 'utf8'));
  }

  async ledger(op: string): Promise<Record<string, unknown>[]> {
    const path = `/v1/ledger?op=${op}&limit=500`;
    const { body } = await this.call<{ items: Record<string, unknown>[] }>('GET', path);
    return body.items;
  }

  /** What time has done is written down, and what is due is sent. */
  maintenance(): Promise<void> {
    return maintain(this.project, this.clock);
  }

  stop(options: { keepFolder?: boolean } = {}): Promise<void> {
    return this.gateway.stop(options);
  }
}

function configOf(smtp: FakeSmtp | undefined): MailConfig {
  const common = { domain: DOMAIN, imap: null, dkim: null, dnsServers: [] };
  const from = 'svc@agents.test';
  if (!smtp) return { kind: 'outbox', from, ...common };
  const place = { host: '127.0.0.1', port: smtp.port, tls: 'off', credentials: null } as const;
  return { kind: 'smtp', ...place, from, ...common };
}

/** The fields that a refusal complains of. */
export const fieldsOf = (body: { readonly error?: ErrorBody['error'] }): string[] => {
  const fields = body.error?.details?.['fields'] as { path: string }[] | undefined;
  return (fields ?? []).map(({ path }) => path);
};
