import { TestGateway, type FakeClock } from '../../helpers/gateway.ts';
import { linkToken, tokensOf } from '../../helpers/outbox.ts';
import { Person } from '../auth/sign-in/person.ts';
import { WebVisitor } from '../web/inbox/web-visitor.ts';

export interface Member {
  readonly id: string;
  readonly role: string;
  readonly status: string;
  readonly address: string | null;
  readonly channel_id: string | null;
}

interface Refusal {
  readonly error?: { readonly code: string; readonly details?: Record<string, unknown> };
}

type Body = Record<string, unknown>;

/** A gateway where people sign in, and a project that its owner founded. */
export class Team {
  readonly gateway: TestGateway;
  readonly key: string;
  readonly projectId: string;
  readonly slug: string;
  readonly ownerChannel: string;

  private constructor(
    gateway: TestGateway,
    founded: { key: string; projectId: string; slug: string; ownerChannel: string },
  ) {
    this.gateway = gateway;
    this.key = founded.key;
    this.projectId = founded.projectId;
    this.slug = founded.slug;
    this.ownerChannel = founded.ownerChannel;
  }

  /** Nobody may sign up but the first person, and whom they invite. */
  static async found(clock?: FakeClock, owner = 'ana@example.com'): Promise<Team> {
    const signUp = { isOpen: false, domains: [], mailboxes: [owner] };
    const gateway = await TestGateway.start({ signIn: true, signUp, ...(clock && { clock }) });
    const founded = await new Person(gateway, owner).project({ slug: 'shop' });
    return new Team(gateway, {
      key: founded.api_key,
      projectId: founded.project.id,
      slug: founded.project.slug,
      ownerChannel: founded.channel.id,
    });
  }

  stop(): Promise<void> {
    return this.gateway.stop();
  }

  call<T = Body>(method: string, path: string, body?: Body, key = this.key) {
    return this.gateway.call<T & Refusal>(method, path, { key, ...(body && { body }) });
  }

  async members(): Promise<Member[]> {
    return (await this.call<{ items: Member[] }>('GET', '/v1/members')).body.items;
  }

  async member(address: string): Promise<Member> {
    const found = (await this.members()).find((one) => one.address === address);
    if (!found) throw new Error(`No member ${address}.`);
    return found;
  }

  /** The owner, signed in to the web inbox. */
  owner(email = 'ana@example.com'): Promise<WebVisitor> {
    return WebVisitor.asOwner(this.gateway, email);
  }

  page(path: string): string {
    return `/ui/p/${this.slug}/${path}`;
  }

  /** Invites from a visitor's browser, and returns the link of the mail. */
  async inviteFrom(visitor: WebVisitor, email: string, role: string): Promise<string> {
    const before = tokensOf(this.gateway.folder, 'ui/join').length;
    await visitor.get(`${this.page('members')}?invite=1`);
    const answer = await visitor.post(`${this.page('members')}?invite=1`, {
      fields: { email, role },
    });
    if (answer.status !== 303) throw new Error(answer.html);
    return `/ui/join/${await linkToken(this.gateway.folder, 'ui/join', before + 1)}`;
  }

  /** Somebody who was invited by the owner and has joined, in their browser. `owner`: their open session, if there is one. */
  async joined(email: string, role: string, owner?: WebVisitor): Promise<WebVisitor> {
    const link = await this.inviteFrom(owner ?? (await this.owner()), email, role);
    const visitor = new WebVisitor(this.gateway);
    const page = await visitor.enter(link);
    if (page.status !== 303) throw new Error(page.html);
    return visitor;
  }

  /** A key for somebody on their own machine, by a sign-in. */
  async keyOf(email: string, body: Body = {}) {
    return new Person(this.gateway, email).key(this.projectId, body);
  }

  /** Asks everybody who can be asked, and returns the request's id. */
  async asked(body: Body = {}): Promise<string> {
    const input = { action: 'deploy', summary: 'Deploy v2', wait_seconds: 0, ...body };
    const { body: answer } = await this.call<{ request_id: string }>('POST', '/v1/requests', input);
    return answer.request_id;
  }

  async request(id: string, key = this.key) {
    const answer = await this.call<{ status: string; decided_by: string; approvers: string[] }>(
      'GET',
      `/v1/requests/${id}`,
      undefined,
      key,
    );
    return answer.body;
  }
}
