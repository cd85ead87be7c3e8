import type { ErrorCode } from '../../shared/lib/errors.ts';
import { ofLease } from './of-lease.ts';
import type { Refuse, Stage } from './stage.ts';

const NO_ROUTE = 'rte_00000000000000000000000000';
const NO_REQUEST = 'req_00000000000000000000000000';
const NO_MEMBER = 'mbr_00000000000000000000000000';
const NO_CHANNEL = 'chn_00000000000000000000000000';
/** Of a network of our own, which nothing allows. */
const PRIVATE_URL = 'https://10.0.0.1/hooks';

const ACTION = { action: 'deploy', summary: 'Deploy v2', wait_seconds: 0 };
const QUESTION = { question: 'Where to?', wait_seconds: 0 };
const PROPOSAL = { policy: { rules: [] }, wait_seconds: 0 };
const ADDRESS = { kind: 'email', address: 'ana@example.com' };

/** The refusals of both ways to ask. */
function ofAsking(name: string, input: Readonly<Record<string, unknown>>) {
  const having =
    (extra: (stage: Stage) => Readonly<Record<string, unknown>>): Refuse =>
    (stage) =>
      stage.run(name, { ...input, ...extra(stage) });
  return {
    CHANNEL_NOT_VERIFIED: having(() => ({ approvers: [NO_CHANNEL] })),
    CALLBACK_SECRET_MISSING: having(({ callbackUrl }) => ({ callback_url: callbackUrl })),
    CALLBACK_URL_REJECTED: having(() => ({ callback_url: PRIVATE_URL })),
    TOO_MANY_PENDING_REQUESTS: (stage: Stage) => stage.untilRefused(name, input),
  };
}

/** The refusals of what has to do with routes and people. */
export const PEOPLE_REFUSALS: Readonly<Record<string, Partial<Record<ErrorCode, Refuse>>>> = {
  route_add: {
    CALLBACK_URL_REJECTED: (stage) => stage.run('route_add', { callback_url: PRIVATE_URL }),
  },
  route_remove: { NOT_FOUND: (stage) => stage.run('route_remove', { route_id: NO_ROUTE }) },
  route_disable: { NOT_FOUND: (stage) => stage.run('route_disable', { route_id: NO_ROUTE }) },
  route_enable: { NOT_FOUND: (stage) => stage.run('route_enable', { route_id: NO_ROUTE }) },
  route_attempts: { NOT_FOUND: (stage) => stage.run('route_attempts', { route_id: NO_ROUTE }) },
  route_retry: {
    NOT_FOUND: (stage) => stage.run('route_retry', { route_id: NO_ROUTE }),
    EVENT_NOT_CLAIMABLE: async (stage) => stage.run('route_retry', await stage.delivered()),
  },
  route_test: { NOT_FOUND: (stage) => stage.run('route_test', { route_id: NO_ROUTE }) },
  ask_approval: {
    DETAILS_REQUIRED: (stage) => stage.run('ask_approval', { ...ACTION, risk: 'high' }),
    ...ofLease('ask_approval', { ...ACTION, park: true }),
    ...ofAsking('ask_approval', ACTION),
    POLICY_INVALID: (stage) =>
      stage.run('ask_approval', { ...ACTION, suggested_rule: { effect: 'deny' } }),
  },
  ask_human: {
    ...ofLease('ask_human', { ...QUESTION, park: true }),
    ...ofAsking('ask_human', QUESTION),
  },
  request_status: {
    NOT_FOUND: (stage) => stage.run('request_status', { request_id: NO_REQUEST }),
  },
  request_withdraw: {
    NOT_FOUND: (stage) => stage.run('request_withdraw', { request_id: NO_REQUEST }),
  },
  request_received: {
    NOT_FOUND: (stage) => stage.run('request_received', { request_id: NO_REQUEST }),
  },
  request_use: {
    NOT_FOUND: (stage) => stage.run('request_use', { request_id: NO_REQUEST }),
    APPROVAL_NOT_APPLICABLE: async (stage) => {
      const { request_id } = await stage.get('ask_approval', ACTION);
      return stage.run('request_use', { request_id });
    },
  },
  channel_add: {
    CHANNEL_KIND_UNAVAILABLE: (stage) => stage.run('channel_add', { kind: 'telegram' }),
    CHANNEL_ADDRESS_REJECTED: (stage) =>
      stage.run('channel_add', { ...ADDRESS, address: 'Ana <ana@example.com>' }),
    CHANNEL_EXISTS: async (stage) => {
      await stage.verified(ADDRESS.address);
      return stage.run('channel_add', ADDRESS);
    },
    RATE_LIMITED: (stage) => {
      const other = { ...ADDRESS, address: 'ben@example.com' };
      return stage.untilRefused('channel_add', other);
    },
  },
  channel_remove: {
    NOT_FOUND: (stage) => stage.run('channel_remove', { channel_id: NO_CHANNEL }),
    CHANNEL_OWNER_PROTECTED: async (stage) => {
      const { items } = await stage.get('channel_list', {});
      const owner = (items as { id: string; owner: boolean }[]).find((one) => one.owner);
      return stage.run('channel_remove', { channel_id: owner?.id });
    },
  },
  member_role: {
    NOT_FOUND: (stage) => stage.run('member_role', { member_id: NO_MEMBER, role: 'viewer' }),
    SCOPE_MISSING: async (stage) => {
      const { apiKey, member_id } = await stage.admin();
      return stage.run('member_role', { member_id, role: 'owner' }, { key: apiKey });
    },
    CHANNEL_OWNER_PROTECTED: async (stage) =>
      stage.run('member_role', { member_id: await stage.owner(), role: 'viewer' }),
    TOO_MANY_PENDING_REQUESTS: async (stage) => {
      const { member_id } = await stage.admin();
      await stage.untilRefused('policy_set', PROPOSAL);
      return stage.run('member_role', { member_id, role: 'owner' });
    },
  },
  member_remove: {
    NOT_FOUND: (stage) => stage.run('member_remove', { member_id: NO_MEMBER }),
    SCOPE_MISSING: async (stage) => {
      const { apiKey } = await stage.newKey('disk');
      return stage.run('member_remove', { member_id: await stage.owner() }, { key: apiKey });
    },
    CHANNEL_OWNER_PROTECTED: async (stage) =>
      stage.run('member_remove', { member_id: await stage.owner() }),
    TOO_MANY_PENDING_REQUESTS: async (stage) => {
      const { member_id } = await stage.admin();
      await stage.untilRefused('policy_set', PROPOSAL);
      return stage.run('member_remove', { member_id });
    },
  },
  member_invite: {
    CHANNEL_ADDRESS_REJECTED: (stage) =>
      stage.run('member_invite', { email: 'Ben <ben@example.com>', role: 'viewer' }),
    RATE_LIMITED: (stage) =>
      stage.untilRefused('member_invite', { email: 'ben@example.com', role: 'viewer' }),
    TOO_MANY_PENDING_REQUESTS: async (stage) => {
      await stage.untilRefused('policy_set', PROPOSAL);
      return stage.run('member_invite', { email: 'dana@example.com', role: 'approver' });
    },
  },
  project_rename: {
    TOO_MANY_PENDING_REQUESTS: async (stage) => {
      await stage.untilRefused('policy_set', PROPOSAL);
      return stage.run('project_rename', { name: 'Other' });
    },
  },
  project_delete: {
    TOO_MANY_PENDING_REQUESTS: async (stage) => {
      await stage.untilRefused('policy_set', PROPOSAL);
      const { project } = await stage.get('whoami', {});
      return stage.run('project_delete', { name: (project as { name: string }).name });
    },
  },
  policy_set: {
    POLICY_INVALID: (stage) => stage.run('policy_set', { ...PROPOSAL, policy: { rules: 'none' } }),
    CHANNEL_NOT_VERIFIED: (stage) => {
      const rules = [{ effect: 'require_approval', approvers: [NO_CHANNEL] }];
      return stage.run('policy_set', { ...PROPOSAL, policy: { rules } });
    },
    TOO_MANY_PENDING_REQUESTS: (stage) => stage.untilRefused('policy_set', PROPOSAL),
  },
  policy_test: {
    POLICY_INVALID: (stage) => stage.run('policy_test', { policy: { rules: [{ effect: 'ask' }] } }),
  },
  policy_diff: {
    POLICY_INVALID: (stage) => stage.run('policy_diff', { policy: {} }),
  },
};
