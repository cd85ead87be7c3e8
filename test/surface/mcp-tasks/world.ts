import { readMailConfig } from '../../../gateway/mail/read-mail-config.ts';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { decide } from '../deciding.ts';
import { World } from '../scenario.ts';

const AGENT_SCOPES = ['inbox:read', 'inbox:write', 'approvals', 'disk', 'send', 'ledger:read'];
const LEASE_MS = 301_000;

const INVOICE = { type: 'invoice.paid', order: 'A-1001', amount: 4900, currency: 'EUR' };
const MAIL = [
  'From: Ana Silva <ana@customer.example>',
  'To: t@inbox.example',
  'Subject: Where is my order?',
  'Message-ID: <1@customer.example>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain',
  '',
  'Order A-1001 has not arrived. The invoice is attached.',
  '--b',
  'Content-Type: text/plain; name=invoice.txt',
  'Content-Disposition: attachment; filename=invoice.txt',
  '',
  'Invoice 17, 49 EUR',
  '--b--',
  '',
].join('\r\n');

/** What happens around an agent: deliveries, people, other agents, time. */
const HAPPENINGS = {
  'the shop sends an invoice': (place: Place) => place.deliver(INVOICE),
  'a mail arrives': (place: Place) => place.mail(),
  'the owner approves': (place: Place) => place.decide({ verb: 'approve' }),
  'the owner answers': (place: Place) => place.decide({ verb: 'answer', text: 'The blue one.' }),
  'the lease runs out': (place: Place) => place.pass(LEASE_MS),
  'an agent gives the event up': (place: Place) => place.giveUp(),
  'another agent counts': (place: Place) => place.run('kv_set', { key: 'orders/seen', value: 8 }),
  'orders are counted': (place: Place) => place.run('kv_set', { key: 'orders/seen', value: 7 }),
  'the policy denies mail to strangers': (place: Place) =>
    place.policy([
      {
        id: 'no-strangers',
        effect: 'deny',
        tool: 'email_send',
        recipient_domains: ['stranger.example'],
      },
    ]),
} as const;

export type Happening = keyof typeof HAPPENINGS;

/** One gateway, whose time stands still unless a task moves it. */
export class Town {
  readonly #clock: FakeClock;
  readonly #gateway: TestGateway;

  private constructor(gateway: TestGateway, clock: FakeClock) {
    this.#gateway = gateway;
    this.#clock = clock;
  }

  static async open(): Promise<Town> {
    const clock = new FakeClock();
    const mail = readMailConfig({ SVC_MAIL_DOMAIN: 'inbox.example' });
    const gateway = await TestGateway.start({ clock, messaging: { mail, telegram: null } });
    return new Town(gateway, clock);
  }

  close(): Promise<void> {
    return this.#gateway.stop();
  }

  /** A project of its own. */
  async place(slug: string): Promise<Place> {
    const { apiKey } = await this.#gateway.gateway.createProject({ name: 'Task', slug });
    return new Place(this.#gateway, this.#clock, apiKey);
  }
}

/** The project that a task is about. */
export class Place {
  readonly #test: TestGateway;
  readonly #clock: FakeClock;
  readonly #world: World;
  /** The id of the last event. */
  event = '';

  constructor(test: TestGateway, clock: FakeClock, apiKey: string) {
    this.#test = test;
    this.#clock = clock;
    this.#world = new World({ url: test.url, apiKey }, undefined, test.folder);
  }

  get url(): string {
    return this.#test.url;
  }

  async key(scopes: readonly string[] = AGENT_SCOPES): Promise<string> {
    return (await this.#world.newKey(...scopes)).apiKey;
  }

  async happen(what: Happening): Promise<void> {
    await HAPPENINGS[what](this);
  }

  async run(name: string, input: Record<string, unknown>): Promise<void> {
    await this.#world.get(name, input);
  }

  async deliver(body: object): Promise<void> {
    const url = await this.#world.hook('shop');
    const { body: answer } = await this.#world.deliver(url, JSON.stringify(body));
    this.event = String(answer['event_id']);
  }

  async mail(): Promise<void> {
    const source = await this.#world.get('source_add', { type: 'email', name: 'mail' });
    const { body } = await this.#world.deliver(String(source['url']), MAIL, {
      'content-type': 'message/rfc822',
    });
    this.event = String(body['event_id']);
  }

  async giveUp(): Promise<void> {
    const event_id = this.event;
    await this.run('inbox_claim', { event_id });
    const reason = 'The order A-1001 is unknown to the warehouse.';
    await this.run('inbox_nack', { event_id, reason, retry: false });
  }

  /** The owner decides what was asked last. */
  async decide(choice: Parameters<typeof decide>[3]): Promise<void> {
    const { items } = await this.#world.get('request_list', { status: 'pending', limit: 1 });
    const [asked] = items as { request_id: string }[];
    await decide(this.#test, this.#world, asked?.request_id ?? '', choice);
  }

  async policy(rules: readonly object[]): Promise<void> {
    await this.run('policy_set', { policy: { rules }, wait_seconds: 0 });
    await this.decide({ verb: 'approve' });
  }

  async pass(ms: number): Promise<void> {
    this.#clock.advance(ms);
  }
}
