import * as z from 'zod';
import { defineOperation } from '../../kernel/operation.ts';
import type { LongContext } from '../../kernel/context.ts';
import { invalid } from '../../lib/errors.ts';
import {
  CHAIN_START,
  verifyChunk,
  type ChainFault,
  type ChainState,
} from '../../rules/ledger-chain.ts';

interface Range {
  readonly from_seq: number;
  readonly to_seq?: number | undefined;
}

type Fault = ChainFault | { readonly seq: number; readonly reason: 'truncated' };

/** Entries to read at a time: few enough that hashing them doesn't block the event loop for long. */
const PORTION = 100;

export const ledgerVerify = defineOperation({
  name: 'ledger_verify',
  summary: 'Recompute the hash chain of the ledger.',
  description:
    'Returns ok with the head, or the first bad seq and why. Starting after seq 1 trusts the stored hash before it (anchored is false). Compare the head with a saved one to detect a cut-off tail.',
  scope: 'ledger:read',
  input: z.strictObject({
    from_seq: z.int().min(1).default(1).describe('The first entry.'),
    to_seq: z.int().min(1).optional().describe('The last entry (default: the newest).'),
  }),
  output: z.object({
    ok: z.boolean().describe('Whether the chain is intact.'),
    from_seq: z.int().describe('First entry checked.'),
    to_seq: z.int().describe('Last entry checked.'),
    checked: z.int().describe('How many entries.'),
    anchored: z
      .boolean()
      .describe('Whether it started at entry 1; otherwise it trusts the stored hash before it.'),
    first_bad_seq: z.int().nullable().describe('The first entry that does not fit.'),
    reason: z
      .enum(['hash_mismatch', 'link_broken', 'seq_gap', 'truncated'])
      .nullable()
      .describe('What does not fit.'),
    head: z
      .object({
        seq: z.int().describe('Its position.'),
        hash: z.string().describe('Its hash: keep it, to notice later changes.'),
        at: z.string().describe('When it was written.'),
      })
      .nullable()
      .describe('The newest entry of the chain.'),
  }),
  errors: [],
  effect: 'read',
  replica: 'local',
  rest: { method: 'POST', path: '/v1/ledger/verify' },
  mcp: { title: 'Verify the ledger', idempotent: true },
  cli: { usage: 'ledger verify', examples: ['ledger verify', 'ledger verify --from-seq 1000'] },
  example: { from_seq: 1, to_seq: 1 },
}).long(async (context, input) => {
  const { from_seq, to_seq } = input;
  if (to_seq !== undefined && to_seq < from_seq) {
    throw invalid({ path: 'to_seq', message: 'Must not be before from_seq.' });
  }
  return context.alone(() => verify(context, input));
});

async function verify(context: LongContext, { from_seq, to_seq }: Range) {
  const head = (await context.read((store) => store.ledger.head())) ?? null;
  const last = to_seq ?? head?.seq ?? 0;
  let state: ChainState = await startState(context, from_seq);
  let checked = 0;
  const answer = (bad: Fault | null) => ({
    ok: bad === null,
    from_seq,
    to_seq: last,
    checked,
    anchored: from_seq === 1,
    first_bad_seq: bad?.seq ?? null,
    reason: bad?.reason ?? null,
    head,
  });
  while (state.expectedSeq <= last) {
    const from = state.expectedSeq;
    const entries = await context.read((store) => store.ledger.range(from, last, PORTION));
    if (entries.length === 0) return answer({ seq: from, reason: 'truncated' });
    const result = verifyChunk(context.project.id, state, entries);
    if (!result.ok) return answer(result.fault);
    checked += entries.length;
    state = result.state;
    await context.breathe();
  }
  return answer(null);
}

/** Starts at the first entry, or at the stored hash of the entry before `fromSeq`. */
async function startState(context: LongContext, fromSeq: number): Promise<ChainState> {
  if (fromSeq === 1) return CHAIN_START;
  const [before] = await context.read((store) => store.ledger.range(fromSeq - 1, fromSeq - 1, 1));
  if (!before)
    throw invalid({ path: 'from_seq', message: 'The ledger has no entry before this one.' });
  return { expectedSeq: fromSeq, prevHash: before.hash, anchored: false };
}
