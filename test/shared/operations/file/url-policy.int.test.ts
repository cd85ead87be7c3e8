import { hash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { fileUrl } from '../../../../shared/operations/file/url.ts';
import { caller } from '../../../helpers/calls.ts';
import type { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { mailsOf } from '../../../helpers/outbox.ts';
import { eachWithPeople, type TestPeople, refused } from '../../../gateway/approvals/people.ts';

interface Linked {
  readonly url?: string;
  readonly expires_at?: string;
  readonly link_id?: string;
  readonly status?: string;
  readonly request_id?: string;
  readonly comment?: string | null;
}

const MINUTE = 60_000;
const DAY = 86_400_000;
const iso = (ms: number): string => new Date(ms).toISOString();

let test: TestGateway;
let clock: FakeClock;
let people: TestPeople;
let owner: string;
eachWithPeople(async (made) => {
  ({ test, clock, people, owner } = made);
  await save('public');
});

const save = (content: string, path = 'a') =>
  test.call('PUT', `/v1/files/${path}`, {
    body: { content_base64: Buffer.from(content).toString('base64'), content_type: 'text/plain' },
    headers: { 'content-type': 'application/vnd.service.upload+json' },
  });

const link = (input: Record<string, unknown> = {}, options: { key?: string; once?: string } = {}) =>
  test.call<Linked>('POST', '/v1/file-urls', {
    body: { path: 'a', wait_seconds: 0, ...input },
    ...(options.key !== undefined && { key: options.key }),
    ...(options.once !== undefined && { headers: { 'idempotency-key': options.once } }),
  });

const contentOf = async ({ url = '' }: Linked): Promise<string> => (await fetch(url)).text();

const NOT_APPLICABLE = refused(409, 'APPROVAL_NOT_APPLICABLE');

const requests = async () =>
  (await test.call<{ items: Record<string, unknown>[] }>('GET', '/v1/requests')).body.items;

const LINK = {
  url: expect.stringMatching(/\/f\/[0-9A-Za-z]{40}$/),
  expires_at: expect.any(String),
  link_id: expect.stringMatching(/^lnk_/),
};

describe('a rule for file_url', () => {
  it('that denies is POLICY_DENIED, named, and written down as an error', async () => {
    await people.setPolicy({ id: 'no-links', effect: 'deny', tool: 'file_url' });
    const denied = refused(403, 'POLICY_DENIED', { rule: 'no-links' });
    expect(await link({ wait_seconds: 30 })).toMatchObject(denied);
    expect(await people.ledger('file_url')).toMatchObject([
      { subject: 'a', outcome: 'error', code: 'POLICY_DENIED' },
    ]);
    expect((await requests()).filter(({ kind }) => kind === 'file_url')).toEqual([]);
    // What asks by another way is another matter.
    expect((await people.ask()).body.status).toBe('pending');
  });

  it('that allows gives the link, and no request is made', async () => {
    await people.setPolicy({ effect: 'allow', tool: 'file_url' });
    const { body } = await link();
    expect(body).toEqual({ ...LINK, expires_at: iso(clock.now() + 60 * MINUTE) });
    expect(await contentOf(body)).toBe('public');
    expect((await requests()).filter(({ kind }) => kind === 'file_url')).toEqual([]);
    expect(await people.ledger('file_url')).toMatchObject([{ subject: 'a', outcome: 'ok' }]);
  });

  it.each([
    ['auto_approve', 0],
    ['auto_approve_notify', 1],
  ])('that says %s gives the link, and writes an approved request', async (effect, letters) => {
    await people.setPolicy({ id: 'ok', effect, tool: 'file_url' });
    const before = mailsOf(test.folder).length;
    const { body } = await link();
    expect(body).toEqual(LINK);
    expect(await contentOf(body)).toBe('public');
    const [request] = await requests();
    expect(request).toMatchObject({
      kind: 'file_url',
      status: 'approved',
      decided_by: 'policy:ok',
      rule: 'ok',
      policy_version: 1,
      risk: 'medium',
    });
    const [told] = await people.events('done');
    expect(told).toMatchObject({ kind: 'file_url', status: 'approved' });
    await expect.poll(() => mailsOf(test.folder)).toHaveLength(before + letters);
    expect(mailsOf(test.folder).slice(before).join('')).not.toContain('http');
    // The approval was used up by the link that it gave.
    const approval = String(request?.['request_id']);
    expect(await link({ approval })).toMatchObject(NOT_APPLICABLE);
  });

  it.each([
    [{ effect: 'deny', risk: 'medium' }, 403],
    [{ effect: 'deny', risk: ['low', 'high'] }, 200],
    [{ effect: 'deny', action: '*' }, 200],
    [{ effect: 'deny', action: 'file_url' }, 200],
    [{ effect: 'deny', amount_gt: -1 }, 200],
    [{ effect: 'deny', tool: 'email_send' }, 200],
    [{ effect: 'deny' }, 403],
  ])('%j matches it, or not', async (rule, status) => {
    await people.setPolicy(rule);
    expect((await link()).status).toBe(status);
  });

  it('names who is asked', async () => {
    const ana = await people.activeChannel('ana@example.com');
    await people.setPolicy({ effect: 'require_approval', tool: 'file_url', approvers: [ana] });
    const { body } = await link();
    const { approvers } = await people.status(body.request_id ?? '');
    expect(approvers).toEqual([ana]);
  });
});

describe('a link that a person allows', () => {
  it('comes out of the wait, and runs from then', async () => {
    const asking = link({ expires_in: 60, wait_seconds: 60 });
    await expect.poll(() => people.project.waits.size).toBe(1);
    const [row] = await requests();
    const id = String(row?.['request_id']);
    expect(row).toMatchObject({
      kind: 'file_url',
      action: 'file_url',
      summary: 'Share a by a public link for 60 seconds',
      details: expect.stringContaining(`6 bytes, text/plain`),
    });
    expect(String(row?.['details'])).toContain(hash('sha256', 'public'));
    // A person takes longer than the link is to hold.
    clock.advance(2 * MINUTE);
    await people.decide(id, { verb: 'approve' });
    const { body } = await asking;
    expect(body).toEqual({ ...LINK, expires_at: iso(clock.now() + MINUTE) });
    clock.advance(MINUTE - 1);
    expect(await contentOf(body)).toBe('public');
    clock.advance(1);
    expect((await fetch(body.url ?? '')).status).toBe(404);
    expect(await link({ expires_in: 60, approval: id })).toMatchObject(NOT_APPLICABLE);
    expect(await people.status(id)).toMatchObject({ decided_by: `channel:${owner}` });
  });

  it('is fetched later by the approval, once', async () => {
    const asked = await link({ expires_in: 600 });
    expect(asked.body).toEqual({
      status: 'pending',
      request_id: expect.stringMatching(/^req_/),
      comment: null,
    });
    const approval = asked.body.request_id ?? '';
    // Neither asking anew nor with the approval makes another request.
    expect((await link({ expires_in: 600 })).body).toEqual(asked.body);
    expect((await link({ expires_in: 600, approval })).body).toEqual(asked.body);
    expect(await requests()).toHaveLength(1);
    await people.decide(approval, { verb: 'approve', comment: 'once' });
    expect(mailsOf(test.folder)).toHaveLength(1);
    const given = await link({ expires_in: 600, approval });
    expect(given.body).toEqual({ ...LINK, expires_at: iso(clock.now() + 600_000) });
    expect(await link({ expires_in: 600, approval })).toMatchObject(NOT_APPLICABLE);
    const [refusal] = await people.ledger('file_url');
    expect(refusal).toMatchObject({ outcome: 'error', code: 'APPROVAL_NOT_APPLICABLE' });
    // Without the approval it is asked for anew.
    const anew = await link({ expires_in: 600 });
    expect(anew.body.request_id).not.toBe(approval);
  });

  it('is given for what was asked, to who asked, within a day', async () => {
    await save('other', 'b');
    const { body } = await link();
    const approval = body.request_id ?? '';
    await people.decide(approval, { verb: 'approve' });
    const other = await test.key('disk');
    expect(await link({ approval }, { key: other })).toMatchObject(NOT_APPLICABLE);
    expect(await link({ approval, path: 'b' })).toMatchObject(NOT_APPLICABLE);
    expect(await link({ approval, expires_in: 60 })).toMatchObject(NOT_APPLICABLE);
    const approvalOfAnother = await people.asked();
    await people.decide(approvalOfAnother, { verb: 'approve' });
    expect(await link({ approval: approvalOfAnother })).toMatchObject(NOT_APPLICABLE);
    const nothing = `req_${'0'.repeat(26)}`;
    expect(await link({ approval: nothing })).toMatchObject(NOT_APPLICABLE);
    clock.advance(DAY - 1);
    // None of that has used it up.
    const { body: late } = await link();
    clock.advance(1);
    expect(await link({ approval })).toMatchObject(NOT_APPLICABLE);
    expect(late.status).toBe('pending');
  });

  it('is given in the last millisecond of its day', async () => {
    const { body } = await link();
    const approval = body.request_id ?? '';
    clock.advance(1000);
    await people.decide(approval, { verb: 'approve' });
    clock.advance(DAY - 1);
    expect((await link({ approval })).body).toEqual(LINK);
  });

  it.each([
    [{ verb: 'deny', comment: 'no' }, 'denied'],
    [{ verb: 'needs_context', comment: 'why?' }, 'needs_context'],
  ] as const)('is none after %j', async (choice, status) => {
    const asking = link({ wait_seconds: 60 }, { once: 'one' });
    await expect.poll(() => people.project.waits.size).toBe(1);
    const id = String((await requests())[0]?.['request_id']);
    await people.decide(id, choice);
    const told = { status, request_id: id, comment: choice.comment };
    expect((await asking).body).toEqual(told);
    expect((await link({ approval: id })).body).toEqual(told);
    expect((await link({ wait_seconds: 60 }, { once: 'one' })).body).toEqual(told);
  });

  it('is none for a request that expired, within the wait or before', async () => {
    const asking = link({ wait_seconds: 60 });
    await expect.poll(() => people.project.waits.size).toBe(1);
    clock.advance(DAY);
    await people.maintenance();
    const { body } = await asking;
    expect(body).toMatchObject({ status: 'expired', comment: null });
    expect((await link({ approval: body.request_id })).body).toEqual(body);
  });

  it('is none of a file that went meanwhile', async () => {
    const asking = link({ wait_seconds: 60 });
    await expect.poll(() => people.project.waits.size).toBe(1);
    const id = String((await requests())[0]?.['request_id']);
    await test.call('DELETE', '/v1/files/a');
    await people.decide(id, { verb: 'approve' });
    expect(await asking).toMatchObject(refused(404, 'NOT_FOUND'));
    // What a person allowed is what stood there: not what is put in its place.
    await save('another');
    expect(await link({ approval: id })).toMatchObject(NOT_APPLICABLE);
    // The approval is not used up by that.
    await save('public');
    expect((await link({ approval: id })).body).toEqual(LINK);
  });

  it('is given to one of those who wait for it', async () => {
    const asking = Array.from({ length: 5 }, () => link({ wait_seconds: 60 }));
    await expect.poll(() => people.project.waits.size).toBe(5);
    expect(await requests()).toHaveLength(1);
    const id = String((await requests())[0]?.['request_id']);
    await people.decide(id, { verb: 'approve' });
    const answers = await Promise.all(asking);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const one of answers.filter(({ status }) => status !== 200)) {
      expect(one).toMatchObject(NOT_APPLICABLE);
    }
  });

  it('is not lost with the answer: a repeat of the call is given the same', async () => {
    const asking = link({ wait_seconds: 60 }, { once: 'one' });
    await expect.poll(() => people.project.waits.size).toBe(1);
    const second = link({ wait_seconds: 60 }, { once: 'one' });
    await expect.poll(() => people.project.waits.size).toBe(2);
    const id = String((await requests())[0]?.['request_id']);
    await people.decide(id, { verb: 'approve' });
    const { body } = await asking;
    expect(body).toEqual(LINK);
    expect((await second).body).toEqual(body);
    expect((await link({ wait_seconds: 60 }, { once: 'one' })).body).toEqual(body);
  });

  it('is not used up by a caller who leaves just when it is allowed', async () => {
    const { identity } = await caller(test, test.apiKey);
    let left = 0;
    for (let round = 0; round < 12; round += 1) {
      const input = { path: 'a', expires_in: 60 + round, wait_seconds: 60 };
      const leaving = new AbortController();
      const asking = test.gateway.executor
        .execute(fileUrl, input, identity, leaving.signal)
        .catch(() => null);
      await expect.poll(() => people.project.waits.size).toBe(1);
      const id = String((await requests())[0]?.['request_id']);
      const token = await people.link(id);
      const deciding = test.gateway.approvals.decide(token, { verb: 'approve' });
      // Woken, and not yet done with what follows.
      while (people.project.waits.size > 0) await turn();
      leaving.abort();
      await deciding;
      const given = await asking;
      if (given === null) left += 1;
      const later = await link({ ...input, wait_seconds: 0, approval: id });
      expect(later.status).toBe(given === null ? 200 : 409);
    }
    expect(left).toBeGreaterThan(0);
  });
});
