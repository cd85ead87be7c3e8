import { afterEach, expect, it } from 'vitest';
import { stepLines, stepsOf } from '../../../cli/story/steps.ts';
import type { Look } from '../../../cli/view/table.ts';
import type { LedgerEntry } from '../../../shared/rules/ledger-chain.ts';

const EVENT = 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3';
const KEY = 'key_01j9z3k4m5n6p7q8r9s0t1v2w3';

function entry(seq: number, op: string, at: string, actor: string | null = KEY): LedgerEntry {
  return {
    seq,
    at: `2026-01-02T03:04:${at}Z`,
    op,
    actor,
    agent: null,
    platform: null,
    key_id: actor,
    subject: op.startsWith('ask') ? 'req_1' : EVENT,
    request_id: null,
    outcome: 'ok',
    code: null,
    input_digest: '',
    result_digest: '',
    prev_hash: '',
    hash: '',
  };
}

function textsOf(entries: readonly LedgerEntry[], names: Readonly<Record<string, string>> = {}) {
  const facts = { eventId: EVENT, event: null, requests: [], entries, openings: [], names };
  return stepsOf(facts).map(({ text }) => text);
}

const zone = process.env['TZ'];
afterEach(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

it('names keys and people, not their ids', () => {
  const named = textsOf([entry(1, 'inbox_claim', '05.000')], { [KEY]: 'key laptop' });
  expect(named).toEqual(['Key laptop claimed it']);
  const byAgent = { ...entry(1, 'inbox_claim', '05.000'), agent: 'bot' };
  expect(textsOf([byAgent], { [KEY]: 'key laptop' })).toEqual(['bot (key laptop) claimed it']);
  expect(textsOf([byAgent])).toEqual([`bot (${KEY}) claimed it`]);
});

it('asks before it parks, which the ledger has the other way round', () => {
  const texts = textsOf([
    entry(1, 'inbox_claim', '05.000'),
    entry(2, 'event.parked', '06.000'),
    entry(3, 'ask_approval', '06.000'),
    entry(4, 'event.resumed', '07.000', 'service'),
  ]);
  expect(texts.map((text) => text.replace(KEY, 'k'))).toEqual([
    'k claimed it',
    'k asked',
    'k parked it until the answer',
    'It went back into the queue',
  ]);
});

it('waits for an answer only where it asked', () => {
  const texts = textsOf([
    entry(1, 'event.parked', '06.000'),
    entry(2, 'inbox_nack', '06.000'),
    entry(3, 'event.parked', '09.000'),
  ]);
  expect(texts.map((text) => text.replace(KEY, 'k'))).toEqual([
    'k gave it back',
    'k parked it until something else ends',
    'k parked it until something else ends',
  ]);
});

it('begins at a local time', () => {
  process.env['TZ'] = 'Asia/Tokyo';
  const steps = stepsOf({
    eventId: EVENT,
    event: null,
    requests: [],
    entries: [entry(1, 'inbox_claim', '05.000')],
    openings: [],
  });
  const look = { faint: (text: string) => text } as unknown as Look;
  expect(stepLines(steps, look)[0]).toMatch(/^2026-01-02 12:04:05 {2}/);
});
