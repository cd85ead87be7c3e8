import assert from 'node:assert/strict';
import { iso, isoOrNull } from './clock-model.ts';
import type { LedgerEntry, Stage } from './stage.ts';

const STATUSES = ['pending', 'claimed', 'done', 'failed', 'dead'] as const;

type Item = Readonly<Record<string, unknown>>;

/** Everything that can be seen of the project is as the model has it: each list page by page, the policy, the ledger. */
export async function look(stage: Stage): Promise<void> {
  for (const status of STATUSES) await lookAtEvents(stage, status);
  await lookAtRequests(stage);
  await lookAtPushes(stage);
  await lookAtLedger(stage);
  const { value } = await stage.world.call(stage.template.adminKey, 'policy_get', {});
  assert.equal(value['version'], stage.model.policy.version);
}

async function lookAtEvents(stage: Stage, status: (typeof STATUSES)[number]): Promise<void> {
  const { model, names, coverage } = stage;
  const { now } = model;
  const items = await all(stage, 'inbox_list', { status, limit: 100 });
  const shown = items
    .filter(({ id }) => !stage.template.old.has(String(id)))
    .map((item) => ({
      id: names.in(item['id']),
      source: item['source'],
      attempts: item['attempts'],
      retry_at: item['retry_at'],
      received_at: item['received_at'],
      replay: item['suspected_replay'],
      purged: item['payload_purged'],
      text:
        item['source'] === 'service'
          ? ''
          : ((item['payload'] as { text?: string } | null)?.text ?? ''),
    }));
  const expected = model.inbox.events
    .filter((event) => event.at(now).status === status)
    .map((event) => ({
      id: event.name,
      source: event.source,
      attempts: event.at(now).attempts,
      retry_at: status === 'failed' ? isoOrNull(event.at(now).due) : null,
      received_at: iso(event.receivedAt),
      replay: event.replay,
      purged: event.isPurgedAt(now),
      text: event.isPurgedAt(now) ? '' : event.body,
    }));
  assert.deepStrictEqual(shown, expected, `events that are ${status}`);
  if (shown.length > 0) coverage.state(`events: ${status}`);
  if (shown.some(({ purged }) => purged)) coverage.state('events: purged');
  if (shown.some(({ replay }) => replay)) coverage.state('events: suspected replay');
  if (shown.length > 100) coverage.state('events: several pages');
}

async function lookAtRequests(stage: Stage): Promise<void> {
  const { model, names, coverage } = stage;
  const items = await all(stage, 'request_list', { limit: 100 });
  const shown = items
    .filter((item) => !stage.template.old.has(String(item['request_id'])))
    .map((item) => ({
      request_id: names.in(item['request_id']),
      kind: item['kind'],
      status: item['status'],
      decision: item['decision'],
      comment: item['comment'],
      decided_by: names.in(item['decided_by']),
      decided_at: item['decided_at'],
      created_at: item['created_at'],
      expires_at: item['expires_at'],
      approvers: names.sorted(item['approvers']),
      notified: names.sorted((item['notified'] as Item[]).map((one) => one['channel_id'])),
      policy_version: item['policy_version'],
      rule: item['rule'],
    }));
  const expected = model.requests.toReversed().map((request) => {
    const { status, decision, comment, decidedBy, at } = request.at(model.now);
    const { kind, approvers, told, policyVersion, rule } = request.asked;
    return {
      request_id: request.name,
      kind,
      status,
      decision,
      comment,
      decided_by: decidedBy,
      decided_at: status === 'pending' ? null : iso(at),
      created_at: iso(request.createdAt),
      expires_at: iso(request.expiresAt),
      approvers: names.sorted(approvers),
      notified: names.sorted(told),
      policy_version: policyVersion,
      rule,
    };
  });
  assert.deepStrictEqual(shown, expected, 'requests');
  for (const { kind, status } of shown) coverage.state(`request: ${kind} ${status}`);
}

async function lookAtPushes(stage: Stage): Promise<void> {
  const { model, names, coverage } = stage;
  const { now, push } = model;
  const { route, pushes } = push;
  for (const { status, before } of pushes) {
    coverage.state(`push: ${status}`);
    if (before > 0) coverage.state('push: another round');
  }
  if (route === null) return;
  const input = { route_id: names.idOf(route, 'rte'), limit: 100 };
  const items = await all(stage, 'route_attempts', input);
  const shown = items.map(({ event_id, status, attempts, next_attempt_at }) => {
    return { event: names.in(event_id), status, attempts, next_attempt_at };
  });
  const own = pushes.filter((one) => one.route === route && push.isShown(one, now)).toReversed();
  const expected = own.map(({ event, status, attempts, due }) => {
    return {
      event: event.name,
      status,
      attempts,
      next_attempt_at: status === 'pending' ? iso(due) : null,
    };
  });
  assert.deepStrictEqual(shown, expected, 'what the route delivers');
}

async function lookAtLedger(stage: Stage): Promise<void> {
  const { model, template } = stage;
  const items = await all(stage, 'ledger_query', { limit: 500 }, template.ledgerLength);
  const entries = items.filter(({ seq }) => Number(seq) > template.ledgerLength).toReversed();
  const shown = entries.map((one) => stage.entry(one as unknown as LedgerEntry));
  assert.deepStrictEqual(shown, model.ledger, 'the ledger');
  const times = entries.map(({ at }) => String(at));
  assert.deepStrictEqual(times, times.toSorted(), 'the times in the ledger');
  const { value } = await stage.world.call(template.adminKey, 'ledger_verify', {});
  assert.equal(value['ok'], true);
}

/** Every page, up to the first entries from before the world began. */
async function all(
  stage: Stage,
  operation: string,
  input: Record<string, unknown>,
  downTo = 0,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: unknown = null; ;) {
    const page = { ...input, ...(cursor !== null && { cursor }) };
    const { code, value } = await stage.world.call(stage.template.adminKey, operation, page);
    assert.equal(code, 'ok');
    items.push(...(value['items'] as Item[]));
    cursor = value['next_cursor'];
    if (cursor === null || Number(cursor) < downTo) return items;
  }
}
