import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { LEDGER_LIST_DEFAULT, LEDGER_LIST_MAX } from '../../lib/limits.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { isoInstant, label } from '../fields.ts';

const exact = label(255).optional();

/** An entry as callers see it. */
export const ledgerEntry = named(
  'LedgerEntry',
  z
    .object({
      seq: z.int().describe('Position in the chain, from 1.'),
      at: z.string().describe('When it happened.'),
      op: z.string().describe('The operation, such as `inbox_ack`.'),
      actor: z
        .string()
        .nullable()
        .describe(
          "Who did it: the id of a key, a person's channel, a member or a source; `policy:<rule>`, `operator` or `service`. Null in entries from before this was recorded.",
        ),
      agent: z.string().nullable().describe('The agent, as it calls itself.'),
      platform: z
        .string()
        .nullable()
        .describe("The agent's platform; for people `web`, `link` or `telegram`."),
      key_id: z.string().nullable().describe('The API key, if one did it.'),
      subject: z.string().nullable().describe('Id of the object it touched.'),
      request_id: z.string().nullable().describe('X-Request-Id of the call.'),
      outcome: z.enum(['ok', 'error']).describe('Whether it succeeded.'),
      code: z.string().nullable().describe('The error code, if it failed.'),
      input_digest: z.string().nullable().describe('SHA-256 of the input.'),
      result_digest: z.string().nullable().describe('SHA-256 of the answer.'),
      prev_hash: z.string().describe('`hash` of the entry before.'),
      hash: z.string().describe('SHA-256 over the entry and `prev_hash`.'),
    })
    .describe('One entry of the hash-chained record.'),
);

export const ledgerQuery = defineOperation({
  name: 'ledger_query',
  summary: 'Read the ledger, newest first.',
  description:
    'Each entry has the operation, time, actor, agent and object, with keyed digests of the input and result, never their content.',
  scope: 'ledger:read',
  input: z.strictObject({
    op: exact.describe('The exact operation, such as `inbox_ack` or `event.received`.'),
    actor: exact.describe(
      "Who did it: an id of a key, a person's channel, a member or a source; `policy:<rule>`, `operator` or `service`.",
    ),
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
    items: z.array(ledgerEntry).describe('Newest first.'),
    next_cursor: z
      .int()
      .nullable()
      .describe('Pass as `cursor` for the next page; null on the last.'),
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
      'ledger query --actor policy:small-refunds',
      'ledger query --subject evt_01j9z3k4m5n6p7q8r9s0t1v2w3',
    ],
    columns: ['seq', 'at', 'op', 'actor', 'agent', 'subject', 'outcome', 'code'],
  },
  example: { limit: 3 },
}).read(async ({ store }, { cursor, limit, ...filter }) => {
  const rows = await store.ledger.page({ ...filter, beforeSeq: cursor, limit: limit + 1 });
  const items = rows.slice(0, limit);
  return { items, next_cursor: rows.length > limit ? (items.at(-1)?.seq ?? null) : null };
});
