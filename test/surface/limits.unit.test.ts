import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import * as limits from '../../shared/lib/limits.ts';
import type { Operation } from '../../shared/kernel/operation.ts';
import { operations } from '../../shared/operations/index.ts';
import { MAX_ATTEMPTS, retryDelayMs } from '../../shared/rules/inbox/event-state.ts';

// Literals on purpose: what stands here callers rely on, and changing it should take two hands.

function input(name: string): Operation['input'] {
  const operation = operations.find((one) => one.name === name);
  if (!operation) throw new Error(`There is no ${name}.`);
  return operation.input;
}

describe('the fields of operations', () => {
  it('fill in these defaults', () => {
    const event_id = 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3';
    const route_id = 'rte_01j9z3k4m5n6p7q8r9s0t1v2w3';
    expect(input('inbox_list').parse({})).toEqual({
      status: 'pending',
      brief: false,
      newest: false,
      limit: 20,
    });
    expect(input('inbox_wait').parse({})).toEqual({ timeout_seconds: 45 });
    expect(input('inbox_claim').parse({ event_id })).toEqual({ event_id, lease_seconds: 300 });
    expect(input('inbox_nack').parse({ event_id, reason: 'no' })).toMatchObject({ retry: true });
    expect(input('source_add').parse({ type: 'webhook', name: 'a' })).toMatchObject({
      verification: 'none',
    });
    expect(input('source_rotate').parse({ name: 'a', secret: 'b' })).toMatchObject({
      previous_valid_seconds: 86_400,
    });
    expect(input('route_attempts').parse({ route_id })).toEqual({ route_id, limit: 20 });
    expect(input('ask_approval').parse({ action: 'a', summary: 'b' })).toEqual({
      action: 'a',
      summary: 'b',
      risk: 'medium',
      wait_seconds: 45,
      approvals: 1,
      park: false,
    });
    expect(input('ask_human').parse({ question: 'a' })).toEqual({
      question: 'a',
      wait_seconds: 45,
      park: false,
    });
    expect(input('request_list').parse({})).toEqual({ status: 'all', limit: 20 });
    expect(input('policy_set').parse({ policy: {} })).toEqual({ policy: {}, wait_seconds: 45 });
    expect(input('policy_test').parse({})).toEqual({ tool: 'ask_approval', risk: 'medium' });
    expect(input('kv_list').parse({})).toEqual({ prefix: '', values: false, limit: 20 });
    expect(input('kv_incr').parse({ key: 'a' })).toEqual({ key: 'a', by: 1 });
    expect(input('kv_set').parse({ key: 'a' })).toEqual({ key: 'a' });
    expect(input('file_list').parse({})).toEqual({ prefix: '', limit: 20 });
    expect(input('file_put').parse({ path: 'a', upload: { size: 1 } })).toEqual({
      path: 'a',
      upload: { size: 1, content_type: 'application/octet-stream' },
    });
    expect(input('file_url').parse({ path: 'a' })).toEqual({
      path: 'a',
      expires_in: 3600,
      wait_seconds: 45,
    });
    expect(input('email_send').parse({ to: ['a@b.example'], subject: 'a', text: 'b' })).toEqual({
      to: ['a@b.example'],
      subject: 'a',
      text: 'b',
      attachments: [],
      reply_all: false,
      quote: true,
      reply_to_inbox: true,
      wait_seconds: 45,
    });
    expect(input('ledger_query').parse({})).toEqual({ limit: 50 });
    expect(input('ledger_verify').parse({})).toEqual({ from_seq: 1 });
  });

  it.each([
    ['inbox_list', 'limit', 1, 100],
    ['inbox_wait', 'timeout_seconds', 1, 120],
    ['inbox_claim', 'lease_seconds', 30, 3600],
    ['inbox_next', 'max', 0, 100],
    ['inbox_next', 'lease_seconds', 30, 3600],
    ['inbox_next', 'timeout_seconds', 1, 120],
    ['inbox_extend', 'lease_seconds', 30, 3600],
    ['source_rotate', 'previous_valid_seconds', 0, 604_800],
    ['route_attempts', 'limit', 1, 100],
    ['ask_approval', 'wait_seconds', 0, 120],
    ['ask_human', 'wait_seconds', 0, 120],
    ['request_list', 'limit', 1, 100],
    ['policy_set', 'wait_seconds', 0, 120],
    ['kv_list', 'limit', 1, 100],
    ['kv_set', 'ttl_seconds', 1, 31_536_000],
    ['file_list', 'limit', 1, 100],
    ['file_put', 'upload.size', 0, 104_857_600],
    ['file_url', 'expires_in', 60, 604_800],
    ['file_url', 'wait_seconds', 0, 120],
    ['ledger_query', 'limit', 1, 500],
    ['key_list', 'limit', 1, 100],
    ['key_rotate', 'grace_seconds', 0, 86_400],
  ])('%s takes %s from %i to %i', (name, field, least, most) => {
    const [outer = '', inner] = field.split('.');
    const schema = z.object({ [outer]: input(name).shape[outer] ?? z.never() });
    const takes = (value: number): boolean =>
      schema.safeParse({ [outer]: inner === undefined ? value : { [inner]: value } }).success;
    expect([least - 1, least, most, most + 1].map(takes)).toEqual([false, true, true, false]);
  });
});

/** Fields of text, and lists of it, that have an end. */
describe('texts', () => {
  it.each([
    ['ask_approval', 'action', 200],
    ['ask_approval', 'summary', 300],
    ['ask_approval', 'details', 4000],
    ['ask_approval', 'state_ref', 500],
    ['ask_approval', 'callback_url', 2048],
    ['ask_human', 'question', 2000],
    ['policy_set', 'note', 500],
    ['channel_add', 'label', 60],
    ['route_add', 'callback_url', 2048],
  ])('%s takes %s of up to %i characters', (name, field, most) => {
    const schema = input(name).shape[field] ?? z.never();
    const takes = (chars: number): boolean =>
      (schema as z.ZodType).safeParse('x'.repeat(chars)).success;
    expect([most, most + 1].map(takes)).toEqual([true, false]);
  });

  it.each(['ask_approval', 'ask_human'])('%s takes up to five options, once each', (name) => {
    const { options } = input(name).shape;
    const takes = (...given: string[]): boolean => (options as z.ZodType).safeParse(given).success;
    expect(takes('1', '2', '3', '4', 'x'.repeat(40))).toBe(true);
    expect(takes('1', '2', '3', '4', '5', '6')).toBe(false);
    expect(takes('x'.repeat(41))).toBe(false);
    expect(takes('same', 'same')).toBe(false);
    expect(takes('1', '')).toBe(false);
    expect(takes()).toBe(true);
  });

  it.each(['ask_approval', 'ask_human'])('%s takes times from 1m to 7d', (name) => {
    const { expires_in: expiresIn } = input(name).shape;
    const read = (text: string): unknown => (expiresIn as z.ZodType).safeParse(text).data ?? null;
    expect(['1m', '24h', '7d', '10080m'].map(read)).toEqual([
      60_000, 86_400_000, 604_800_000, 604_800_000,
    ]);
    const none = ['0m', '8d', '10081m', '169h', '1s', '1', 'm', '-1m', '1.5h', '1H', ' 1h'];
    for (const text of [...none, '99999999d']) expect(read(text)).toBeNull();
  });
});

describe('limits', () => {
  it('are these', () => {
    expect({ ...limits }).toEqual({
      WEBHOOK_BODY_MAX_BYTES: 5_242_880,
      SIGN_IN_BODY_MAX_BYTES: 2048,
      SUGGESTION_WINDOW_MS: 2_592_000_000,
      SUGGESTION_SCAN_MAX: 5000,
      SUGGESTION_APPROVALS_MIN: 5,
      SUGGESTIONS_MAX: 50,
      PAYLOAD_INLINE_MAX_BYTES: 8192,
      PAYLOAD_ROW_MAX_BYTES: 262_144,
      PAYLOAD_LINK_SECONDS: 3600,
      PAYLOAD_READ_MAX_BYTES: 65_536,
      PAYLOAD_RETENTION_MS: 2_592_000_000,
      DEDUP_ID_MS: 2_592_000_000,
      DEDUP_BODY_MS: 86_400_000,
      LEASE_MIN_SECONDS: 30,
      LEASE_MAX_SECONDS: 3600,
      LEASE_DEFAULT_SECONDS: 300,
      ACK_RESULT_MAX_BYTES: 4096,
      PARK_STATE_MAX_BYTES: 16_384,
      BIND_MAX_BYTES: 4096,
      NACK_REASON_MAX_BYTES: 1024,
      CLAIMED_BODIES_MAX_BYTES: 1_048_576,
      CLAIMS_MAX: 100,
      LIST_DEFAULT: 20,
      LIST_MAX: 100,
      LEDGER_LIST_DEFAULT: 50,
      LEDGER_LIST_MAX: 500,
      WAIT_DEFAULT_SECONDS: 45,
      WAIT_MAX_SECONDS: 120,
      WAITS_PER_KEY: 10,
      WAITS_PER_PROJECT: 25,
      SUBSCRIPTIONS_PER_KEY: 25,
      SUBSCRIPTIONS_PER_PROJECT: 100,
      SUBSCRIBED_RESOURCES_MAX: 50,
      ACTIVE_KEYS_MAX: 20,
      DISK_PREFIXES_MAX: 10,
      EVENT_ROWS_BYTES: 2048,
      RATE_BURST: 100,
      MCP_BODY_MAX_BYTES: 2_097_152,
      API_BODY_MAX_BYTES: 1_048_576,
      API_BODY_DEFAULT_MAX_BYTES: 131_072,
      IDEMPOTENCY_KEY_MAX_CHARS: 255,
      IDEMPOTENCY_MS: 86_400_000,
      SESSION_MS: 43_200_000,
      KV_VALUE_MAX_BYTES: 262_144,
      KV_BODY_MAX_BYTES: 2_097_152,
      KV_KEY_MAX_BYTES: 512,
      KV_GET_MAX_KEYS: 100,
      KV_GET_MAX_BYTES: 4_194_304,
      KV_PAGE_VALUES_BYTES: 1_048_576,
      KV_TTL_MAX_SECONDS: 31_536_000,
      DISK_KEYS_MAX: 10_000,
      DISK_MAX_BYTES: 1_073_741_824,
      STATE_NOTE_MAX_CHARS: 500,
      STATE_VERSIONS_MAX: 20,
      STATE_VERSION_MS: 2_592_000_000,
      STATE_VERSIONS_MAX_BYTES: 67_108_864,
      FILE_PATH_MAX_BYTES: 512,
      FILE_INLINE_MAX_BYTES: 1_048_576,
      FILE_MAX_BYTES: 104_857_600,
      UPLOAD_MS: 900_000,
      UPLOADS_PER_PATH: 3,
      DOWNLOAD_LINK_SECONDS: 300,
      FILE_URL_MIN_SECONDS: 60,
      FILE_URL_MAX_SECONDS: 604_800,
      FILE_URL_DEFAULT_SECONDS: 3600,
      APPROVAL_USE_MS: 86_400_000,
      TRANSFER_MONTH_MAX_BYTES: 5_368_709_120,
      APPROVALS_MAX: 5,
      PENDING_REQUESTS_MAX: 50,
      PENDING_REQUESTS_PER_KEY: 30,
      ROUTES_MAX: 50,
      CALLBACK_URL_MAX_CHARS: 2048,
      CALLBACK_SECRET_GRACE_MS: 86_400_000,
      SOURCE_SECRET_GRACE_DEFAULT_SECONDS: 86_400,
      SOURCE_SECRET_GRACE_MAX_SECONDS: 604_800,
      REQUEST_DEFAULT_MS: 86_400_000,
      REQUEST_MIN_MS: 60_000,
      REQUEST_MAX_MS: 604_800_000,
      REQUEST_POLL_SECONDS: 30,
      OAUTH_CODE_MS: 60_000,
      OAUTH_TOKEN_MS: 3_600_000,
      OAUTH_OVERLAP_MS: 60_000,
      OPTIONS_MAX: 5,
      OPTION_MAX_CHARS: 40,
      DETAILS_MAX_CHARS: 4000,
      ACTION_MAX_CHARS: 200,
      SUMMARY_MAX_CHARS: 300,
      THREAD_MAX_CHARS: 150,
      QUESTION_MAX_CHARS: 2000,
      STATE_REF_MAX_CHARS: 500,
      POLICY_NOTE_MAX_CHARS: 500,
      CHANNELS_MAX: 50,
      CHANNEL_LABEL_MAX_CHARS: 60,
      CHANNEL_EMAIL_LINK_MS: 86_400_000,
      CHANNEL_TELEGRAM_LINK_MS: 900_000,
      CHANNEL_RESEND_MS: 60_000,
      MEMBERS_MAX: 50,
      INVITATION_MS: 604_800_000,
      INVITATION_RESEND_MS: 60_000,
      UI_LINK_MS: 60_000,
      UI_SESSION_MS: 43_200_000,
      UI_IDLE_MS: 3_600_000,
      UI_STREAMS_PER_SESSION: 6,
      UI_STREAMS_PER_PROJECT: 100,
      CHANGE_STREAMS_PER_KEY: 500,
      CHANGE_STREAMS_PER_PROJECT: 1000,
      LOGIN_MS: 900_000,
      LOGIN_POLL_SECONDS: 3,
      LOGIN_POLL_MIN_MS: 1000,
      LOGINS_PER_EMAIL: 5,
      LOGINS_FROM_STRANGERS: 10,
      LOGIN_CODES_MAX: 2,
      NETWORK_KNOWN_MS: 7_776_000_000,
      LOGINS_PER_ADDRESS: 20,
      LOGINS_WINDOW_MS: 3_600_000,
      LOGIN_KEPT_MS: 86_400_000,
      PROJECTS_PER_ACCOUNT: 5,
      EMAIL_RECIPIENTS_MAX: 50,
      EMAIL_SUBJECT_MAX_CHARS: 255,
      EMAIL_BODY_MAX_BYTES: 262_144,
      EMAIL_ATTACHMENTS_MAX: 10,
      EMAIL_ATTACHMENTS_MAX_BYTES: 10_485_760,
      EMAILS_PER_DAY: 50,
      EMAILS_PER_MONTH: 1000,
      EMAIL_RETENTION_MS: 2_592_000_000,
      MAIL_MAX_BYTES: 26_214_400,
      EMAIL_CALL_MAX_BYTES: 2_097_152,
    });
  });

  it('give an event five attempts, with pauses that double up to an hour', () => {
    expect(MAX_ATTEMPTS).toBe(5);
    expect([1, 2, 3, 4, 5, 7, 8, 20].map(retryDelayMs)).toEqual([
      30_000, 60_000, 120_000, 240_000, 480_000, 1_920_000, 3_600_000, 3_600_000,
    ]);
  });
});
