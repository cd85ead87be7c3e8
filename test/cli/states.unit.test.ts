import { describe, expect, it } from 'vitest';
import { EVENT_STATUSES } from '../../shared/kernel/envelope.ts';
import { REQUEST_STATUSES } from '../../shared/rules/requests/request-state.ts';
import { wrapNote } from '../../cli/view/terminal-text.ts';
import { testOutput, TextSink } from './fake-output.ts';

function shown(status: string, color: boolean): string {
  const { output, stdout } = testOutput({ terminal: true, color });
  output.answer({ items: [{ status, n: 1 }] }, { columns: ['status', 'n'] });
  output.answer({ id: 'x', status });
  return stdout.text;
}

describe('a state on a terminal', () => {
  it.each([
    ['done', 32],
    ['approved', 32],
    ['failed', 31],
    ['dead', 31],
    ['denied', 31],
    ['pending', 33],
    ['claimed', 33],
    ['waiting', 33],
    ['expired', 2],
  ])('%s has its color in tables and in fields', (status, code) => {
    const painted = `\u001b[${code}m${status}\u001b[0m`;
    const [, row, , field] = shown(status, true).split('\n');
    expect(row).toMatch(/ 1$/);
    expect([row?.startsWith(painted), field?.endsWith(painted)]).toEqual([true, true]);
  });

  it.each([...EVENT_STATUSES, ...REQUEST_STATUSES])('%s has a color', (status) => {
    // oxlint-disable-next-line no-control-regex -- looks for a color
    expect(shown(status, true)).toMatch(new RegExp(`\u001b\\[\\d+m${status}`));
  });

  it('has none without colors', () => {
    expect(shown('done', false)).toBe('STATUS  N\ndone    1\nid      x\nstatus  done\n');
  });
});

describe('a note on a narrow terminal', () => {
  const note =
    'Parked events wait for people you know. To see them, run: svc inbox list --status waiting';

  it('breaks between words, and never within a command', () => {
    const stderr = new TextSink(true, 40);
    testOutput({ stderr }).output.note(note);
    expect(stderr.text.split('\n')).toEqual([
      'Parked events wait for people you know.',
      'To see them, run:',
      'svc inbox list --status waiting',
      '',
    ]);
  });

  it('is one line where there is no terminal', () => {
    const { output, stderr } = testOutput();
    output.note(note);
    expect(stderr.text).toBe(`${note}\n`);
  });

  it('keeps an id whole, however long', () => {
    const id = `evt_${'0'.repeat(60)}`;
    expect(wrapNote(`The event ${id} is gone.`, 40)).toEqual(['The event', id, 'is gone.']);
  });
});
