import { describe, expect, it } from 'vitest';
import type { TestGateway } from '../../../helpers/gateway.ts';
import { eachWithPeople, type TestPeople } from '../../../gateway/approvals/people.ts';

const SMALL = {
  id: 'small',
  effect: 'auto_approve',
  action: 'payment.refund',
  amount_lte: 50,
} as const;

let test: TestGateway;
let people: TestPeople;
eachWithPeople((made) => ({ test, people } = made));

/** Asks with `amount` and `bind` as they're written in JSON. */
async function ask(amount: string, bind: string) {
  const body = `{"action":"payment.refund","summary":"Refund","wait_seconds":0,"amount":${amount},"bind":${bind}}`;
  const headers = { authorization: `Bearer ${test.apiKey}`, 'content-type': 'application/json' };
  const response = await fetch(`${test.url}/v1/requests`, { method: 'POST', headers, body });
  return (await response.json()) as Record<string, unknown>;
}

/** The same for 20, by a call of the tool; `bind` is written into the body as it is. */
async function askByMcp(bind: string) {
  const call = `{"action":"payment.refund","summary":"Refund ${bind.replaceAll('"', '')}","wait_seconds":0,"amount":20,"bind":${bind}}`;
  const response = await fetch(`${test.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${test.apiKey}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
    },
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask_approval","arguments":${call}}}`,
  });
  const { result } = (await response.json()) as {
    result: { structuredContent: { status: string; request_id: string } };
  };
  return result;
}

const OTHER = '{"order":"1","amount":5000,"currency":"EUR"}';

describe('an amount that nobody binds', () => {
  it('is approved by no rule: a person decides and sees both', async () => {
    await people.setPolicy(SMALL);
    const asked = await ask('20', OTHER);
    expect(asked).toMatchObject({ status: 'pending', decided_by: null });
    const id = String(asked['request_id']);
    const warning =
      'The amount is 20, but the bound values have 5000 at /amount. What is bound will be done.';
    expect(await people.status(id)).toMatchObject({ warnings: [warning], rule: null });
    const opened = await test.gateway.approvals.open(await people.link(id));
    expect(opened?.request.warnings).toEqual([warning]);
    const page = await (await fetch(`${test.url}/a/${await people.link(id)}`)).text();
    expect(page).toContain('The amounts differ');
    expect(page).toContain('have 5000 at /amount');
  });

  it('is approved where the bound values hold it, as they write it', async () => {
    await people.setPolicy(SMALL);
    const approved = { status: 'approved', decided_by: 'policy:small' };
    expect(await ask('20', '{"amount":20,"currency":"EUR"}')).toMatchObject(approved);
    expect(await ask('2e1', '{"amount":"20.00"}')).toMatchObject(approved);
    expect(await ask('20', '{"amount":20.000000000000001}')).toMatchObject({ status: 'pending' });
    expect(await ask('20', '{"amount":20,"amount":5000}')).toMatchObject({ status: 'pending' });
  });

  it('is refused where a number would keep fewer digits than it is written with', async () => {
    await people.setPolicy(SMALL);
    const { error } = await ask('50.000000000000001', '{"amount":50.000000000000001}');
    expect(error).toMatchObject({
      code: 'VALIDATION_FAILED',
      details: { fields: [{ path: 'amount' }] },
    });
  });

  it('is approved by no later rule for everything else', async () => {
    await people.setPolicy(SMALL, { id: 'rest', effect: 'allow' });
    expect(await ask('20', OTHER)).toMatchObject({ status: 'pending', decided_by: null });
    expect(await ask('5000', OTHER)).toMatchObject({ decided_by: 'policy:rest' });
  });

  it('is compared as it is written over MCP', async () => {
    await people.setPolicy(SMALL);
    for (const [written, status] of [
      ['20.0', 'approved'],
      ['20.000000000000001', 'pending'],
      ['2000000000000000000000e-20', 'approved'],
      ['12345678901234567890', 'pending'],
    ]) {
      const { structuredContent: asked } = await askByMcp(`{"amount":${written}}`);
      expect([written, asked.status]).toEqual([written, status]);
      const bound = await fetch(`${test.url}/v1/requests/${asked.request_id}`, {
        headers: { authorization: `Bearer ${test.apiKey}` },
      });
      expect(await bound.text()).toContain(`"bind":{"amount":${written}}`);
    }
  });

  it('is denied by the bound number, whatever is stated', async () => {
    await people.setPolicy({ id: 'large', effect: 'deny', amount_gt: 1000 }, SMALL);
    const denied = { status: 'denied', decided_by: 'policy:large' };
    expect(await ask('20', OTHER)).toMatchObject(denied);
  });
});

describe('a rule over bound values', () => {
  it('decides by currency and amount, and policy test says why not', async () => {
    await people.setPolicy({
      id: 'eur',
      effect: 'auto_approve',
      action: 'payment.refund',
      bind: { '/amount': { lte: 50 }, '/currency': 'EUR' },
    });
    const eur = await ask('20', '{"amount":20,"currency":"EUR"}');
    expect(eur).toMatchObject({ status: 'approved', decided_by: 'policy:eur' });
    const usd = await ask('20', '{"amount":20,"currency":"USD"}');
    expect(usd).toMatchObject({ status: 'pending' });
    const { body } = await test.call<{ effect: string; trace: unknown[] }>(
      'POST',
      '/v1/policy/test',
      {
        body: { action: 'payment.refund', bind: { amount: 20, currency: 'USD' } },
      },
    );
    expect(body).toMatchObject({
      effect: 'require_approval',
      trace: [
        {
          failed: [
            { field: 'bind', wanted: 'bind /currency is EUR', given: '/currency binds "USD"' },
          ],
        },
      ],
    });
  });
});
