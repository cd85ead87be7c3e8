import { join } from 'node:path';
import type { ErrorCode } from '../../shared/errors.ts';
import { WAITS_PER_KEY } from '../../shared/limits.ts';
import { withRawDatabase } from '../helpers/database.ts';
import { FakeClock, TestGateway } from '../helpers/gateway.ts';
import { World, type Answer } from './scenario.ts';

const NO_EVENT = 'evt_00000000000000000000000000';
const NO_KEY = 'key_00000000000000000000000000';

/** A gateway whose time and data a test can change. */
export class Stage extends World {
  readonly clock: FakeClock;
  readonly gateway: TestGateway;

  private constructor(gateway: TestGateway, clock: FakeClock) {
    super(gateway);
    this.gateway = gateway;
    this.clock = clock;
  }

  static async open(): Promise<Stage> {
    const clock = new FakeClock();
    return new Stage(await TestGateway.start({ clock }), clock);
  }

  /** An event that a routing rule delivers. */
  async routed(): Promise<string> {
    const id = await this.event();
    const { folder, projectId } = this.gateway;
    withRawDatabase(join(folder, 'projects', projectId, 'project.db'), (connection) =>
      connection.exec(`UPDATE event SET routed = 1 WHERE id = '${id}'`),
    );
    return id;
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

type Refuse = (stage: Stage) => Promise<Answer>;

/** The refusals that the queue has for whoever works on a claimed event. */
function ofLease(name: string, input: Readonly<Record<string, unknown>> = {}) {
  const on =
    (event: (stage: Stage) => Promise<string>): Refuse =>
    async (stage) =>
      stage.run(name, { ...input, event_id: await event(stage) });
  return {
    NOT_FOUND: on(async () => NO_EVENT),
    EVENT_NOT_CLAIMABLE: on((stage) => stage.dead()),
    EVENT_ROUTED: on((stage) => stage.routed()),
    LEASE_NOT_HELD: on((stage) => stage.taken()),
    LEASE_EXPIRED: on((stage) => stage.expired()),
  };
}

/** A key that may do nothing to others. */
async function asStranger(stage: Stage, name: string): Promise<Answer> {
  const { apiKey } = await stage.newKey('disk');
  return stage.run(name, { key_id: await stage.ownKeyId() }, { key: apiKey });
}

/** How to make each operation refuse with each code it declares. */
export const REFUSALS: Readonly<Record<string, Partial<Record<ErrorCode, Refuse>>>> = {
  key_create: {
    KEY_LIMIT_REACHED: (stage) => stage.untilRefused('key_create', { name: 'x', scopes: ['disk'] }),
  },
  key_revoke: {
    NOT_FOUND: (stage) => stage.run('key_revoke', { key_id: NO_KEY }),
    SCOPE_MISSING: (stage) => asStranger(stage, 'key_revoke'),
    LAST_ADMIN_KEY: async (stage) => stage.run('key_revoke', { key_id: await stage.ownKeyId() }),
  },
  key_rotate: {
    NOT_FOUND: (stage) => stage.run('key_rotate', { key_id: NO_KEY }),
    SCOPE_MISSING: (stage) => asStranger(stage, 'key_rotate'),
    KEY_REVOKED: async (stage) => {
      const { id } = await stage.newKey('disk');
      await stage.get('key_revoke', { key_id: id });
      return stage.run('key_rotate', { key_id: id });
    },
  },
  source_add: {
    SOURCE_NAME_TAKEN: async (stage) => {
      await stage.hook('twice');
      return stage.run('source_add', { type: 'webhook', name: 'twice' });
    },
  },
  source_remove: { NOT_FOUND: (stage) => stage.run('source_remove', { name: 'nobody' }) },
  source_sign: {
    NOT_FOUND: (stage) => stage.run('source_sign', { name: 'nobody', body_base64: '' }),
  },
  inbox_wait: {
    TOO_MANY_WAITS: async (stage) => {
      const input = { type: 'never', timeout_seconds: 1 };
      const waits = Array.from({ length: WAITS_PER_KEY + 1 }, () => stage.run('inbox_wait', input));
      const answers = await Promise.all(waits);
      const refused = answers.filter(({ status }) => status !== 200);
      const [only] = refused;
      if (!only || refused.length > 1) throw new Error(`${refused.length} waits were refused.`);
      return only;
    },
  },
  inbox_claim: {
    NOT_FOUND: (stage) => stage.run('inbox_claim', { event_id: NO_EVENT }),
    EVENT_NOT_CLAIMABLE: async (stage) =>
      stage.run('inbox_claim', { event_id: await stage.claimed() }),
    EVENT_ROUTED: async (stage) => stage.run('inbox_claim', { event_id: await stage.routed() }),
  },
  inbox_ack: ofLease('inbox_ack'),
  inbox_nack: ofLease('inbox_nack', { reason: 'because' }),
  inbox_extend: ofLease('inbox_extend'),
  inbox_requeue: {
    NOT_FOUND: (stage) => stage.run('inbox_requeue', { event_id: NO_EVENT }),
    EVENT_NOT_CLAIMABLE: async (stage) =>
      stage.run('inbox_requeue', { event_id: await stage.event() }),
  },
};
