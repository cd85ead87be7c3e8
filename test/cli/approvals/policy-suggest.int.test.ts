import { afterEach, describe, expect, it } from 'vitest';
import type { FakeDaemon } from '../fake-daemon.ts';
import { answer, answering, ID, OWNER, svc } from './fake-people.ts';

let daemon: FakeDaemon | undefined;
afterEach(() => daemon?.close());

const RULE = { id: 'auto-pr-merge', effect: 'auto_approve_notify', action: ['pr.merge'] };
const SUGGESTION = {
  action: 'pr.merge',
  approved: 14,
  since: '2026-10-24T10:00:00.000Z',
  first_at: '2026-10-25T10:00:00.000Z',
  last_at: '2026-11-22T10:00:00.000Z',
  by: 2,
  rule: RULE,
  before: 'merges',
  examples: [ID],
};
const CURRENT = {
  version: 1,
  rules: [
    { id: 'never', effect: 'deny', action: ['pr.close'] },
    { id: 'merges', effect: 'require_approval' },
  ],
  note: null,
  approved_by: null,
  approved_at: null,
};
const PREVIEW = { version: 1, changed: true, lines: ['+ auto-pr-merge: …'], warnings: [] };
const APPLIED = {
  ...answer({ status: 'approved', decided_by: `channel:${OWNER}` }),
  warnings: [],
};
const SUGGESTIONS = { items: [SUGGESTION] };

async function given(suggestions: unknown) {
  daemon = await answering({
    'GET /v1/policy/suggestions': suggestions as Record<string, unknown>,
    'GET /v1/policy': CURRENT,
    'POST /v1/policy/diff': PREVIEW,
    'PUT /v1/policy': APPLIED,
  });
  return daemon;
}

describe('policy suggest', () => {
  it('prints the evidence, the rule and the next step', async () => {
    const fake = await given({
      items: [SUGGESTION, { ...SUGGESTION, action: "it's", approved: 5, by: 1 }],
    });
    const { code, stdout } = await svc(['policy', 'suggest'], fake, { terminal: true });
    expect(code).toBe(0);
    expect(stdout.split('\n')).toEqual([
      '14 of 14 pr.merge approved by 2 people since 2026-10-24.',
      '+ auto-pr-merge: auto_approve_notify when action is pr.merge',
      '  No request had an amount, so this rule has no limit for amounts.',
      '  Next     svc policy suggest --apply pr.merge',
      '',
      "5 of 5 it's approved by 1 person since 2026-10-24.",
      '+ auto-pr-merge: auto_approve_notify when action is pr.merge',
      '  No request had an amount, so this rule has no limit for amounts.',
      "  Next     svc policy suggest --apply 'it'\\''s'",
      '',
      'The rule approves at once and tells people. It holds once a person approves it.',
      '',
    ]);
  });

  it('says why it suggests nothing, and answers JSON', async () => {
    const fake = await given({ items: [] });
    const { code, stdout } = await svc(['policy', 'suggest'], fake, { terminal: true });
    expect([code, stdout]).toEqual([
      0,
      'Nothing to suggest. No action that people decide has 5 approvals and no denial in the last 30 days.\n',
    ]);
    expect((await svc(['policy', 'suggest', '--json'], fake)).stdout).toBe('{"items":[]}\n');
  });

  it('--apply proposes the current policy with the rule in its place', async () => {
    const fake = await given(SUGGESTIONS);
    const line = ['policy', 'suggest', '--apply', 'pr.merge'];
    const { code, stdout } = await svc(line, fake, { terminal: true });
    expect(code).toBe(0);
    expect(stdout).toContain('✓ Approved by owner.\n  The new policy is in force.');
    const put = fake.seen.find(({ method }) => method === 'PUT');
    expect(JSON.parse(put?.body ?? '')).toEqual({
      policy: { rules: [CURRENT.rules[0], RULE, CURRENT.rules[1]] },
      note: '14 of 14 pr.merge approved by 2 people since 2026-10-24.',
    });
  });

  it('--apply proposes nothing for an action without a suggestion', async () => {
    const fake = await given(SUGGESTIONS);
    const { code, stderr } = await svc(['policy', 'suggest', '--apply', 'deploy'], fake);
    expect(code).toBe(1);
    expect(stderr).toContain('No rule is suggested for deploy.');
    expect(fake.seen.map(({ method }) => method)).toEqual(['GET']);
  });
});
