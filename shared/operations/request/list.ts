import * as z from 'zod';
import { decodeIdCursor, encodeCursor } from '../../lib/cursor.ts';
import { withoutForeignNames } from '../../kernel/disk-limit.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { REQUEST_STATUSES } from '../../rules/requests/request-state.ts';
import { listCursor, listLimit, nextCursor } from '../fields.ts';
import { requestRecord, toRecord } from './record.ts';

export const requestList = defineOperation({
  name: 'request_list',
  summary: 'List requests to people, newest first.',
  description: 'Lists requests to people with their status.',
  scope: 'approvals',
  input: z.strictObject({
    status: z
      .enum([...REQUEST_STATUSES, 'all'])
      .default('all')
      .describe('Only requests with this status.'),
    cursor: listCursor,
    limit: listLimit,
  }),
  output: z.object({
    items: z.array(requestRecord).describe('Newest first.'),
    next_cursor: nextCursor,
  }),
  errors: [],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/requests' },
  mcp: false,
  cli: {
    usage: 'request list',
    examples: ['request list', 'request list --status pending'],
    columns: ['request_id', 'status', 'summary', 'kind', 'created_at'],
  },
  example: { limit: 5 },
}).read(async ({ caller, store, now }, { status: wanted, cursor, limit }) => {
  const beforeId = decodeIdCursor(cursor, /^req_[0-9a-z]{26}$/) || undefined;
  const status = wanted === 'all' ? undefined : wanted;
  const rows = await store.requests.page({ status, beforeId, limit: limit + 1, now });
  const records = await Promise.all(rows.slice(0, limit).map((row) => toRecord(store, row, now)));
  const items = records.map((record) => withoutForeignNames(record, caller));
  const last = rows.length > limit ? items.at(-1) : undefined;
  return { items, next_cursor: last ? encodeCursor(last.request_id) : null };
});
