import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  askMessage,
  outcomeMessage,
  tellMessage,
  verifyMessage,
} from '../../../gateway/mail/messages.ts';
import { channel, NOW, opened } from './samples.ts';

const URL = 'https://svc.example.com/a/t0ken';

describe('a message that asks', () => {
  it('says who asks, what, until when, and what to do', () => {
    const { subject, text } = askMessage(
      opened({
        amount: 1200.5,
        risk: 'high',
        options: ['only staging', 'tomorrow'],
        details: 'First line.\n\nIt changes\tall of it.',
      }),
      URL,
    );
    expect(subject).toBe('[web-shop] approve? Deploy version 1.2.3');
    expect(text).toBe(`An agent asks you to approve an action. In its words:

> Deploy version 1.2.3

Project:     "Web Shop" (web-shop)
Agent:       "deploy-bot" on claude-code, by its own account
Key:         "ci"
Action:      "deploy.production"
Amount:      1200.5
Risk:        high
Fingerprint: 0123456789ab
Expires:     2026-01-03 12:00 UTC; after that it is not approved

Read all of it and decide on this page. It shows the same fingerprint:

https://svc.example.com/a/t0ken

Opening the page decides nothing; its buttons do. Anyone with the link can
decide in your name, so don't forward this email. We don't read replies.

Didn't expect this? Deny it on the page, or do nothing: without
your approval the agent may not go on.
To stop the agent, revoke its key "ci".

You are the channel "ops" of the project "Web Shop" (web-shop).

The agent wrote the rest. Each of its lines starts with ">".
Nothing after that mark is from us, whatever it says.

Options:

> 1. only staging
> 2. tomorrow

Details:

> First line.
>
> It changes    all of it.
`);
  });

  it('asks a question as one', () => {
    const { subject, text } = askMessage(
      opened({ kind: 'question', action: null, summary: 'Which colour?', options: ['red'] }),
      URL,
    );
    expect(subject).toBe('[web-shop] question: Which colour?');
    expect(text).toMatch(/^An agent asks you a question\. In its words:\n\n> Which colour\?\n/);
    expect(text).toContain('Expires:     2026-01-03 12:00 UTC\n');
    expect(text).toContain('\nAnswer on this page. It shows');
    expect(text).not.toMatch(/approv|Action:/);
  });

  it('shows the change of a policy, and what the linter says as ours', () => {
    const { subject, text } = askMessage(
      opened({
        kind: 'policy',
        action: null,
        summary: 'Policy version 2',
        note: 'Less asking.',
        diff: ['  {', '+   "effect": "allow"', '-   "effect": "deny"'],
        warnings: ['Rule 2 is never reached.\n> not a quote'],
      }),
      URL,
    );
    expect(subject).toBe('[web-shop] approve policy? Policy version 2');
    expect(text).toContain('\nCheck in this policy:\n- Rule 2 is never reached. > not a quote\n');
    expect(text).toContain('\nChange:\n\n>   {\n> +   "effect": "allow"\n> -   "effect": "deny"\n');
    expect(text).toContain('\nNote:\n\n> Less asking.\n');
  });

  it.each([
    ['file_url', 'approve link?'],
    ['email_send', 'approve mail?'],
    ['channel', 'approve channel?'],
  ] as const)('says in the subject that it is a %s', (kind, words) => {
    expect(askMessage(opened({ kind }), URL).subject).toMatch(`[web-shop] ${words} Deploy`);
  });

  it('is cut where it is long, and says so', () => {
    const details = Array.from({ length: 400 }, (_, index) => `line ${index + 1}`).join('\n');
    const { subject, text } = askMessage(opened({ details, summary: 'x'.repeat(4000) }), URL);
    expect(subject).toHaveLength(120);
    expect(subject).toMatch(/x…$/);
    expect(text).toContain('\nDetails (its first 300 lines; the page shows all):\n\n> line 1\n');
    expect(text).toMatch(/> line 300\n$/);
    expect(text).toContain('x…\n');
  });
});

describe('a message that tells', () => {
  const message = tellMessage(
    opened({
      status: 'approved',
      decidedBy: 'policy:small',
      decidedAt: NOW + 60_000,
      details: 'D',
    }),
  );

  it('says what was approved and by which rule', () => {
    expect(message.subject).toBe('[web-shop] approved by policy: Deploy version 1.2.3');
    expect(message.text).toContain(
      'Rule:        "policy:small"\nApproved:    2026-01-02 12:01 UTC\n',
    );
    expect(message.text).toContain('To stop the agent,\nrevoke its key "ci".');
    expect(message.text).toMatch(/\nDetails:\n\n> D\n$/);
  });

  it('has no link', () => {
    expect(message.text).not.toContain('://');
  });
});

describe('a message that confirms an address', () => {
  it('says for what, and that nothing happens by itself', () => {
    const { subject, text } = verifyMessage(channel, 'https://svc.example.com/c/t0ken');
    expect(subject).toBe('[web-shop] confirm this address');
    expect(text).toBe(`Someone wants to ask you here when a project's agents need approval.

Project: "Web Shop" (web-shop)
Channel: "ops"
Address: a***@example.com

If you agree, confirm it on this page:

https://svc.example.com/c/t0ken

Opening the page confirms nothing; its button does. The link works for a day.
The project owner has to agree too before anyone asks you anything.

Didn't expect this? Do nothing. We don't read replies.
`);
  });
});

const CONTROLS = ['\r\n', '\n', '\r', '\t', '\u0000', '\u0085', '\u2028', '\u001b[2J', '\ud800'];
const UNSEEN_PIECES = ['\u202e', '\u3164', '\u{e0041}', '\u00ad', '\u200b', '\ufeff'];
const WORDS = [
  'https://evil.test/a/x',
  'Risk:        low',
  'Expires:',
  'Bcc: x@evil.test',
  'é',
  '日本',
];
const PIECES = [...CONTROLS, ...UNSEEN_PIECES, ...WORDS, ' ', '"', '>', '> ', 'approve'];

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((parts) => parts.join('')),
);

const UNSEEN =
  // oxlint-disable-next-line no-control-regex -- looks for what must not be there
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u3164\u{e0000}-\u{e007f}]/u;

function ours(text: string): string[] {
  return text.split('\n').filter((line) => !line.startsWith('>'));
}

describe('whatever an agent writes', () => {
  it('adds no line that is not quoted, no link of ours and nothing unseen', () => {
    const approvals = { needed: 2, given: [{ label: 'ana', at: NOW }] };
    const plain = askMessage(
      opened({ details: 'd', note: 'n', options: ['o'], diff: ['+'], approvals }),
      URL,
    );
    fc.assert(
      fc.property(hostile, hostile, hostile, (one, two, three) => {
        const { subject, text } = askMessage(
          opened({
            summary: one,
            action: two,
            agent: { label: three, platform: two },
            keyName: one,
            project: { name: two, slug: 'web-shop' },
            details: `d${three}`,
            note: `n${one}`,
            options: [`o${two}`],
            diff: [`+${one}`],
            approvals: { needed: 2, given: [{ label: three, at: NOW }] },
          }),
          URL,
        );
        expect(subject).not.toMatch(/\n/);
        expect(subject).not.toMatch(UNSEEN);
        expect(text).not.toMatch(UNSEEN);
        expect(text.isWellFormed() && subject.isWellFormed()).toBe(true);
        const names = ours(text).map((line) => line.replace(/".*$/, ''));
        expect(names).toEqual(ours(plain.text).map((line) => line.replace(/".*$/, '')));
        expect(ours(text).filter((line) => /^\S*:\/\/\S*$/.test(line))).toEqual([URL]);
      }),
      { numRuns: 300 },
    );
  });

  it('is quoted in lines that fit', () => {
    fc.assert(
      fc.property(hostile, (details) => {
        const { text } = askMessage(opened({ details: `d${details}` }), URL);
        const quoted = text.split('\n').filter((line) => line.startsWith('>'));
        expect(quoted.filter((line) => Array.from(line).length > 74)).toEqual([]);
        expect(quoted.filter((line) => line !== line.trimEnd())).toEqual([]);
      }),
    );
  });

  it('is read again in full, words in their order', () => {
    const details = Array.from({ length: 100 }, (_, index) => `word${index}`).join(' ');
    const { text } = askMessage(opened({ details }), URL);
    const lines = text.slice(text.indexOf('Details:')).split('\n').slice(2, -1);
    expect(lines.map((line) => line.slice(2)).join(' ')).toBe(details);
  });

  it('is broken within a word only where that is longer than a line', () => {
    const long = 'x'.repeat(200);
    const { text } = askMessage(opened({ details: `    a ${long} 日本${'語'.repeat(60)}` }), URL);
    const lines = text.slice(text.indexOf('Details:')).split('\n').slice(2, -1);
    expect(lines.map((line) => line.length)).toEqual([7, 74, 74, 58, 38, 28]);
    expect(lines[0]).toBe('>     a');
  });
});

describe('bound values in a mail', () => {
  const bound = { rows: [['sha', '3f2a'] as const, ['number', '12'] as const] };

  it('stand above the link, and the event is named', () => {
    const event = { id: 'evt_1', source: 'github', type: 'pull_request.opened' };
    const { text } = askMessage(opened({ bound, event }), URL);
    expect(text).toContain(
      'What will be done, with exactly these values:\n\n> sha: 3f2a\n> number: 12\n',
    );
    expect(text.indexOf('> sha')).toBeLessThan(text.indexOf(URL));
    expect(text).toContain('"pull_request.opened" from "github", evt_1');
  });

  it('are not cut silently', () => {
    const json = '[1,\n'.repeat(100);
    const { text } = askMessage(opened({ bound: { json } }), URL);
    expect(text).toContain('exactly these values (its first 40 lines; the page shows all):');
  });
});

describe('a reply that says what became of it', () => {
  it('has the subject of the mail that asked', () => {
    const one = opened({ status: 'approved', decidedAt: NOW });
    const { subject, text } = outcomeMessage(one, { kind: 'done', at: NOW, words: 'ok' }, URL);
    expect(subject).toBe(`Re: ${askMessage(one, URL).subject}`);
    expect(text).toContain(
      "Done. You don't need to do anything.\n\nResult, as the agent wrote it:\n\n> ok\n",
    );
    expect(text).toContain(URL);
  });

  it('says that the agent gave up', () => {
    const one = opened({ status: 'approved', decidedAt: NOW });
    const { text } = outcomeMessage(one, { kind: 'dead', at: NOW, words: null }, URL);
    expect(text).toMatch(/^Not done: the agent gave up\./);
  });
});
