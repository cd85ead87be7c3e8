import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { TestPeople } from '../../approvals/people.ts';
import { escaped } from './hostile-words.ts';
import { placeOf } from './places.ts';
import { WebVisitor } from './web-visitor.ts';

const OWNER = 'ana@example.com';
const HOUR_MS = 3_600_000;
const DESCRIPTION = `</textarea><script>document.title='owned'</script>`;
const RULES = [
  { id: 'no-deploy', effect: 'deny', action: 'deploy.*', risk: 'high' },
  {
    id: 'small',
    effect: 'auto_approve',
    action: 'pay.*',
    amount_lte: 100,
    description: DESCRIPTION,
  },
];

const clock = new FakeClock();
let gateway: TestGateway;
let people: TestPeople;
let owner: WebVisitor;
let page: string;
let propose: string;

beforeAll(async () => {
  gateway = await TestGateway.start({ clock });
  await gateway.gateway.setOwner(gateway.projectId, OWNER);
  people = await TestPeople.of(gateway, clock);
  page = await placeOf(gateway, 'policy');
  propose = `${page}/propose`;
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  // No more than so many links are mailed an hour.
  clock.advance(HOUR_MS);
  owner = await WebVisitor.asOwner(gateway, OWNER);
});

const version = async () => (await gateway.call('GET', '/v1/policy')).body['version'];
const document = (rules: unknown) => JSON.stringify({ rules });

async function send(fields: Readonly<Record<string, string>>) {
  await owner.get(propose);
  return owner.post(propose, { fields });
}

/** Looks at what a document changes, and answers what its next form carries. */
async function look(fields: Readonly<Record<string, string>>): Promise<string> {
  const { html } = await send({ ...fields, act: 'diff' });
  return /name="seen" value="([^"]*)"/.exec(html)?.[1] ?? '';
}

describe('a policy', () => {
  it('is proposed after a look at what it changes, and holds once a person approves it', async () => {
    expect((await owner.get(page)).html).toContain('No policy yet');
    const form = { policy: document(RULES), note: 'Small ones.' };
    const looked = await send({ ...form, act: 'diff' });
    expect(looked.status).toBe(200);
    expect(looked.html).toContain('+ no-deploy: deny when action is deploy.* and risk is high');
    expect(looked.html).toContain(escaped(form.policy));
    expect(looked.html).toContain('value="propose"');
    expect(await people.project.store.read((store) => store.requests.pending(clock.now()))).toEqual(
      [],
    );
    const { status, location } = await send({ ...form, act: 'propose', seen: await look(form) });
    expect([status, location?.startsWith(await placeOf(gateway, 'requests'))]).toEqual([303, true]);
    expect((await owner.get(location ?? '')).html).toContain('Change the rules?');
    expect(await version()).toBe(0);
    await people.decide(location?.split('/').at(-1) ?? '', { verb: 'approve' });
    expect(await version()).toBe(1);
    const { html } = await owner.get(page);
    expect(html).toContain('When action is deploy.* and risk is high');
    expect(html).toContain('Version 1, approved');
    expect(html).toContain('Small ones.');
    expect(html).toContain(escaped(DESCRIPTION));
    expect(html).not.toContain(DESCRIPTION);
  });

  it('is proposed by nobody who was not shown what it changes', async () => {
    const [shown, other] = [RULES.slice(0, 1), RULES.slice(1)].map(document);
    const seen = await look({ policy: shown ?? '' });
    const unseen = await send({ policy: other ?? '', act: 'propose', seen });
    expect(unseen.status).toBe(200);
    expect(unseen.html).toContain('- no-deploy: deny');
    const another = await WebVisitor.asOwner(gateway, OWNER);
    await another.get(propose);
    const fields = { policy: shown ?? '', act: 'propose', seen };
    expect((await another.post(propose, { fields })).status).toBe(200);
    expect((await people.ledger('policy_set')).length).toBe(1);
  });

  it('that changes nothing is not proposed', async () => {
    const { html } = await send({ policy: document(RULES), act: 'diff' });
    expect(html).toContain('nothing to propose');
    expect(html).not.toContain('value="propose"');
  });

  it.each([
    ['{"rules": [', 'This is not JSON'],
    ['[]', 'policy: Write an object'],
    ['{"rules": [{"effect": "explode"}]}', 'rules[0].effect: Write one of allow'],
    [document([{ effect: 'deny', description: 'W'.repeat(200_000) }]), 'at most 500 characters'],
  ])(
    'that is wrong is refused beside its field, with what was written kept',
    async (policy, problem) => {
      const { status, html } = await send({ policy, act: 'propose', note: 'Why <b>not</b>' });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(html).toContain(problem);
      expect(html).toMatch(/<textarea id="field-policy"[^>]*aria-invalid="true"/);
      expect(html).toContain(escaped(policy));
      expect(html).toContain(escaped('Why <b>not</b>'));
      expect(await version()).toBe(1);
    },
  );

  it('that names whom nobody can ask is refused, and says where', async () => {
    const policy = document([{ effect: 'deny', approvers: [`chn_${'0'.repeat(26)}`] }]);
    const seen = await look({ policy });
    const { status, html } = await send({ policy, act: 'propose', seen });
    expect(status).toBe(409);
    expect(html).toContain('rules[0].approvers: name active channels');
    expect(await version()).toBe(1);
  });

  it('longer than what the interface takes is refused whole', async () => {
    expect((await send({ policy: 'W'.repeat(1_100_000) })).status).toBe(413);
  });
});

describe('a suggested rule', () => {
  const action = 'pr.<b>merge</b>';
  const place = () => `${propose}?add=${encodeURIComponent(action)}`;

  it('is not shown while there is none', async () => {
    expect((await owner.get(page)).html).not.toContain('Suggested rules');
    expect((await owner.get(place())).html).not.toContain('value="propose"');
  });

  it('is shown with its evidence, and proposed as any other change is', async () => {
    for (let count = 1; count <= 5; count += 1) {
      await people.decide(await people.asked({ action, summary: `Merge #${count}` }), {
        verb: 'approve',
      });
    }
    const { html } = await owner.get(page);
    expect(html).toContain('Suggested rules');
    expect(html).toContain(`5 of 5 ${escaped(action)} approved by 1 person since `);
    expect(html).toContain(`href="${place()}"`);
    const form = await owner.get(place());
    expect(form.html).toContain('+ auto-pr-b-merge-b: auto_approve_notify when action is');
    const seen = /name="seen" value="([^"]*)"/.exec(form.html)?.[1] ?? '';
    const { body } = await gateway.call<{ rules: unknown[] }>('GET', '/v1/policy');
    const rule = {
      id: 'auto-pr-b-merge-b',
      effect: 'auto_approve_notify',
      action: [action],
      risk: ['low', 'medium'],
    };
    const policy = JSON.stringify({ rules: [...body.rules, rule] }, null, 2);
    expect(form.html).toContain(escaped(policy));
    const before = Number(await version());
    const fields = { policy, note: 'Always approved.', act: 'propose', seen };
    const { status, location } = await owner.post(propose, { fields });
    expect(status).toBe(303);
    await people.decide(location?.split('/').at(-1) ?? '', { verb: 'approve' });
    expect(await version()).toBe(before + 1);
    expect((await owner.get(page)).html).not.toContain('Suggested rules');
  });
});

describe('a try', () => {
  it.each([
    ['tool=ask_approval&action=pay.rent&amount=80', 'small</span> decides'],
    ['tool=ask_approval&action=pay.rent&amount=800', 'But <'],
    ['tool=ask_approval&action=deploy.web&risk=high', 'It’s refused at once.'],
    ['tool=email_send&recipient_domains=ana%40example.com%2C+example.org', 'so a person decides'],
  ])('says what would happen, and why: %s', async (query, expected) => {
    const { status, html } = await owner.get(`${page}/try?${query}`);
    expect(status).toBe(200);
    expect(html).toContain(expected);
    expect(html).toContain('Why, rule by rule');
  });

  it.each([
    ['amount=much', 'Write a number', 'amount'],
    [`action=${'W'.repeat(201)}`, 'at most 200', 'action'],
    ['action=a%07b', 'Control characters', 'action'],
  ])('of what cannot be is refused beside its field: %s', async (query, problem, field) => {
    const { status, html } = await owner.get(`${page}/try?tool=ask_approval&${query}`);
    expect(status).toBe(400);
    expect(html).toContain(problem);
    expect(html).toMatch(new RegExp(`id="field-${field}"[^>]*aria-invalid`));
  });

  it('asks nobody', async () => {
    await owner.get(`${page}/try?tool=ask_approval&action=x`);
    const pending = await people.project.store.read((store) => store.requests.pending(clock.now()));
    expect(pending).toEqual([]);
  });
});

it('has no other pages', async () => {
  expect((await owner.get(`${page}/nonsense`)).status).toBe(404);
});
