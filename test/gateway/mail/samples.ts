import type {
  ChannelView,
  OpenedRequest,
  RequestView,
} from '../../../gateway/approvals/approvals.ts';

export const NOW = Date.parse('2026-01-02T12:00:00.000Z');

/** A request with little in it. */
function request(given: Partial<RequestView> = {}): RequestView {
  return {
    id: 'req_1',
    kind: 'approval',
    status: 'pending',
    project: { name: 'Web Shop', slug: 'web-shop' },
    agent: { label: 'deploy-bot', platform: 'claude-code' },
    keyId: 'key_ci',
    keyName: 'ci',
    action: 'deploy.production',
    summary: 'Deploy version 1.2.3',
    details: null,
    amount: null,
    risk: null,
    bound: null,
    event: null,
    approvals: { needed: 1, given: [] },
    withdrawn: null,
    unused: null,
    outcome: null,
    thread: null,
    like: null,
    suggestedRule: null,
    lastsUntil: null,
    options: [],
    note: null,
    diff: [],
    warnings: [],
    fingerprint: '0123456789ab',
    createdAt: NOW,
    expiresAt: NOW + 86_400_000,
    decidedAt: null,
    decidedBy: null,
    decision: null,
    comment: null,
    ...given,
  };
}

export function opened(given: Partial<RequestView> = {}): OpenedRequest {
  return {
    request: request(given),
    channel: { id: 'chn_1', label: 'ops' },
    isDecider: false,
    votedAt: null,
    mutedUntil: null,
    now: NOW,
  };
}

export const channel: ChannelView = {
  label: 'ops',
  project: { name: 'Web Shop', slug: 'web-shop' },
  address: 'a***@example.com',
  status: 'added',
};
