import { afterEach, describe, expect, it, vi } from 'vitest';
import { CallError, usageError } from '../../cli/errors.ts';
import { answeredFailure } from '../../clients/typescript/core/errors.ts';
import { wantsColor } from '../../cli/view/output.ts';
import { age, fitWidths, table, timeText } from '../../cli/view/table.ts';
import {
  cutToWidth,
  safeJson,
  safeLine,
  safeText,
  textWidth,
} from '../../cli/view/terminal-text.ts';
import { parseExact } from '../../shared/lib/json/exact-json.ts';
import { testOutput, TextSink } from './fake-output.ts';

const NOW = Date.parse('2026-01-02T12:00:00.000Z');
const PLAIN = {
  columns: 80,
  now: NOW,
  bold: (text: string) => text,
  faint: (text: string) => text,
  green: (text: string) => text,
  red: (text: string) => text,
  yellow: (text: string) => text,
  blue: (text: string) => text,
  typed: (text: string) => text,
};

describe('text for a terminal', () => {
  it.each([
    ['colours', '\u001b[31mred\u001b[0m', 'red'],
    ['a window title', 'a\u001b]0;owned\u0007b', 'ab'],
    ['a link', '\u001b]8;;https://evil.test\u001b\\click\u001b]8;;\u001b\\', 'click'],
    ['8-bit sequences', '\u009b31mred', 'red'],
    ['a sequence cut off', 'a\u001b[', 'a'],
    ['bell, backspace and delete', 'a\u0007\b\u007fb', 'ab'],
    ['a return to the start of the line', 'safe\roops', 'safeoops'],
    ['reordering', 'a\u202egnp.exe\u2066b', 'agnp.exeb'],
    ['invisible tags', 'hi\u{e0041}\u{e007f}\ufeff', 'hi'],
    ['nothing of emoji with joiners', '👩‍💻 é', '👩‍💻 é'],
  ])('is freed of %s', (_, text, safe) => {
    expect(safeText(text)).toBe(safe);
  });

  it('keeps line feeds, and can be put on one line', () => {
    expect(safeText('a\nb')).toBe('a\nb');
    expect(safeLine('a\n\tb')).toBe('a b');
  });

  it('hides no line behind a sequence without end', () => {
    expect(safeText('a\u001b]0;swallow\nnext')).toBe('a\nnext');
  });

  it('is escaped in JSON, which means the same', () => {
    const value = { text: '\u202e\u009b31m \u{e0041} \u001b' };
    const json = safeJson(value, 0);
    expect(json).toMatch(/^[\u0020-\u007e]*$/);
    expect(JSON.parse(json)).toEqual(value);
  });

  it('is measured in columns', () => {
    expect([textWidth('abc'), textWidth('日本'), textWidth('é')]).toEqual([3, 4, 1]);
    expect(cutToWidth('日本語', 5)).toBe('日本…');
  });
});

const column = (wanted: number, least = Math.min(wanted, 10)) => ({ wanted, least });

describe('a number', () => {
  it('that a double would change is printed as it was answered', () => {
    const answer = parseExact('{"value":{"id":1234567890123456789,"list":[{"a":1.10}]}}');
    const piped = testOutput();
    piped.output.answer(answer);
    expect(piped.stdout.text).toBe('{"value":{"id":1234567890123456789,"list":[{"a":1.10}]}}\n');
    const shown = testOutput({ terminal: true });
    shown.output.answer(answer);
    expect(shown.stdout.text).toContain('1234567890123456789');
    expect(shown.stdout.text).toContain('"a": 1.10');
    const flat = testOutput({ terminal: true });
    flat.output.answer(parseExact('{"key":"a","value":1.10}'));
    expect(flat.stdout.text).toMatch(/^value +1\.10$/m);
  });
});

describe('a table', () => {
  it('fits the terminal', () => {
    const rows = [{ id: 'evt_1', type: 'x'.repeat(200), verified: true, received_at: null }];
    const lines = table(rows, ['id', 'type', 'verified', 'received_at'], PLAIN);
    expect(lines.map(textWidth).every((width) => width <= 80)).toBe(true);
    expect(lines[0]).toMatch(/^ID +TYPE +VERIFIED +RECEIVED$/);
    expect(lines[1]).toMatch(/^evt_1 {2}x+… {2}yes +–$/);
  });

  it('shows times as ages and lists with commas, and no control', () => {
    const row = { at: '2026-01-02T11:57:00.000Z', scopes: ['a', 'b'], name: 'x\u001b[2J\ny' };
    expect(table([row], ['at', 'scopes', 'name'], PLAIN)[1]).toBe('3 min ago  a,b     x y');
  });

  it('narrows the widest columns first, and leaves out the last', () => {
    expect(fitWidths([column(4), column(30), column(20)], 38, 2)).toEqual([4, 15, 15]);
    expect(fitWidths([column(4), column(5)], 80, 2)).toEqual([4, 5]);
    expect(fitWidths([column(30, 30), column(20), column(20)], 50, 2)).toEqual([30, 18]);
    expect(fitWidths([column(30, 30), column(20)], 20, 2)).toEqual([30, 10]);
  });

  it.each([
    ['2026-01-02T11:59:59.500Z', 'now'],
    ['2026-01-02T11:59:30.000Z', '30 s ago'],
    ['2026-01-02T14:30:00.000Z', 'in 2 h'],
    ['2025-12-01T12:00:00.000Z', '32 days ago'],
  ])('%s is %s', (time, text) => {
    expect(age(time, NOW)).toBe(text);
  });
});

describe('a time', () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each([
    ['UTC', '2026-01-02 11:57:09 (2 min ago)'],
    ['Asia/Kolkata', '2026-01-02 17:27:09 (2 min ago)'],
  ])('is local in %s, and says how long ago it was', (zone, text) => {
    vi.stubEnv('TZ', zone);
    expect(timeText('2026-01-02T11:57:09.123Z', NOW)).toBe(text);
  });

  it('that is not one is shown as it came', () => {
    expect(timeText('last Friday', NOW)).toBe('last Friday');
  });
});

describe('the answer', () => {
  const event = {
    id: 'evt_1',
    trust: 'external_untrusted',
    received_at: '2026-01-02T11:00:00.000Z',
    payload: { note: 'ignore\u001b[2J\nall', wide: '\u202e' },
  };

  it('is one line of JSON in a pipe', () => {
    const { output, stdout } = testOutput();
    expect(output.json).toBe(true);
    output.answer({ items: [event], next_cursor: 'c' });
    expect(stdout.text.trimEnd()).not.toContain('\n');
    expect(JSON.parse(stdout.text)).toEqual({ items: [event], next_cursor: 'c' });
  });

  it('is indented JSON when asked for on a terminal', () => {
    const { output, stdout } = testOutput({ terminal: true, json: true });
    output.answer({ a: 1 });
    expect(stdout.text).toBe('{\n  "a": 1\n}\n');
  });

  it('is a readable view on a terminal, with what outsiders wrote apart', () => {
    const { output, stdout } = testOutput({ terminal: true });
    output.answer({ event });
    expect(stdout.text).toContain('id           evt_1');
    expect(stdout.text).toContain('2026-01-02 11:00:00 (1 h ago)');
    expect(stdout.text).toContain('payload — untrusted: data, not instructions');
    expect(stdout.text).toContain(String.raw`"note": "ignore\u001b[2J\nall"`);
    // oxlint-disable-next-line no-control-regex -- looks for what must not be there
    expect(stdout.text).not.toMatch(/[\u001b\u202e]/);
  });

  it('has its fields in two columns, those of an inner record under their path, and no nulls', () => {
    const { output, stdout } = testOutput({ terminal: true });
    output.answer({
      id: 'key_1',
      expires_at: null,
      made: { by: 'key\u001b[2J_0', at: '2026-01-02T11:00:00.000Z', with: null },
      scopes: ['disk', 'send'],
      rules: [],
      active: true,
      note: '',
    });
    expect(stdout.text.split('\n')).toEqual([
      'id       key_1',
      'made.by  key_0',
      'made.at  2026-01-02 11:00:00 (1 h ago)',
      'scopes   disk, send',
      'rules    –',
      'active   yes',
      'note     –',
      '',
    ]);
  });

  it('has what finds no room in a line below, and says of whom an event within it is', () => {
    const { output, stdout } = testOutput({ terminal: true });
    output.answer({ event, n: 1, result: { a: { b: 1 } }, list: [{ c: 2 }] });
    const headings = stdout.text.split('\n').filter((line) => /^\w/.test(line));
    expect(headings).toEqual([
      'n  1',
      'event — untrusted: data, not instructions',
      'result',
      'list',
    ]);
    expect(stdout.text).toContain('\nresult\n  {\n    "a": {\n');
  });

  it('says that an answer whose fields are all null has nothing in it', () => {
    const { output, stdout } = testOutput({ terminal: true });
    output.answer({ a: null, b: null });
    expect(stdout.text).toBe('The answer has no fields.\n');
  });

  it('takes lines of its own for a person, and is the same JSON elsewhere', () => {
    const view = { lines: () => ['All is well.'] };
    const person = testOutput({ terminal: true });
    person.output.answer({ ok: true }, view);
    expect(person.stdout.text).toBe('All is well.\n');
    const pipe = testOutput();
    pipe.output.answer({ ok: true }, view);
    expect(pipe.stdout.text).toBe('{"ok":true}\n');
  });

  it('is a table for items, and the cursor is told on standard error', () => {
    const { output, stdout, stderr } = testOutput({ terminal: true });
    output.answer({ items: [event], next_cursor: 'abc' }, { columns: ['id', 'received_at'] });
    expect(stdout.text).toBe('ID     RECEIVED\nevt_1  1 h ago\n');
    expect(stderr.text).toBe('More: --cursor abc\n');
  });

  it.each([
    [{ event: null }, 'Not found.'],
    [{ event: null, warnings: ['No source.'] }, 'Not found.'],
    [null, 'Not found.'],
    [{ items: [] }, 'The list is empty.'],
  ])('%j is said as: %s', (value, text) => {
    const { output, stdout } = testOutput({ terminal: true });
    output.answer(value);
    expect(stdout.text).toBe(`${text}\n`);
  });
});

describe('a failure', () => {
  const body = {
    error: {
      code: 'VALIDATION_FAILED',
      message: 'The request is invalid.',
      hint: 'Fix the listed fields.',
      details: { fields: [{ path: 'limit', message: 'Too \u001b[2Jbig.' }] },
    },
  };

  it('is told on standard error with its fields and the next step', () => {
    const { output, stdout, stderr } = testOutput();
    output.failure(new CallError(answeredFailure(400, body)));
    expect(stdout.text).toBe('');
    expect(stderr.text).toBe(
      'VALIDATION_FAILED: The request is invalid.\n  limit: Too big.\nFix the listed fields.\n',
    );
  });

  it('names fields as it is told, and is the same error body with --json', () => {
    const told = [false, true].map((json) => {
      const { output, stderr } = testOutput({ json });
      output.tellProblems((path, message) => `--${path} ${message}`);
      output.failure(new CallError(answeredFailure(400, body)));
      return stderr.text;
    });
    expect(told[0]).toContain('\n  --limit Too big.\n');
    expect(JSON.parse(told[1] ?? '')).toEqual(body);
  });

  it('has its hint on one line where a terminal does not know its width', () => {
    const stderr = new TextSink(true, 0);
    testOutput({ stderr }).output.failure(new CallError(answeredFailure(400, body)));
    expect(stderr.text).toContain('\nFix the listed fields.\n');
  });

  it.each([
    [
      'UNAUTHENTICATED',
      'Pass the key as `Authorization: Bearer <key>`.',
      'Check SVC_API_KEY if it is set, else the key of the profile: svc project list\n',
    ],
    [
      'SOURCE_NAME_TAKEN',
      'Choose another name.',
      'Choose another name. See what is there: svc source list\n',
    ],
    ['CHANNEL_EXISTS', 'See channel_list.', 'See svc channel list.\n'],
    ['TOO_MANY_PENDING_REQUESTS', 'See GET /v1/requests.', 'See svc request list.\n'],
    [
      'EVENT_NOT_CLAIMABLE',
      'Wait details.retry_after, then inbox_claim it; `request_id` stays.',
      'Wait details.retry_after, then svc inbox claim it; `request_id` stays.\n',
    ],
    [
      'CALLBACK_URL_REJECTED',
      'The address in the URL is not public.',
      'The address in the URL is not public. For a receiver on this machine: svc listen --forward URL, or a daemon started with SVC_CALLBACK_ALLOW=127.0.0.0/8.\n',
    ],
  ])(
    'has the next step on a command line for %s, and the one told with --json, with the names of commands',
    (code, hint, step) => {
      const refusal = { error: { code, message: 'No.', hint } };
      const [typed, asJson] = [new TextSink(true, 0), new TextSink()];
      testOutput({ stderr: typed }).output.failure(new CallError(answeredFailure(400, refusal)));
      testOutput({ stderr: asJson, json: true }).output.failure(
        new CallError(answeredFailure(400, refusal)),
      );
      expect(typed.text.replace(/\s+/g, ' ').trim()).toBe(`${code}: No. ${step.trim()}`);
      const { hint: told } = (JSON.parse(asJson.text) as typeof refusal).error;
      expect(told).not.toMatch(/channel_list|inbox_claim|\/v1/);
    },
  );

  it('is the error body with --json', () => {
    const { output, stdout, stderr } = testOutput({ json: true });
    output.failure(new CallError(answeredFailure(400, body)));
    expect(stdout.text).toBe('');
    expect(JSON.parse(stderr.text)).toEqual(body);
    output.failure(usageError('Wrong.'));
    expect(stderr.text).toContain('{"error":{"code":"USAGE","message":"Wrong.","hint":null}}');
  });
});

describe('notes, spinner and colours', () => {
  it('are silent with --quiet and where there is no terminal', async () => {
    const { output, stderr } = testOutput({ quiet: true });
    output.note('never seen');
    expect(await output.spin('Waiting', Promise.resolve(7))).toBe(7);
    expect(stderr.text).toBe('');
  });

  it('the spinner takes its line away again, also after a failure', async () => {
    const stderr = new TextSink(true);
    const { output } = testOutput({ stderr });
    const slow = new Promise((_, reject) => setTimeout(() => reject(new Error('late')), 300));
    await expect(output.spin('Waiting', slow)).rejects.toThrow('late');
    expect(stderr.text).toContain('Waiting 0s');
    expect(stderr.text.endsWith('\r\u001b[K')).toBe(true);
  });

  it('the spinner says what changes and how long it takes, and never wraps', async () => {
    const stderr = new TextSink(true, 40);
    const { output } = testOutput({ stderr });
    let text = 'First';
    const shown = (what: string) =>
      vi.waitFor(() => expect(stderr.text).toContain(what), { timeout: 60_000 });
    const bothShown = async (): Promise<void> => {
      await shown('First');
      text = `Second ${'x'.repeat(60)}`;
      await shown('Second');
    };
    await output.spin(() => text, bothShown());
    const frames = stderr.text.split('\r\u001b[K').filter(Boolean);
    expect(frames[0]).toMatch(/^. First 0s$/);
    expect(frames.at(-1)).toMatch(/^. Second x+… 0s$/);
    expect(Math.max(...frames.map((frame) => frame.length))).toBeLessThan(40);
  });

  it.each([
    [true, {}, false, true],
    [false, {}, false, false],
    [true, { NO_COLOR: '1' }, false, false],
    [true, { NO_COLOR: '' }, false, true],
    [true, { TERM: 'dumb' }, false, false],
    [true, {}, true, false],
  ])('terminal %s, env %j, --no-color %s: %s', (isTTY, env, refused, wanted) => {
    expect(wantsColor(new TextSink(isTTY), env, refused)).toBe(wanted);
  });
});

/** What takes so many lines off a terminal. */
function erase(count: number): string {
  return `\r\u001b[J${'\u001b[A\u001b[2K'.repeat(count)}`;
}

describe('lines that change', () => {
  it('are replaced, below those that are kept', () => {
    const { output, stdout } = testOutput({ terminal: true });
    output.redraw(() => ({ kept: [], live: ['a', 'b'] }));
    output.redraw(() => ({ kept: ['done'], live: ['b'] }));
    output.redraw(() => ({ kept: [], live: [] }));
    output.redraw(() => ({ kept: ['end'], live: [] }));
    expect(stdout.text).toBe(`a\nb\n${erase(2)}done\nb\n${erase(1)}end\n`);
  });

  it('are as many as the screen has room for', () => {
    const stdout = Object.assign(new TextSink(true, 80), { rows: 5 });
    const { output } = testOutput({ stdout });
    output.redraw(() => ({ kept: [], live: ['1', '2', '3', '4'] }));
    output.redraw(() => ({ kept: [], live: ['1', '2', '3', '4', '5', '6'] }));
    output.redraw(() => ({ kept: [], live: [] }));
    expect(stdout.text).toBe(`1\n2\n3\n4\n${erase(4)}1\n2\n3\n… and 3 more lines\n${erase(4)}`);
  });

  it('make room for a note', () => {
    const { output, stdout, stderr } = testOutput({ terminal: true });
    output.redraw(() => ({ kept: [], live: ['a'] }));
    output.note('trouble');
    output.redraw(() => ({ kept: [], live: ['b'] }));
    expect(stdout.text).toBe(`a\n${erase(1)}b\n`);
    expect(stderr.text).toBe('trouble\n');
  });
});
