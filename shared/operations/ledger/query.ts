import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { LEDGER_LIST_DEFAULT, LEDGER_LIST_MAX } from '../../lib/limits.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { isoInstant, label } from '../fields.ts';

const exact = label(255).optional();

/** An entry as callers see it. */
export const ledgerEntry = named(
  'LedgerEntry',
  z.object({
    seq: z.int(),
    at: z.string(),
    op: z.string(),
    agent: z.string().nullable(),
    platform: z.string().nullable(),
    key_id: z.string().nullable(),
    subject: z.string().nullable(),
    request_id: z.string().nullable(),
    outcome: z.enum(['ok', 'error']),
    code: z.string().nullable(),
    input_digest: z.string().nullable(),
    result_digest: z.string().nullable(),
    prev_hash: z.string(),
    hash: z.string(),
  }),
);

export const ledgerQuery = defineOperation({
  name: 'ledger_query',
  summary: 'Read the ledger, newest first.',
  description:
    'Each entry has the operation, time, key, agent and object, with keyed digests of the input and result, never their content.',
  scope: 'ledger:read',
  input: z.strictObject({
    op: exact.describe('The exact operation, such as `inbox_ack` or `event.received`.'),
    agent: exact.describe('The exact agent label.'),
    platform: exact.describe('The exact platform.'),
    subject: exact.describe('The id of the affected object.'),
    since: isoInstant.optional().describe('At or after this time, ISO 8601.'),
    until: isoInstant.optional().describe('Before this time, ISO 8601.'),
    limit: z
      .int()
      .min(1)
      .max(LEDGER_LIST_MAX)
      .default(LEDGER_LIST_DEFAULT)
      .describe('How many to return.'),
    cursor: z.int().min(1).optional().describe('The next_cursor from the previous page.'),
  }),
  output: z.object({
    items: z.array(ledgerEntry),
    next_cursor: z.int().nullable(),
  }),
  errors: [],
  effect: 'read',
  replica: 'local',
  rest: { method: 'GET', path: '/v1/ledger' },
  mcp: { title: 'Read the ledger' },
  cli: {
    usage: 'ledger query',
    examples: [
      'ledger query --op inbox_ack --limit 10',
      'ledger query --subject evt_01j9z3k4m5n6p7q8r9s0t1v2w3',
    ],
    columns: ['seq', 'at', 'op', 'agent', 'subject', 'outcome', 'code'],
  },
  example: { limit: 3 },
}).read(async ({ store }, { cursor, limit, ...filter }) => {
  const rows = await store.ledger.page({ ...filter, beforeSeq: cursor, limit: limit + 1 });
  const items = rows.slice(0, limit);
  return { items, next_cursor: rows.length > limit ? (items.at(-1)?.seq ?? null) : null };
});
