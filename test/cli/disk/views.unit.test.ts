import { describe, expect, it } from 'vitest';
import { contentTypeOf } from '../../../cli/disk/content-type.ts';
import { fileListView } from '../../../cli/commands/file/list.ts';
import { ProgressBar, progressLine } from '../../../cli/disk/progress.ts';
import { sizeText } from '../../../cli/view/sizes.ts';
import { usageView } from '../../../cli/commands/usage.ts';
import { zshScript } from '../../../cli/view/help/completion-scripts.ts';
import { commandHelp } from '../../../cli/view/help/help.ts';
import { textWidth } from '../../../cli/view/terminal-text.ts';
import { allCommands } from '../../../cli/tree.ts';
import { TextSink, testOutput } from '../fake-output.ts';

const MB = 1024 * 1024;

function fileOf(file: {
  path: string;
  size_bytes: number;
  content_type: string;
  updated_at: string;
}) {
  return { ...file, ref: `disk://${file.path}`, sha256: '0'.repeat(64), version: 1 };
}

describe('sizes', () => {
  it.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [1023, '1023 bytes'],
    [1024, '1 KB'],
    [1_590_000, '1.5 MB'],
    [MB - 1, '1023 KB'],
    [100 * MB, '100 MB'],
    [5 * 1024 * MB, '5 GB'],
  ])('%i reads %s', (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });
});

describe('the type of a file', () => {
  it.each([
    ['a.pdf', 'application/pdf'],
    ['reports/MAY.PDF', 'application/pdf'],
    ['a.tar.gz', 'application/gzip'],
    ['data.json', 'application/json'],
    ['.json', 'application/octet-stream'],
    ['folder.txt/file', 'application/octet-stream'],
    ['a.constructor', 'application/octet-stream'],
    ['a', 'application/octet-stream'],
  ])('of %s is %s', (name, type) => {
    expect(contentTypeOf(name)).toBe(type);
  });
});

describe('the progress of a transfer', () => {
  const state = { label: 'a.bin', bytes: 25 * MB, totalBytes: 100 * MB, columns: 79 };

  it('shows bytes, percent, rate and the time that is left', () => {
    expect(progressLine({ ...state, bytesPerSecond: 2 * MB })).toBe(
      'a.bin  █████░░░░░░░░░░░░░░░   25%  25 MB of 100 MB  2 MB/s  38s left',
    );
    expect(progressLine({ ...state, bytesPerSecond: 100_000 })).toContain('13m 7s left');
  });

  it('says no more than it knows', () => {
    const line = progressLine({ ...state, totalBytes: null, bytesPerSecond: null });
    expect(line).toBe('a.bin  25 MB');
    expect(progressLine({ ...state, bytes: 0, totalBytes: 0, bytesPerSecond: null })).toContain(
      '100%',
    );
  });

  it.each([20, 30, 40, 60, 79])('fits %i columns', (columns) => {
    const label = 'ein sehr langer Name\u001b[2J 日本語.bin';
    const line = progressLine({ ...state, label, bytesPerSecond: 2 * MB, columns });
    expect(textWidth(line)).toBeLessThanOrEqual(columns);
    expect(line).not.toContain('\u001b');
  });

  it('is one line that is taken away at the end', () => {
    const sink = new TextSink(true, 80);
    let now = 0;
    const bar = new ProgressBar({ sink, label: 'a', totalBytes: 10 * MB, now: () => now });
    now = 1000;
    bar.add(5 * MB);
    bar.draw();
    bar.end();
    bar.end();
    const shown = sink.text.split('\r\u001b[K').slice(1);
    expect(shown).toHaveLength(3);
    expect(shown[0]).toContain('  0%  0 bytes of 10 MB');
    expect(shown[1]).toContain(' 50%  5 MB of 10 MB  5 MB/s  1s left');
    expect(shown[2]).toBe('');
    expect(sink.text).not.toContain('\n');
  });
});

describe('answers on a terminal', () => {
  it('lists files without cutting a path', () => {
    const { stdout, output } = testOutput({ terminal: true });
    const path = `reports/${'x'.repeat(90)}.pdf`;
    const answer = {
      items: [
        fileOf({
          path,
          size_bytes: 2 * MB,
          content_type: 'application/pdf',
          updated_at: '2026-01-02T11:00:00.000Z',
        }),
        fileOf({
          path: 'a\u001b[2J',
          size_bytes: 5,
          content_type: 'text/plain',
          updated_at: '2026-01-02T11:59:00.000Z',
        }),
      ],
      next_cursor: null,
    };
    output.answer(answer, fileListView(answer));
    expect(stdout.text.split('\n')).toEqual([
      '   SIZE  UPDATED    TYPE             PATH',
      '   2 MB  1 h ago    application/pdf',
      `  ${path}`,
      '5 bytes  1 min ago  text/plain       a',
      '',
    ]);
  });

  it.each([
    [60, 'SIZE  UPDATED  PATH', '2 MB  1 h ago  reports/2026/quarterly/may.pdf'],
    [40, 'SIZE  PATH', '2 MB  reports/2026/quarterly/may.pdf'],
  ])('lists files within %i columns', (columns, heading, line) => {
    const stdout = new TextSink(true, columns);
    const { output } = testOutput({ stdout });
    const file = { path: 'reports/2026/quarterly/may.pdf', size_bytes: 2 * MB };
    const updated_at = '2026-01-02T11:00:00.000Z';
    const items = [fileOf({ ...file, content_type: 'application/pdf', updated_at })];
    const answer = { items, next_cursor: null };
    output.answer(answer, fileListView(answer));
    expect(stdout.text).toBe(`${heading}\n${line}\n`);
  });

  it('says that the list is empty', () => {
    const { stdout, output } = testOutput({ terminal: true });
    const answer = { items: [], next_cursor: null };
    output.answer(answer, fileListView(answer));
    expect(stdout.text).toBe('The list is empty.\n');
  });

  it('shows how full everything is', () => {
    const { stdout, output } = testOutput({ terminal: true });
    const answer = {
      disk: {
        used_bytes: 512 * MB,
        limit_bytes: 1024 * MB,
        key_bytes: 0,
        file_bytes: 500 * MB,
        upload_bytes: 12 * MB,
      },
      keys: { used: 12, limit: 10_000 },
      transfer: {
        month: '2026-01',
        used_bytes: 0,
        limit_bytes: 5120 * MB,
        resets_at: '2026-02-01T00:00:00.000Z',
      },
      emails: {
        today: 5,
        day_limit: 50,
        this_month: 5,
        month_limit: 1000,
        blocked: '3 recipients complained within a week',
      },
      replica_log: { stored_bytes: 20 * MB, limit_bytes: 256 * MB },
    };
    output.answer(answer, usageView(answer));
    expect(stdout.text.split('\n')).toEqual([
      'Disk            ██████████░░░░░░░░░░  50%  512 MB of 1 GB',
      '  files         500 MB',
      '  keys          0 bytes',
      '  open uploads  12 MB',
      'Keys            ░░░░░░░░░░░░░░░░░░░░   0%  12 of 10,000',
      'Downloads       ░░░░░░░░░░░░░░░░░░░░   0%  0 bytes of 5 GB',
      '  month         2026-01, resets 2026-02-01 00:00:00 (in 29 days)',
      'Mails today     ██░░░░░░░░░░░░░░░░░░  10%  5 of 50',
      '  month         ░░░░░░░░░░░░░░░░░░░░   0%  5 of 1,000',
      '  blocked       3 recipients complained within a week',
      'Replica log     20 MB of 256 MB',
      '',
    ]);
  });
});

describe('the commands of the disk', () => {
  const names = ['file put', 'file get', 'file sync', 'file list', 'usage'];

  it.each(names)('%s is there once, with examples', (name) => {
    const found = allCommands().filter(({ words }) => words.join(' ') === name);
    expect(found).toHaveLength(1);
    const [command] = found;
    expect(command && commandHelp(command)).toMatch(/Examples:\n {2}svc /);
  });

  it('are completed', () => {
    const script = zshScript(allCommands());
    for (const word of ['put:', 'sync:', '--dry-run', '--force']) expect(script).toContain(word);
  });
});
