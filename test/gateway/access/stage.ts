import { LOOPBACK, Receiver } from '../callbacks/callback-receiver.ts';
import { TestPeople } from '../approvals/people.ts';
import { Person } from '../auth/sign-in/person.ts';
import { FakeClock, TestGateway } from '../../helpers/gateway.ts';

export const OWNER = 'ana@example.com';

type Body = Record<string, unknown>;

/** A key as `key_create` answers it. */
export interface Key {
  readonly id: string;
  readonly api_key: string;
}

interface Thing {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  readonly hint?: string;
}

/** What key_revoke says became of what the key made. */
export interface Aftermath {
  readonly ended: readonly Thing[];
  readonly left: readonly Thing[];
}

/** A project with an owner, a source that everybody uses, and a server of a stranger. */
export class Stage {
  readonly gateway: TestGateway;
  readonly clock: FakeClock;
  readonly people: TestPeople;
  readonly receiver: Receiver;
  readonly ownerKey: string;
  readonly projectId: string;
  readonly slug: string;
  readonly ownerChannel: string;
  readonly hook: string;

  private constructor(parts: Omit<Stage, 'call' | 'made' | 'newKey' | 'reads' | 'stop'>) {
    this.gateway = parts.gateway;
    this.clock = parts.clock;
    this.people = parts.people;
    this.receiver = parts.receiver;
    this.ownerKey = parts.ownerKey;
    this.projectId = parts.projectId;
    this.slug = parts.slug;
    this.ownerChannel = parts.ownerChannel;
    this.hook = parts.hook;
  }

  static async set(): Promise<Stage> {
    const clock = new FakeClock();
    const gateway = await TestGateway.start({ clock, signIn: true, callbackAllow: LOOPBACK });
    const {
      api_key: ownerKey,
      project,
      channel,
    } = await new Person(gateway, OWNER).project({
      slug: 'shop',
    });
    const receiver = await Receiver.start();
    const source = await gateway.call<{ url: string }>('POST', '/v1/sources', {
      key: ownerKey,
      body: { type: 'webhook', name: 'orders' },
    });
    return new Stage({
      gateway,
      clock,
      people: await TestPeople.of(gateway, clock, project.id),
      receiver,
      ownerKey,
      projectId: project.id,
      slug: project.slug,
      ownerChannel: channel.id,
      hook: source.body.url,
    });
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    await this.receiver.stop();
  }

  call<T = Body>(key: string, method: string, path: string, body?: unknown) {
    return this.gateway.call<T>(method, path, { key, ...(body !== undefined && { body }) });
  }

  /** Fails unless it worked: what couldn't be prepared proves nothing. */
  async made<T = Body>(key: string, method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.call<T>(key, method, path, body);
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  newKey(by: string, scopes: readonly string[] = ['admin', 'inbox:read']): Promise<Key> {
    return this.made<Key>(by, 'POST', '/v1/keys', { name: 'side door', scopes });
  }

  /** Whether a key reads the inbox. */
  async reads(key: string): Promise<boolean> {
    return (await this.call(key, 'GET', '/v1/inbox')).status === 200;
  }
}
