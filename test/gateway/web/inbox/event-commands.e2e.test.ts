import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import {
  curlCommand,
  triggerCommand,
} from '../../../../gateway/web/inbox/pages/events/event-commands.ts';
import type { Envelope } from '../../../../shared/kernel/envelope.ts';
import { parseExact } from '../../../../shared/lib/json/exact-json.ts';

function event(payload: unknown, more: Partial<Envelope> = {}): Envelope {
  return { channel: 'webhook', source: 'shop', type: 'order.paid', payload, ...more } as Envelope;
}

/** The words that a shell makes of a command. */
function wordsOf(command: string | null): string[] {
  const script = `set -- ${command ?? ''}; for word; do printf '%s\\0' "$word"; done`;
  return execFileSync('bash', ['-c', script]).toString('utf8').split('\0').slice(0, -1);
}

const HOSTILE = `'; rm -rf ~ #\u001b[201~\u202e"\\ $(id) \`id\` é1 \n x`;

describe('a command to paste', () => {
  it('has the whole request, as one word for each header and for the body', () => {
    const headers = {
      'content-type': 'application/json',
      'x-a': HOSTILE,
      host: 'x',
      'cf-ray': '1',
    };
    const payload = parseExact(`{"id":1234567890123456789,"text":${JSON.stringify(HOSTILE)}}`);
    const command = curlCommand(event(payload, { headers }));
    expect(command).toMatch(/^[ -~\n]*$/);
    const words = wordsOf(command);
    expect(words.slice(0, 4)).toEqual([
      'curl',
      'http://localhost:3000/',
      '-H',
      'content-type: application/json',
    ]);
    expect(words.slice(4, 7)).toEqual(['-H', `x-a: ${HOSTILE}`, '--data-raw']);
    expect(words[7]).toContain('"id":1234567890123456789');
    expect((JSON.parse(words[7] ?? '') as { text: string }).text).toBe(HOSTILE);
    expect(words).toHaveLength(8);
  });

  it('has a text as it came, and nothing that is no text or too long', () => {
    expect(wordsOf(curlCommand(event({ text: HOSTILE }))).at(-1)).toBe(HOSTILE);
    expect(curlCommand(event({ base64: 'aGk=' }))).toBeNull();
    expect(curlCommand(event(null))).toBeNull();
    expect(curlCommand(event({ text: 'x'.repeat(40_000) }))).toBeNull();
  });

  it('sends a sample of the same kind with the fields of the event', () => {
    const words = wordsOf(triggerCommand(event({ n: 1, text: HOSTILE, 'a.b': 2 }), 'standard'));
    expect(words.slice(0, 5)).toEqual(['svc', 'trigger', 'webhook', '--source', 'shop']);
    expect(words.slice(5)).toEqual(['--set', 'n=1', '--set', expect.stringMatching(/^text="/)]);
    const paid = event({ livemode: true, data: 'x'.repeat(5000) }, { type: 'invoice.paid' });
    expect(wordsOf(triggerCommand(paid, 'stripe'))).toEqual([
      'svc',
      'trigger',
      'stripe.invoice.paid',
      '--source',
      'shop',
      '--set',
      'livemode=true',
    ]);
    const from = { name: 'Ana', address: 'ana@example.com' };
    const mail = event({ subject: 'Hi', from, text: 'Yes' }, { channel: 'email' });
    expect(wordsOf(triggerCommand(mail, null))).toContain('from="Ana <ana@example.com>"');
    expect(triggerCommand(event('text'), null)).toBeNull();
  });
});
