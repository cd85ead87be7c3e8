import { describe, expect, it } from 'vitest';
import { CliError } from '../../cli/errors.ts';
import { nearest } from '../../shared/lib/suggest.ts';
import { allCommands } from '../../cli/tree.ts';
import { HelpRequest } from '../../cli/program.ts';
import { nameIn, readLine } from './read-line.ts';

const commands = allCommands();

function refusal(line: string, rest: readonly string[]): CliError {
  try {
    readLine([...line.split(' '), ...rest]);
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

const EVENT = 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3';

describe('finding a command', () => {
  it.each([
    ['inbox list', 'inbox list'],
    ['keys list', 'key list'],
    ['sources add', 'source add'],
    ['mcp', 'mcp'],
    ['mcp install', 'mcp install'],
    ['status', 'status'],
    ['gateway project list', 'gateway project list'],
    ['--json inbox --profile shop list', 'inbox list'],
    ['inbox lst', null],
    ['gateway bakup', null],
    ['gateway project lst', null],
    ['toString', null],
  ])('%s', (line, name) => {
    expect(nameIn(line.split(' '))).toBe(name);
  });

  it('has no two commands of one name, and an example with each that starts with its name', () => {
    const names = commands.map(({ words }) => words.join(' '));
    expect(new Set(names).size).toBe(names.length);
    for (const { words, examples } of commands) {
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) expect(`${example} `).toContain(`${words.join(' ')} `);
    }
  });
});

describe('reading a command line', () => {
  it('takes arguments and flags in any order', () => {
    const line = readLine(['inbox', 'claim', '--lease-seconds', '60', EVENT, '--json']);
    expect(line.args['event_id']).toBe(EVENT);
    expect(line.options['lease-seconds']).toBe('60');
    expect(line.options['json']).toBe(true);
  });

  it.each([
    [['--retry', 'false'], 'false'],
    [['--retry=false'], 'false'],
    [['--retry'], 'true'],
  ])('a boolean may stand alone: %j', (flags, value) => {
    const line = readLine(['inbox', 'nack', ...flags, EVENT]);
    expect(line.options['retry']).toBe(value);
    expect(line.args['event_id']).toBe(EVENT);
  });

  it('gathers flags that repeat, and refuses others given twice', () => {
    const scopes = ['--scopes', 'admin,disk', '--scopes', 'send'];
    expect(readLine(['key', 'create', ...scopes]).options['scopes']).toEqual([
      'admin,disk',
      'send',
    ]);
    const twice = refusal('inbox list', ['--limit', '1', '--limit', '2']);
    expect(twice.message).toBe('--limit is given twice.');
  });

  it('takes what stands behind -- as arguments', () => {
    expect(readLine(['source', 'remove', '--', '--odd']).args['name']).toBe('--odd');
  });

  it.each([
    ['inbox list', ['--limt', '5'], 'Unknown flag --limt. Did you mean --limit?'],
    ['inbox list', ['--limit'], '--limit needs a value.'],
    ['inbox list', ['--type', '--limit', '5'], '--type needs a value.'],
    ['inbox list', ['--status', 'ded'], '--status can\'t be "ded". Did you mean "dead"?'],
    ['inbox list', ['extra'], 'Unexpected argument "extra".'],
    ['inbox list', ['--json=yes'], '--json takes no value.'],
    ['inbox', ['--limit', '5', 'list'], 'Unknown flag --limit.'],
    ['inbox claim', [], '<event_id> is missing.'],
    ['inbox claim', [''], '<event_id> is missing.'],
    ['inbox list', ['--limit=1', '--frob=2'], 'Unknown flag --frob.'],
    [
      'inbox list',
      ['--idempotency-key', 'x'],
      '--idempotency-key only works with commands that write.',
    ],
    ['inbox claim', ['--event-id', EVENT], "--event-id isn't a flag."],
    ['inbox nack', [EVENT, '--no-retry'], "--no-retry isn't a flag."],
    ['key create', ['--scopes', 'admin,dsk'], '--scopes can\'t be "dsk". Did you mean "disk"?'],
  ])('refuses %s %j', (line, rest, message) => {
    const error = refusal(line, rest);
    expect(error.exit).toBe(2);
    expect(error.message).toBe(message);
    expect(error.hint).toBeTruthy();
  });

  it('shows an example when something is missing', () => {
    expect(refusal('inbox claim', []).hint).toBe(`For example: svc inbox claim ${EVENT}`);
  });

  it('knows a flag of every command wherever it stands, once', () => {
    const line = ['--profile', 'shop', 'inbox', '--quiet', 'list', '--no-color'];
    const { command, options } = readLine(line);
    expect(command.words).toEqual(['inbox', 'list']);
    expect(options).toEqual({ profile: 'shop', quiet: true, 'no-color': true });
    expect(refusal('--profile a inbox list', ['--profile', 'b']).message).toBe(
      '--profile is given twice.',
    );
  });

  it('takes a value that looks like a flag where it is joined to its own', () => {
    expect(readLine(['inbox', 'list', '--type=--limit']).options['type']).toBe('--limit');
    expect(readLine(['logs', '-fn', '5']).options).toEqual({ follow: true, lines: '5' });
    expect(readLine(['logs', '-n5']).options['lines']).toBe('5');
    expect(readLine(['kv', 'set', 'x', '-1']).args).toEqual({ key: 'x', value: '-1' });
  });

  it('hands a flag of a command on to the one that goes on from it', () => {
    const { command, options } = readLine(['gateway', '--config', 'x', 'backup', 'dir']);
    expect(command.words).toEqual(['gateway', 'backup']);
    expect(options['config']).toBe('x');
  });

  it.each(['--help', '-h'])('asks for no arguments when help is wanted: %s', (flag) => {
    expect(() => readLine(['inbox', 'claim', flag])).toThrow(HelpRequest);
    expect(() => readLine([flag, 'inbox', 'claim'])).toThrow(HelpRequest);
  });
});

describe('what was meant', () => {
  it.each([
    ['inbxo', 'inbox'],
    ['lsit', 'list'],
    ['acknowledge', null],
    ['complet', 'completion'],
    ['x', null],
  ])('%s', (word, meant) => {
    expect(nearest(word, ['inbox', 'list', 'completion', 'key'])).toBe(meant);
  });
});
