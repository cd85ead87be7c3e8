import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { FORMAT, readLedgerFile } from '../../../cli/story/ledger-file.ts';
import { factsOf, stepsOf } from '../../../cli/story/steps.ts';
import { canonicalJson } from '../../../shared/rules/canonical-json.ts';
import {
  GENESIS_HASH,
  openDigest,
  sealEntry,
  type LedgerEntry,
} from '../../../shared/rules/ledger-chain.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

const PROJECT = 'prj_test';
const EVENT = 'evt_00000000000000000000000000';
const REQUEST = 'req_00000000000000000000000000';
const SALT = 'ab'.repeat(32);
const DECIDED = {
  request_id: REQUEST,
  event: { id: EVENT, source: 'github', channel: 'webhook', type: 'push', verified: true },
  shown: { action: 'pr.merge', summary: 'Merge #7', bind: { pr: 7, sha: '3f2a' } },
  ended: { status: 'approved', decision: null, comment: 'go – ä', by: 'Ana (a***@example.com)' },
};

const folder = temporaryFolder();
const path = join(folder.path, 'ledger.ndjson');
afterAll(() => folder.remove());

function entries(): LedgerEntry[] {
  const notes = [
    // As an earlier release wrote them: entries name no actor.
    { op: 'key.created', subject: 'key_1' },
    { op: 'event.received', subject: EVENT },
    { op: 'inbox_claim', subject: EVENT, agent: 'böt \u{1f600}', key_id: 'key_1' },
    { op: 'ask_approval', subject: REQUEST, actor: 'key_1', agent: 'bot', key_id: 'key_1' },
    {
      op: 'request.decided',
      subject: REQUEST,
      actor: 'chn_1',
      input_digest: openDigest(SALT, canonicalJson(DECIDED)),
    },
    { op: 'inbox_ack', subject: EVENT, actor: 'key_1', agent: 'bot', key_id: 'key_1' },
  ];
  const chain: LedgerEntry[] = [];
  for (const [index, note] of notes.entries()) {
    const sealed = sealEntry(PROJECT, {
      seq: index + 1,
      at: `2026-11-23T07:0${index}:00.000Z`,
      agent: null,
      platform: null,
      key_id: null,
      request_id: null,
      outcome: 'ok',
      code: null,
      input_digest: null,
      result_digest: null,
      prev_hash: chain.at(-1)?.hash ?? GENESIS_HASH,
      ...note,
    });
    const { actor, ...rest } = sealed;
    chain.push(actor === null ? rest : sealed);
  }
  return chain;
}

const lines = [
  { format: FORMAT, project: PROJECT },
  ...entries(),
  { opens: 5, salt: SALT, value: DECIDED },
].map((one) => canonicalJson(one));
const whole = Buffer.from(`${lines.join('\n')}\n`);

async function readBytes(bytes: Uint8Array, wanted = {}) {
  writeFileSync(path, bytes);
  return readLedgerFile(path, { eventId: EVENT, ...wanted });
}

/** On which line a byte stands, from 1; a line end belongs to its line. */
const lineOf = (at: number) => whole.subarray(0, at).toString('latin1').split('\n').length;

const remembered = () => ({ seq: 3, hash: 'f'.repeat(64) });

describe('an exported ledger', () => {
  it('is read as it was written', async () => {
    const read = await readBytes(whole);
    expect(read).toMatchObject({ ok: true, file: { project: PROJECT, head: { seq: 6 } } });
  });

  it('is found changed where an entry names nobody, or somebody, who was not in it', async () => {
    const [, , , third = '', fourth = ''] = lines;
    for (const [line, edited] of [
      [third, third.replace('{"agent"', '{"actor":null,"agent"')],
      [third, third.replace('{"agent"', '{"actor":"key_1","agent"')],
      [fourth, fourth.replace('"actor":"key_1"', '"actor":"service"')],
      [fourth, fourth.replace('"actor":"key_1",', '')],
      [fourth, fourth.replace('"actor":"key_1"', '"actor":null')],
    ] as const) {
      expect(edited).not.toBe(line);
      const text = whole.toString().replace(line, edited);
      expect(await readBytes(Buffer.from(text))).toMatchObject({ ok: false });
    }
  });

  it('is found changed, whichever byte was changed', async () => {
    const missed: string[] = [];
    for (let at = 0; at < whole.length; at += 1) {
      const bytes = Buffer.from(whole);
      const [flip = 1] = randomBytes(1);
      bytes[at] = (bytes[at] ?? 0) ^ (flip === 0 ? 1 : flip);
      const read = await readBytes(bytes);
      const line = lineOf(at);
      // The first line and the last belong to no one entry; every other line names its own.
      const isNamed =
        line === 1 || line === lines.length || (!read.ok && read.fault.seq === line - 1);
      if (read.ok || !isNamed) missed.push(`byte ${at} changed by ${flip}`);
    }
    expect(missed).toEqual([]);
  });

  it('is found changed by every bit of an entry and of an opening', async () => {
    const from = whole.indexOf(lines[4] ?? '');
    const opening = whole.indexOf('{"opens"');
    const places = [from, opening].flatMap((start) =>
      Array.from({ length: 60 }, (_, n) => start + n),
    );
    for (const at of places) {
      for (let bit = 0; bit < 8; bit += 1) {
        const bytes = Buffer.from(whole);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        expect([at, bit, (await readBytes(bytes)).ok]).toEqual([at, bit, false]);
      }
    }
  });

  it.each([
    ['an entry is missing', [0, 1, 2, 4, 5, 6, 7], 3],
    ['two entries changed places', [0, 1, 3, 2, 4, 5, 6, 7], 2],
    ['the first entry is missing', [0, 2, 3, 4, 5, 6, 7], 1],
    ['an opening stands before its entry', [0, 1, 2, 3, 4, 7, 5, 6], 5],
    ['the first line is missing', [1, 2, 3, 4, 5, 6, 7], 1],
  ])('is broken where %s', async (_name, order, seq) => {
    const text = order.map((index) => `${lines[index]}\n`).join('');
    expect(await readBytes(Buffer.from(text))).toMatchObject({ ok: false, fault: { seq } });
  });

  it('is broken where its last line has no end, and where it is empty', async () => {
    expect(await readBytes(whole.subarray(0, -1))).toMatchObject({ ok: false });
    expect(await readBytes(Buffer.alloc(0))).toMatchObject({ ok: false });
  });

  it('is another than this machine has seen, though its chain is intact', async () => {
    expect(await readBytes(whole, { remembered })).toMatchObject({
      ok: false,
      fault: { seq: 3, reason: 'rewritten' },
    });
    const missing = await readBytes(whole, { expectedHash: 'f'.repeat(64) });
    expect(missing).toMatchObject({ ok: true, file: { hasExpected: false } });
    const there = await readBytes(whole, { expectedHash: entries()[3]?.hash });
    expect(there).toMatchObject({ ok: true, file: { hasExpected: true } });
  });

  it('tells the story of an event without a server', async () => {
    const read = await readBytes(whole);
    if (!read.ok) throw new Error(read.fault.reason);
    const steps = stepsOf(factsOf(EVENT, read.file));
    expect(steps.map(({ seq, text, proven }) => [seq, text, proven])).toEqual([
      [2, 'A webhook arrived: push from github, signature verified', false],
      [3, 'böt \u{1f600} (key_1) claimed it', false],
      [4, 'bot (key_1) asked pr.merge: Merge #7', false],
      [5, 'Ana (a***@example.com) decided: approved, "go – ä"', true],
      [6, 'bot (key_1) finished it', false],
    ]);
    expect(steps[2]?.values).toEqual({ pr: 7, sha: '3f2a' });
  });

  it("doesn't take a value on the word of a server", () => {
    const openings = [{ opens: 5, salt: SALT, value: { ...DECIDED, ended: { status: 'denied' } } }];
    const steps = stepsOf(factsOf(EVENT, { entries: entries(), openings }));
    expect(steps.some(({ proven }) => proven)).toBe(false);
  });
});
