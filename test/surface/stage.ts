import { join } from 'node:path';
import { readMailConfig } from '../../gateway/mail/read-mail-config.ts';
import { LOOPBACK, type Receiver } from '../gateway/callbacks/callback-receiver.ts';
import { withRawDatabase } from '../helpers/database.ts';
import { FakeClock, TestGateway } from '../helpers/gateway.ts';
import { linkToken } from '../helpers/outbox.ts';
import { decide } from './deciding.ts';
import { startReceiver } from './receiver.ts';
import { World, type Answer } from './scenario.ts';

/** How to make an operation refuse. */
export type Refuse = (stage: Stage) => Promise<Answer>;

/** A gateway whose time and data a test can change, with a receiver of callbacks. */
export class Stage extends World {
  #admins = 0;
  readonly clock: FakeClock;
  readonly gateway: TestGateway;
  readonly #receiver: Receiver;

  private constructor(parts: {
    readonly gateway: TestGateway;
    readonly clock: FakeClock;
    readonly receiver: Receiver;
  }) {
    super(parts.gateway, parts.receiver.url(), parts.gateway.folder);
    this.gateway = parts.gateway;
    this.clock = parts.clock;
    this.#receiver = parts.receiver;
  }

  static async open(): Promise<Stage> {
    const clock = new FakeClock();
    const gateway = await TestGateway.start({
      clock,
      callbackAllow: LOOPBACK,
      signIn: true,
      messaging: { mail: readMailConfig({ SVC_MAIL_DOMAIN: 'inbox.example' }), telegram: null },
    });
    return new Stage({ gateway, clock, receiver: await startReceiver() });
  }

  async close(): Promise<void> {
    await this.gateway.stop();
    await this.#receiver.stop();
  }

  /** An event that a route delivers, and has not delivered yet. */
  async routed(): Promise<string> {
    await this.#routeOnce('breaks');
    return this.event('breaks');
  }

  /** A delivery that has arrived, with its route. */
  async delivered(): Promise<{ route_id: string; delivery_id: string }> {
    const route_id = await this.#routeOnce('works');
    await this.event('works');
    const arrived = { route_id, status: 'delivered' };
    const { items } = await this.until('route_attempts', arrived, (answer) =>
      Array.isArray(answer['items']) ? answer['items'].length > 0 : false,
    );
    const [delivery] = items as { delivery_id: string }[];
    return { route_id, delivery_id: delivery?.delivery_id ?? '' };
  }

  /** The route of the events of one source. */
  async #routeOnce(end: 'works' | 'breaks'): Promise<string> {
    const { items } = await this.get('route_list', {});
    const routes = items as { id: string; match_source: string }[];
    const known = routes.find(({ match_source }) => match_source === end);
    if (known) return known.id;
    const callback_url = `${this.callbackUrl}/${end}`;
    const { id } = await this.get('route_add', { callback_url, match_source: end });
    return String(id);
  }

  /** The project's only owner. */
  async owner(): Promise<string> {
    const { items } = await this.get('member_list', {});
    const [owner] = items as { id: string }[];
    return owner?.id ?? '';
  }

  /** Another member who is an admin, with a key of theirs: as if they had accepted and signed in. */
  async admin(): Promise<{ readonly member_id: string; readonly apiKey: string }> {
    this.#admins += 1;
    const { member } = await this.get('member_invite', {
      email: `adam-${this.#admins}@example.com`,
      role: 'viewer',
    });
    const { id } = member as { id: string };
    const { id: keyId, apiKey } = await this.newKey('admin');
    this.#change(`UPDATE member SET status = 'active', role = 'admin' WHERE id = '${id}'`);
    this.#change(`UPDATE key SET created_by = '${id}' WHERE id = '${keyId}'`);
    return { member_id: id, apiKey };
  }

  /** An address that is a channel: its owner has followed the link. */
  async verified(address: string): Promise<void> {
    await this.get('channel_add', { kind: 'email', address });
    await this.gateway.gateway.approvals.verifyEmail(await linkToken(this.gateway.folder, 'c'));
  }

  /** The answer of a call while a policy holds that the owner has approved. */
  async whilePolicy(rules: readonly unknown[], call: () => Promise<Answer>): Promise<Answer> {
    await this.#setPolicy(rules);
    const answer = await call();
    await this.#setPolicy([]);
    return answer;
  }

  async #setPolicy(rules: readonly unknown[]): Promise<void> {
    const proposal = { policy: { rules }, wait_seconds: 0 };
    const { request_id } = await this.get('policy_set', proposal);
    await decide(this.gateway, this, String(request_id), { verb: 'approve' });
  }

  /** The answer of a call while the disk seems to hold this much. */
  async whileFull(
    sum: 'keys' | 'key_bytes' | 'file_bytes' | 'upload_bytes',
    value: number,
    call: () => Promise<Answer>,
  ): Promise<Answer> {
    this.#change(`UPDATE disk SET value = value + ${value} WHERE name = '${sum}'`);
    const answer = await call();
    this.#change(`UPDATE disk SET value = value - ${value} WHERE name = '${sum}'`);
    return answer;
  }

  /** The answer of a call while so many messages seem to have been asked for today. */
  async whileSent(messages: number, call: () => Promise<Answer>): Promise<Answer> {
    const day = new Date(this.clock.now()).toISOString().slice(0, 10);
    this.#change(`INSERT INTO email_day (day, asked) VALUES ('${day}', ${messages})
      ON CONFLICT DO UPDATE SET asked = asked + excluded.asked`);
    const answer = await call();
    this.#change(`UPDATE email_day SET asked = asked - ${messages} WHERE day = '${day}'`);
    return answer;
  }

  /** The answer of a call while the project must not send. */
  async whileBlocked(call: () => Promise<Answer>): Promise<Answer> {
    const blocked = JSON.stringify({ reason: 'a test says so', at: '2026-01-01T00:00:00.000Z' });
    this.#change(`INSERT INTO meta (name, value) VALUES ('send_blocked', '${blocked}')`);
    const answer = await call();
    this.#change("DELETE FROM meta WHERE name = 'send_blocked'");
    return answer;
  }

  #change(sql: string): void {
    const { folder, projectId } = this.gateway;
    withRawDatabase(join(folder, 'projects', projectId, 'project.db'), (connection) =>
      connection.exec(sql),
    );
  }

  /** An event whose lease ran out. */
  async expired(): Promise<string> {
    const id = await this.claimed();
    this.clock.advance(61_000);
    return id;
  }

  /** An event that another key works on. */
  async taken(): Promise<string> {
    const other = await this.newKey('inbox:write');
    const id = await this.claimed({ key: other.apiKey });
    await this.get('key_revoke', { key_id: other.id });
    return id;
  }
}
