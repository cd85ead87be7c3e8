import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { visit } from '../helpers/page-visitor.ts';
import { Harness } from '../surface/harness.ts';
import { linkAbout } from './approvals/outbox-link.ts';
import { parsedLine } from './tools/fakes.ts';
import { start } from './tools/processes.ts';

let daemon: Harness;
let hook: string;
beforeAll(async () => {
  daemon = await Harness.local('park-test');
  hook = String(parsedLine((await daemon.svc('source', 'add', 'shop')).out)['url']);
});
afterAll(() => daemon.stop());

/** A handler that reviews once, asks, and acts on the answer. It notes what it does. */
function handler(): string {
  const script = daemon.placeFor('handle.sh');
  const svc = `"${process.execPath}" "${daemon.bundle}"`;
  const lines = [
    '#!/bin/sh',
    'n=$(cat | grep -o \'"n":[0-9]*\' | head -n 1)',
    'echo "run $SVC_RESUMED $SVC_DECISION" >> "$NOTES"',
    `${svc} once review -- sh -c 'echo review >> "$NOTES"; echo fine' > "$NOTES.review"`,
    `${svc} ask approval pr.merge "Merge $SVC_EVENT_ID" --bind "{$n}" --details @"$NOTES.review" --park > /dev/null`,
    'case $? in 0) echo merged ;; 5) echo refused ;; *) exit $? ;; esac',
    '',
  ];
  writeFileSync(script, lines.join('\n'));
  chmodSync(script, 0o755);
  return script;
}

async function work(notes: string) {
  const args = [daemon.bundle, 'inbox', 'work', '--exec', handler(), '--max', '1'];
  const env = { ...daemon.env, NOTES: notes };
  const { out } = await start(process.execPath, args, { env, input: '' }).ended;
  return parsedLine(out);
}

it.each([
  ['Approve', 'approved', 'merged'],
  ['Deny', 'denied', 'refused'],
])('a worker asks, stops, and goes on with the answer: %s', async (button, decision, text) => {
  const notes = daemon.placeFor(`notes-${decision}`);
  const body = JSON.stringify({ n: decision.length });
  const headers = { 'content-type': 'application/json' };
  await fetch(hook, { method: 'POST', body, headers });
  const first = await work(notes);
  const id = String(first['event_id']);
  expect(first).toMatchObject({ outcome: 'parked', exit_code: 6 });
  const status = parsedLine((await daemon.svc('status')).out);
  expect(status['waiting']).toMatchObject({ events: 1, people: 1 });
  await visit(await linkAbout(daemon, id), { button });
  expect(await work(notes)).toMatchObject({
    event_id: id,
    outcome: 'acked',
    result: { text },
  });
  expect(readFileSync(notes, 'utf8')).toBe(`run  \nreview\nrun 1 ${decision}\n`);
  const rest = parsedLine((await daemon.svc('inbox', 'list')).out);
  expect(rest['items']).toEqual([]);
});
