import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../../../cli/call/answers.ts';
import { policyView } from '../../../cli/commands/policy/get.ts';
import { openedFor } from '../../../gateway/approvals/view.ts';
import { askHtml } from '../../../gateway/channels/telegram/messages.ts';
import { TestGateway } from '../../helpers/gateway.ts';
import { linkToken, mailsOf } from '../../helpers/outbox.ts';
import { parsedMail } from '../mail/parsed-mail.ts';
import { projectOf } from '../../shared/operations/route/routes.ts';
import { placeOf } from '../web/inbox/places.ts';
import { WebVisitor } from '../web/inbox/web-visitor.ts';

const NOTE = 'Small refunds need nobody';
const RULE = 'small-refunds';

const plain = (text: string): string => text;
const LOOK = {
  bold: plain,
  faint: plain,
  green: plain,
  red: plain,
  yellow: plain,
  blue: plain,
  typed: plain,
};

let gateway: TestGateway;
let owner: WebVisitor;
let requestId = '';
let token = '';

beforeAll(async () => {
  gateway = await TestGateway.start();
  await gateway.gateway.setOwner(gateway.projectId, 'ana@example.com');
  owner = await WebVisitor.asOwner(gateway, 'ana@example.com');
  const policy = { rules: [{ id: RULE, effect: 'auto_approve', action: 'refund.*' }] };
  const proposed = await gateway.call<{ request_id: string }>('PUT', '/v1/policy', {
    body: { policy, note: NOTE, wait_seconds: 0 },
  });
  requestId = proposed.body.request_id;
  token = await linkToken(gateway.folder, 'a');
});
afterAll(() => gateway.stop());

/** What somebody reads of the two, in the order of their first mention. */
function order(text: string): string[] {
  return [...new Set(text.match(new RegExp(`${NOTE}|${RULE}`, 'g')))];
}

const NOTE_FIRST = [NOTE, RULE];

describe('the note of a proposed policy is shown before the rules', () => {
  it('in the mail', () => {
    expect(order(parsedMail(mailsOf(gateway.folder).at(-1) ?? '').text)).toEqual(NOTE_FIRST);
  });

  it('by Telegram', async () => {
    const { store, info } = await projectOf(gateway);
    const html = await store.read(async (rows) => {
      const row = await rows.requests.find(requestId);
      const [channel] = await rows.channels.list();
      if (!row || !channel) throw new Error('Nobody was asked.');
      const opened = await openedFor(rows, info, {
        row,
        channel,
        now: Date.now(),
        vault: null,
      });
      return askHtml(opened, { url: 'https://svc.example.com/a/x', isTappable: true });
    });
    expect(order(html)).toEqual(NOTE_FIRST);
  });

  it('on the page', async () => {
    expect(order((await owner.get(`/a/${token}`)).html)).toEqual(NOTE_FIRST);
  });

  it('in the web inbox', async () => {
    expect(order((await owner.get(await placeOf(gateway, 'requests', requestId))).html)).toEqual(
      NOTE_FIRST,
    );
  });

  it('where it holds, in the web inbox and in the terminal', async () => {
    await gateway.gateway.approvals.decide(token, { verb: 'approve' });
    const { body } = await gateway.call('GET', '/v1/policy');
    expect(body).toMatchObject({ version: 1 });
    expect(order((await owner.get(await placeOf(gateway, 'policy'))).html)).toEqual(NOTE_FIRST);
    const { lines } = policyView(body as unknown as Answer<'policy_get'>);
    expect(order(lines?.({ ...LOOK, columns: 80, now: Date.now() }).join('\n') ?? '')).toEqual(
      NOTE_FIRST,
    );
  });
});
