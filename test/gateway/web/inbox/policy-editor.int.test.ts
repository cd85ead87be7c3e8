import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, type TestGateway } from '../../../helpers/gateway.ts';
import { TestSending } from '../../mail/outbound/sending.ts';
import { TestPeople } from '../../approvals/people.ts';
import { escaped } from './hostile-words.ts';
import { placeOf } from './places.ts';
import { pathOf, WebVisitor } from './web-visitor.ts';

const OWNER = 'ana@example.com';

const clock = new FakeClock();
let mail: TestSending;
let gateway: TestGateway;
let people: TestPeople;
let owner: WebVisitor;
let propose: string;

beforeAll(async () => {
  mail = await TestSending.start({ clock });
  ({ gateway } = mail);
  await gateway.gateway.setOwner(gateway.projectId, OWNER);
  people = await TestPeople.of(gateway, clock);
  await people.setPolicy({ id: 'small', effect: 'auto_approve', action: 'pay.*', amount_lte: 100 });
  owner = await WebVisitor.asOwner(gateway, OWNER);
  propose = `${await placeOf(gateway, 'policy')}/propose`;
});
afterAll(() => mail.stop());

const approved = async (body: Record<string, unknown>): Promise<string> => {
  const id = await people.asked(body);
  await people.decide(id, { verb: 'approve' });
  return id;
};

/** The document in the form. */
function documentIn(html: string): { rules: Record<string, unknown>[] } {
  const written = /<textarea[^>]*name="policy"[^>]*>([\s\S]*?)<\/textarea>/.exec(html)?.[1] ?? '';
  return JSON.parse(written.replaceAll('&quot;', '"')) as { rules: Record<string, unknown>[] };
}

describe('from a request that a person approved', () => {
  it('a rule is proposed that approves the same, with a look at what it changes', async () => {
    const id = await approved({ action: 'deploy', summary: 'Deploy v2', risk: 'low', amount: 5 });
    const { html } = await owner.get(await pathOf(gateway, id));
    expect(html).toContain(`href="${propose}?from=${id}"`);
    const form = await owner.get(`${propose}?from=${id}`);
    const rule = {
      id: 'auto-deploy',
      effect: 'auto_approve_notify',
      action: ['deploy'],
      amount_lte: 5,
      risk: ['low'],
    };
    expect(documentIn(form.html).rules.at(-1)).toEqual(rule);
    expect(form.html).toContain('+ auto-deploy');
    expect(form.html).toContain('value="propose"');
    expect(form.html).toMatch(/1 request would be decided differently.*?Deploy v2/s);
    // It becomes a request like any other.
    const fields = {
      act: 'propose',
      policy: JSON.stringify(documentIn(form.html)),
      seen: /name="seen" value="([^"]*)"/.exec(form.html)?.[1] ?? '',
    };
    const sent = await owner.post(propose, { fields });
    expect([sent.status, sent.location?.includes('/requests/req_')]).toEqual([303, true]);
    await people.decide(sent.location?.split('/').at(-1) ?? '', { verb: 'deny' });
  });

  it('a rule is made for the domains of its mail', async () => {
    const { body } = await mail.send({ to: ['bob@shop.example', 'eve@SHOP.example'] });
    const id = body.request_id ?? '';
    await people.decide(id, { verb: 'approve' });
    const { html } = await owner.get(await pathOf(gateway, id));
    expect(html).toMatch(/The mail<\/dt><dd><a[^>]*href="[^"]*\/mail\/bat_/);
    const form = await owner.get(`${propose}?from=${id}`);
    expect(documentIn(form.html).rules.at(-1)).toEqual({
      id: 'auto-email',
      effect: 'auto_approve_notify',
      tool: ['email_send'],
      recipient_domains: ['shop.example'],
    });
  });

  it('none is made where it was no plain yes', async () => {
    const high = await approved({ action: 'drop', summary: 'Drop', risk: 'high', details: 'All.' });
    const denied = await people.asked({ action: 'deploy' });
    await people.decide(denied, { verb: 'deny' });
    for (const id of [high, denied]) {
      expect((await owner.get(await pathOf(gateway, id))).html).not.toContain('propose a rule');
      const form = await owner.get(`${propose}?from=${id}`);
      expect([form.status, form.html.includes('No rule fits')]).toEqual([200, true]);
      expect(documentIn(form.html).rules).toHaveLength(1);
    }
    expect((await owner.get(`${propose}?from=nonsense`)).html).toContain('No rule fits');
  });
});

describe('the editor', () => {
  it('adds an example to what was written, under an id that is free', async () => {
    await owner.get(propose);
    const policy = JSON.stringify({ rules: [{ id: 'small-refunds', effect: 'deny' }] });
    const sent = await owner.post(propose, { fields: { policy, act: 'example:small-refunds' } });
    expect(sent.status).toBe(200);
    expect(documentIn(sent.html).rules.map(({ id }) => id)).toEqual([
      'small-refunds',
      'small-refunds-2',
    ]);
    expect(sent.html).not.toContain('value="propose"');
    for (const written of ['{', '[]', '{"rules":1}', 'null']) {
      const refused = await owner.post(propose, {
        fields: { policy: written, act: 'example:no-deletion' },
      });
      expect([written, refused.status]).toEqual([written, 400]);
      expect(refused.html).toContain('id="policy-problem"');
      expect(refused.html).toContain(`>${escaped(written)}</textarea>`);
    }
  });

  it('takes each of its examples, and says what a policy contains', async () => {
    const { html } = await owner.get(propose);
    const names = [...html.matchAll(/value="(example:[^"]+)"/g)].map(([, name]) => name ?? '');
    expect(names.length).toBeGreaterThan(3);
    let policy = '{"rules":[]}';
    for (const act of names) {
      policy = JSON.stringify(
        documentIn((await owner.post(propose, { fields: { policy, act } })).html),
      );
    }
    const { body, status } = await gateway.call<{ changed: boolean }>('POST', '/v1/policy/diff', {
      body: { policy: JSON.parse(policy) as unknown },
    });
    expect([status, body.changed]).toEqual([200, true]);
    for (const field of ['recipient_domains', 'approvals', 'auto_approve_notify']) {
      expect(html).toContain(`<code class="mono">${field}</code>`);
    }
  });

  it('shows how the document would have decided the last 50 requests', async () => {
    for (let n = 0; n < 52; n += 1) await people.asked({ action: 'pay.one', amount: n });
    await owner.get(propose);
    const policy = JSON.stringify({
      rules: [{ id: 'stop', effect: 'deny', action: 'pay.*', amount_gt: 48 }],
    });
    const { html } = await owner.post(propose, { fields: { policy, act: 'diff' } });
    expect(html).toContain('On the last 50 requests');
    expect(html).toContain('refused: 3; a person decides: 47');
    expect(html).toContain('50 requests would be decided differently');
  });
});

describe('the try-out', () => {
  it('offers recent requests, and tries the policy on the one that is picked', async () => {
    const page = `${await placeOf(gateway, 'policy')}/try`;
    const { html } = await owner.get(page);
    const picks = [...html.matchAll(/href="([^"]*\/policy\/try\?[^"]*)"/g)];
    expect(picks).toHaveLength(20);
    const picked = picks[0]?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(picked).toContain('action=pay.one&amount=51');
    const tried = await owner.get(picked);
    expect(tried.html).toMatch(/The rule.*?small.*?decides/s);
  });
});
