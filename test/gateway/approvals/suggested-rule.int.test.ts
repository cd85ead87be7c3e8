import { describe, expect, it } from 'vitest';
import type { FakeClock, TestGateway } from '../../helpers/gateway.ts';
import { visit } from '../../helpers/page-visitor.ts';
import { eachWithPeople, type TestPeople } from './people.ts';

const RULE = {
  effect: 'auto_approve',
  action: 'tool.Bash',
  bind: { '/command': { command: 'npm test *' } },
};
const CALL = { action: 'tool.Bash', summary: 'Run it', bind: { command: 'npm test' } };

let clock: FakeClock;
let test: TestGateway;
let people: TestPeople;
eachWithPeople((made) => ({ test, clock, people } = made));

async function proposed() {
  const pending = await people.project.store.read((store) => store.requests.pending(clock.now()));
  return pending.filter(({ kind }) => kind === 'policy');
}

const policy = async () => (await test.call<{ rules: object[] }>('GET', '/v1/policy')).body.rules;

describe('a rule that an agent suggests', () => {
  it('is proposed by whoever approves, and holds once a person approves the rule', async () => {
    await people.setPolicy({ id: 'ask', effect: 'require_approval', action: 'tool.*' });
    const id = await people.asked({ ...CALL, suggested_rule: RULE });
    const link = `${test.url}/a/${await people.link(id)}`;
    const html = await (await fetch(link)).text();
    expect(html).toContain(
      'rule-1: auto_approve when action is tool.Bash and bind /command runs &quot;npm test *&quot;',
    );
    await visit(link, { button: 'propose this rule' });
    expect((await people.status(id)).status).toBe('approved');
    expect(await policy()).toHaveLength(1);
    const [proposal, ...others] = await proposed();
    expect(others).toEqual([]);
    await people.decide(proposal?.id ?? '', { verb: 'approve' });
    expect(await policy()).toMatchObject([
      { id: 'auto-tool-bash', bind: { '/command': { command: ['npm test *'] } } },
      { id: 'ask' },
    ]);
    const { body } = await people.ask({ ...CALL, bind: { command: 'npm test a' } });
    expect(body).toMatchObject({ status: 'approved', decided_by: 'policy:auto-tool-bash' });
  });

  it('is not proposed by a plain approval', async () => {
    const id = await people.asked({ ...CALL, suggested_rule: RULE });
    await people.decide(id, { verb: 'approve' });
    expect(await proposed()).toEqual([]);
  });

  it.each([
    [{ ...RULE, effect: 'deny' }, 'suggested_rule'],
    [{ ...RULE, action: 'other' }, 'suggested_rule'],
    [{ ...RULE, effect: 'x' }, 'suggested_rule.effect'],
    [{ ...RULE, bind: { '/command': { command: '$x' } } }, 'suggested_rule.bind'],
    ['text', 'suggested_rule'],
  ])('%j that does not approve the call is refused, and asks nobody', async (rule, path) => {
    const { status, body } = await people.ask({ ...CALL, suggested_rule: rule });
    expect(status).toBe(400);
    expect(body.error?.code).toBe('POLICY_INVALID');
    expect(String(body.error?.details?.['path'])).toContain(path);
    expect(body.error?.hint).not.toContain('rules[0]');
  });

  it('is offered for no high risk, and none without a suggestion', async () => {
    const risky = { ...CALL, risk: 'high', details: 'x', suggested_rule: RULE };
    for (const body of [risky, CALL]) {
      const id = await people.asked(body);
      const choice = { verb: 'approve', proposes: true } as const;
      const decided = await people.decide(id, choice);
      expect(decided).toMatchObject({
        outcome: 'refused',
        problem: 'No rule was suggested with it.',
      });
    }
  });
});
