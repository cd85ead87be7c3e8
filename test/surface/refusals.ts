import type { ErrorCode } from '../../shared/lib/errors.ts';
import {
  DISK_KEYS_MAX,
  DISK_MAX_BYTES,
  EMAILS_PER_DAY,
  FILE_INLINE_MAX_BYTES,
  KV_VALUE_MAX_BYTES,
  PENDING_REQUESTS_PER_KEY,
  UPLOADS_PER_PATH,
  WAIT_MAX_SECONDS,
  WAITS_PER_KEY,
} from '../../shared/lib/limits.ts';
import { NO_EVENT, ofLease } from './of-lease.ts';
import { PEOPLE_REFUSALS } from './refusals-people.ts';
import type { Answer } from './scenario.ts';
import type { Refuse, Stage } from './stage.ts';

const NO_KEY = 'key_00000000000000000000000000';
const NO_UPLOAD = 'upl_00000000000000000000000000';
const NO_BATCH = 'bat_00000000000000000000000000';
const NO_REQUEST = 'req_00000000000000000000000000';

/** A key that may do nothing to others. */
async function asStranger(stage: Stage, name: string): Promise<Answer> {
  const { apiKey } = await stage.newKey('disk');
  return stage.run(name, { key_id: await stage.ownKeyId() }, { key: apiKey });
}

/** A value that is one byte longer as JSON than may be stored. */
const LONG_VALUE = 'x'.repeat(KV_VALUE_MAX_BYTES - 1);
const FILE = { path: 'a.txt', content_base64: 'aGVsbG8K', content_type: 'text/plain' };

/** The id of a new upload. */
async function opened(stage: Stage, path: string): Promise<string> {
  const { upload_id } = await stage.get('file_put', { path, upload: { size: 1 } });
  return String(upload_id);
}

/** Asks for a link to the file: each `n` is another request. */
function linkFor(n: number) {
  return { path: FILE.path, expires_in: 60 + n, wait_seconds: 0 };
}

const MAIL = { to: ['ana@example.com'], subject: 'Hello', text: 'Hello.', wait_seconds: 0 };

async function withSource(stage: Stage, call: () => Promise<Answer>): Promise<Answer> {
  await stage.run('source_add', { type: 'email', name: 'mail' });
  return call();
}

/** One wait more than a key may have. None ends by itself before one of them is refused, however late they come. */
async function tooManyWaits(stage: Stage, name: string): Promise<Answer> {
  const enough = new AbortController();
  const input = { type: 'never', timeout_seconds: WAIT_MAX_SECONDS };
  const waits = Array.from({ length: WAITS_PER_KEY + 1 }, () =>
    stage.run(name, input, { signal: enough.signal }),
  );
  const refused = await Promise.race(waits);
  enough.abort();
  const others = await Promise.allSettled(waits);
  const answered = others.filter(({ status }) => status === 'fulfilled');
  if (answered.length > 1) throw new Error(`${answered.length} waits were answered.`);
  return refused;
}

/** How to make each operation refuse with each code it declares. */
export const REFUSALS: Readonly<Record<string, Partial<Record<ErrorCode, Refuse>>>> = {
  key_create: {
    KEY_LIMIT_REACHED: (stage) => stage.untilRefused('key_create', { name: 'x', scopes: ['disk'] }),
  },
  key_get: {
    NOT_FOUND: (stage) => stage.run('key_get', { key_id: NO_KEY }),
    SCOPE_MISSING: (stage) => asStranger(stage, 'key_get'),
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
    EMAIL_SOURCE_EXISTS: async (stage) => {
      await stage.run('source_add', { type: 'email', name: 'mail' });
      return stage.run('source_add', { type: 'email', name: 'more-mail' });
    },
  },
  source_remove: { NOT_FOUND: (stage) => stage.run('source_remove', { name: 'nobody' }) },
  source_get: { NOT_FOUND: (stage) => stage.run('source_get', { name: 'nobody' }) },
  source_rotate: {
    NOT_FOUND: (stage) => stage.run('source_rotate', { name: 'nobody', secret: 'a' }),
  },
  source_sign: {
    NOT_FOUND: (stage) => stage.run('source_sign', { name: 'nobody', body_base64: '' }),
  },
  inbox_wait: { TOO_MANY_WAITS: (stage) => tooManyWaits(stage, 'inbox_wait') },
  inbox_next: { TOO_MANY_WAITS: (stage) => tooManyWaits(stage, 'inbox_next') },
  inbox_get: { NOT_FOUND: (stage) => stage.run('inbox_get', { event_id: NO_EVENT }) },
  inbox_link: { NOT_FOUND: (stage) => stage.run('inbox_link', { event_id: NO_EVENT }) },
  inbox_claim: {
    NOT_FOUND: (stage) => stage.run('inbox_claim', { event_id: NO_EVENT }),
    EVENT_NOT_CLAIMABLE: async (stage) =>
      stage.run('inbox_claim', { event_id: await stage.claimed() }),
    EVENT_ROUTED: async (stage) => stage.run('inbox_claim', { event_id: await stage.routed() }),
  },
  story: { NOT_FOUND: (stage) => stage.run('story', { event_id: NO_EVENT }) },
  inbox_ack: {
    ...ofLease('inbox_ack'),
    APPROVAL_NOT_APPLICABLE: async (stage) => {
      const { request_id } = await stage.get('ask_approval', {
        action: 'a',
        summary: 'b',
        wait_seconds: 0,
      });
      return stage.run('inbox_ack', { event_id: await stage.claimed(), spends: request_id });
    },
  },
  inbox_nack: ofLease('inbox_nack', { reason: 'because' }),
  inbox_extend: ofLease('inbox_extend'),
  inbox_requeue: {
    NOT_FOUND: (stage) => stage.run('inbox_requeue', { event_id: NO_EVENT }),
    EVENT_NOT_CLAIMABLE: async (stage) =>
      stage.run('inbox_requeue', { event_id: await stage.event() }),
  },
  inbox_replay: {
    NOT_FOUND: (stage) => stage.run('inbox_replay', { event_id: NO_EVENT }),
  },
  ...PEOPLE_REFUSALS,
  kv_set: {
    PATH_RESERVED: (stage) => stage.run('kv_set', { key: 'state/task', value: 1 }),
    QUOTA_EXCEEDED: (stage) =>
      stage.whileFull('keys', DISK_KEYS_MAX, () => stage.run('kv_set', { key: 'a', value: 1 })),
    PRECONDITION_FAILED: (stage) => stage.run('kv_set', { key: 'a', value: 1, if_version: 7 }),
    PAYLOAD_TOO_LARGE: (stage) => stage.run('kv_set', { key: 'a', value: LONG_VALUE }),
  },
  kv_incr: {
    PATH_RESERVED: (stage) => stage.run('kv_incr', { key: 'state/task' }),
    QUOTA_EXCEEDED: (stage) =>
      stage.whileFull('keys', DISK_KEYS_MAX, () => stage.run('kv_incr', { key: 'a' })),
  },
  kv_touch: {
    NOT_FOUND: (stage) => stage.run('kv_touch', { key: 'nobody' }),
    PATH_RESERVED: (stage) => stage.run('kv_touch', { key: 'state/task' }),
  },
  kv_mget: {
    PAYLOAD_TOO_LARGE: async (stage) => {
      const keys = Array.from({ length: 17 }, (_, n) => `large/${n}`);
      for (const key of keys) await stage.get('kv_set', { key, value: 'x'.repeat(255 * 1024) });
      return stage.run('kv_mget', { keys });
    },
  },
  kv_delete: {
    PRECONDITION_FAILED: (stage) => stage.run('kv_delete', { key: 'a', if_version: 7 }),
  },
  state_save: {
    QUOTA_EXCEEDED: (stage) =>
      stage.whileFull('key_bytes', DISK_MAX_BYTES, () =>
        stage.run('state_save', { task_id: 'a', state: 1 }),
      ),
    PRECONDITION_FAILED: async (stage) => {
      await stage.get('state_save', { task_id: 'a', state: 1 });
      return stage.run('state_save', { task_id: 'a', state: 2, if_version: 0 });
    },
    PAYLOAD_TOO_LARGE: (stage) => stage.run('state_save', { task_id: 'a', state: LONG_VALUE }),
  },
  file_get: { NOT_FOUND: (stage) => stage.run('file_get', { path: 'nothing' }) },
  file_put: {
    PATH_RESERVED: (stage) => stage.run('file_put', { ...FILE, path: `${NO_EVENT}/a.txt` }),
    QUOTA_EXCEEDED: (stage) =>
      stage.whileFull('file_bytes', DISK_MAX_BYTES, () => stage.run('file_put', FILE)),
    PRECONDITION_FAILED: (stage) => stage.run('file_put', { ...FILE, if_version: 7 }),
    PAYLOAD_TOO_LARGE: (stage) => {
      const content_base64 = Buffer.alloc(FILE_INLINE_MAX_BYTES + 1).toString('base64');
      return stage.run('file_put', { ...FILE, content_base64 });
    },
    UPLOAD_LIMIT: async (stage) => {
      const path = 'often';
      for (let upload = 0; upload < UPLOADS_PER_PATH; upload += 1) await opened(stage, path);
      return stage.run('file_put', { path, upload: { size: 1 } });
    },
    UPLOAD_INCOMPLETE: async (stage) => {
      const { path } = FILE;
      return stage.run('file_put', { path, complete: await opened(stage, path) });
    },
    NOT_FOUND: (stage) => stage.run('file_put', { path: FILE.path, complete: NO_UPLOAD }),
  },
  file_delete: {
    PATH_RESERVED: (stage) => stage.run('file_delete', { path: `${NO_EVENT}/a.txt` }),
    PRECONDITION_FAILED: (stage) => stage.run('file_delete', { path: 'nothing', if_version: 7 }),
  },
  file_url: {
    NOT_FOUND: (stage) => stage.run('file_url', { path: 'nothing' }),
    POLICY_DENIED: async (stage) => {
      await stage.get('file_put', FILE);
      const rules = [{ id: 'private', effect: 'deny', tool: 'file_url' }];
      return stage.whilePolicy(rules, () => stage.run('file_url', linkFor(0)));
    },
    APPROVAL_NOT_APPLICABLE: async (stage) => {
      await stage.get('file_put', FILE);
      return stage.run('file_url', { path: FILE.path, approval: NO_REQUEST });
    },
    TOO_MANY_PENDING_REQUESTS: async (stage) => {
      await stage.get('file_put', FILE);
      for (let n = 0; n < PENDING_REQUESTS_PER_KEY; n += 1) {
        await stage.get('file_url', linkFor(n));
      }
      return stage.run('file_url', linkFor(PENDING_REQUESTS_PER_KEY));
    },
  },
  email_send: {
    EMAIL_SOURCE_REQUIRED: async (stage) => {
      await stage.run('source_remove', { name: 'mail' });
      return stage.run('email_send', MAIL);
    },
    SEND_BLOCKED: (stage) =>
      withSource(stage, () => stage.whileBlocked(() => stage.run('email_send', MAIL))),
    SEND_LIMIT_REACHED: (stage) =>
      withSource(stage, () => stage.whileSent(EMAILS_PER_DAY, () => stage.run('email_send', MAIL))),
    POLICY_DENIED: (stage) =>
      withSource(stage, () => {
        const rules = [{ id: 'nobody', effect: 'deny', tool: 'email_send' }];
        return stage.whilePolicy(rules, () => stage.run('email_send', MAIL));
      }),
    TOO_MANY_PENDING_REQUESTS: (stage) =>
      withSource(stage, async () => {
        await stage.untilRefused('ask_approval', { action: 'a', summary: 'b', wait_seconds: 0 });
        return stage.run('email_send', { ...MAIL, subject: 'One too many' });
      }),
  },
  email_status: { NOT_FOUND: (stage) => stage.run('email_status', { batch_id: NO_BATCH }) },
};
