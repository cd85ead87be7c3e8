import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { LOOPBACK } from '../../../gateway/callbacks/callback-receiver.ts';
import { TestPeople, refused } from '../../../gateway/approvals/people.ts';

const NOBODY = `chn_${'0'.repeat(26)}`;

let test: TestGateway;
let people: TestPeople;
beforeAll(async () => {
  const clock = new FakeClock();
  test = await TestGateway.start({ clock, callbackAllow: LOOPBACK });
  people = await TestPeople.of(test, clock);
});
afterAll(() => test.stop());

const invalid = (...paths: string[]) =>
  refused(400, 'VALIDATION_FAILED', { fields: paths.map((path) => ({ path })) });

/** Sends a body as it stands: JSON has no way to say some of what is sent here. */
async function raw(text: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${test.url}/v1/requests`, {
    method: 'POST',
    headers: { authorization: `Bearer ${test.apiKey}`, 'content-type': 'application/json' },
    body: text,
  });
  return { status: response.status, body: await response.json() };
}

const post = (body: unknown) => test.call('POST', '/v1/requests', { body });

/** A body that JSON.stringify does not make. */
const about = (amount: string) =>
  `{"action":"a","summary":"s","wait_seconds":0,"amount":${amount}}`;

const APPROVAL = { action: 'a', summary: 's', wait_seconds: 0 };
const QUESTION = { question: 'q?', wait_seconds: 0 };

describe('what is asked', () => {
  it('is an action or a question, and not both', async () => {
    expect(await post({ ...APPROVAL, ...QUESTION })).toMatchObject(invalid('action', 'summary'));
    expect(await post({ ...QUESTION, risk: 'low', amount: 1 })).toMatchObject(
      invalid('risk', 'amount'),
    );
    expect(await post({})).toMatchObject(invalid('action', 'summary'));
    expect(await post({ question: null, ...APPROVAL })).toMatchObject({ status: 400 });
    expect(await post({ summary: 's' })).toMatchObject(invalid('action'));
  });

  it.each(['action', 'summary', 'details', 'state_ref', 'question', 'options'])(
    'has no control characters in %s',
    async (field) => {
      const base = field === 'question' ? QUESTION : APPROVAL;
      const path = field === 'options' ? 'options[0]' : field;
      for (const char of ['\0', '\x1b', '\x07', '\x7f', '\x85', '\x9b', '\ud800']) {
        const text = `a${char}b`;
        const body = { ...base, [field]: field === 'options' ? [text] : text };
        expect(await people.ask(body)).toMatchObject(invalid(path));
      }
    },
  );

  it('may have several lines where it is read as a text', async () => {
    for (const body of [{ details: 'a\r\n\tb' }, { question: 'a\nb' }]) {
      const { body: answer } = await people.ask(body);
      expect(await people.status(answer.request_id)).toMatchObject(body);
    }
    for (const field of ['action', 'summary']) {
      expect(await people.ask({ [field]: 'a\nb' })).toMatchObject(invalid(field));
    }
  });

  it('gives a state_ref of several lines back as it was', async () => {
    const state_ref = JSON.stringify({ task: 'refund', step: 3 }, null, 2);
    expect(await people.ask({ state_ref })).toMatchObject({ status: 200, body: { state_ref } });
  });

  it('takes empty details for none', async () => {
    const { body } = await people.ask({ details: '' });
    expect(await people.status(body.request_id)).toMatchObject({ details: null });
  });

  it('keeps every character it may have', async () => {
    const text = 'é 日本 👩‍🚀 \u202e rtl <b>&amp;"\' %2F \\n';
    const { body } = await people.ask({ action: text, summary: text, state_ref: text });
    expect(await people.status(body.request_id)).toMatchObject({
      action: text,
      summary: text,
      state_ref: text,
    });
  });

  it.each(['action', 'summary', 'state_ref', 'question'])('has no empty %s', async (field) => {
    expect(await people.ask({ [field]: '' })).toMatchObject(invalid(field));
  });

  it.each([0, 1e-300, -5.25, 1e308, Number.MAX_SAFE_INTEGER, 0.1])(
    'may be about %d',
    async (amount) => {
      const { body } = await people.ask({ amount });
      expect(await people.status(body.request_id)).toMatchObject({ amount });
    },
  );

  it('is about a number', async () => {
    for (const amount of ['5', null, [], true, {}]) {
      expect(await people.ask({ amount })).toMatchObject(invalid('amount'));
    }
    const bad = refused(400, 'VALIDATION_FAILED');
    expect(await raw(about('1e999'))).toMatchObject(bad);
    expect(await raw(about('-1e999'))).toMatchObject(bad);
    expect(await raw(about('NaN'))).toMatchObject(bad);
    expect(await raw(about('-0'))).toMatchObject({ status: 200 });
  });

  it('is of a known risk, and is waited for up to two minutes', async () => {
    expect(await people.ask({ risk: 'HIGH' })).toMatchObject(invalid('risk'));
    for (const wait_seconds of [-1, 121, 1.5, '0', null]) {
      expect(await people.ask({ wait_seconds })).toMatchObject(invalid('wait_seconds'));
    }
  });

  it('says what is the matter where the risk is high', async () => {
    const code = refused(400, 'DETAILS_REQUIRED');
    expect(await people.ask({ risk: 'high' })).toMatchObject(code);
    expect(await people.ask({ risk: 'high', details: ' \n\t' })).toMatchObject(code);
    expect(await people.ask({ risk: 'high', details: '' })).toMatchObject(code);
    expect((await people.ask({ risk: 'high', details: 'x' })).status).toBe(200);
    expect((await people.ask({ risk: 'medium' })).status).toBe(200);
    // What is wrong with the call alone is no entry in the ledger.
    const { body } = await test.call<{ items: { code: string | null }[] }>(
      'GET',
      '/v1/ledger?op=ask_approval&limit=500',
    );
    expect(body.items.filter((entry) => entry.code !== null)).toEqual([]);
  });

  it('is asked of channels of this project that are active', async () => {
    const details = { approver: NOBODY };
    const unknown = refused(409, 'CHANNEL_NOT_VERIFIED', details);
    expect(await people.ask({ approvers: [NOBODY] })).toMatchObject(unknown);
    expect(await people.ask({ question: 'q?', approvers: [NOBODY] })).toMatchObject(unknown);
    const added = (await people.addChannel('new@example.com')).body.channel.id;
    const both = [await people.owner(), added];
    expect(await people.ask({ approvers: both })).toMatchObject(
      refused(409, 'CHANNEL_NOT_VERIFIED', { approver: added }),
    );
    expect(await people.ask({ approvers: [] })).toMatchObject(invalid('approvers'));
    expect(await people.ask({ approvers: ['ana'] })).toMatchObject(invalid('approvers[0]'));
    // As many as a project has channels.
    expect(await people.ask({ approvers: Array(50).fill(NOBODY) })).toMatchObject(unknown);
    expect(await people.ask({ approvers: Array(51).fill(NOBODY) })).toMatchObject(
      invalid('approvers'),
    );
  });
});

describe('a callback_url', () => {
  it('needs a secret to sign with, and then nothing is asked without one', async () => {
    const callback_url = 'http://127.0.0.1:9/hook';
    const missing = refused(409, 'CALLBACK_SECRET_MISSING');
    const before = (await people.channels()).length;
    expect(await people.ask({ callback_url })).toMatchObject(missing);
    expect(await people.ask({ question: 'q?', callback_url })).toMatchObject(missing);
    expect(await people.channels()).toHaveLength(before);
    expect((await test.call('POST', '/v1/request-callback-secret', { body: {} })).status).toBe(201);
    const { body } = await people.ask({ callback_url });
    expect(body.status).toBe('pending');
    expect(await people.status(body.request_id)).toMatchObject({ callback_url });
  });
});
