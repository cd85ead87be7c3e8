import { describe, expect, it } from 'vitest';
import type { CommandSpec } from '../../cli/command.ts';
import { CliError } from '../../cli/errors.ts';
import { parseLine } from '../../cli/input/parse.ts';
import { nearest } from '../../shared/suggest.ts';
import { allCommands, findCommand } from '../../cli/tree.ts';

const commands = allCommands();

function commandOf(line: string): CommandSpec {
  const found = findCommand(line.split(' '), commands);
  if (!found) throw new Error(`No command: ${line}`);
  return found.command;
}

function refusal(line: string, rest: readonly string[]): CliError {
  try {
    parseLine(commandOf(line), rest);
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

const EVENT = 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3';

describe('finding a command', () => {
  it.each([
    ['inbox list', ['inbox', 'list']],
    ['keys list', ['key', 'list']],
    ['sources add', ['source', 'add']],
    ['mcp', ['mcp']],
    ['mcp install', ['mcp', 'install']],
    ['status', ['status']],
  ])('%s', (line, words) => {
    expect(commandOf(line).words).toEqual(words);
  });

  it('finds nothing for unknown words', () => {
    expect(findCommand(['inbox', 'lst'], commands)).toBeNull();
    expect(findCommand(['toString'], commands)).toBeNull();
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
    const line = parseLine(commandOf('inbox claim'), ['--lease-seconds', '60', EVENT, '--json']);
    expect(line.args['event_id']).toBe(EVENT);
    expect(line.options['lease-seconds']).toBe('60');
    expect(line.options['json']).toBe(true);
  });

  it.each([
    [['--retry', 'false'], 'false'],
    [['--retry=false'], 'false'],
    [['--retry'], 'true'],
  ])('a boolean may stand alone: %j', (flags, value) => {
    const line = parseLine(commandOf('inbox nack'), [...flags, EVENT]);
    expect(line.options['retry']).toBe(value);
    expect(line.args['event_id']).toBe(EVENT);
  });

  it('gathers flags that repeat, and refuses others given twice', () => {
    const scopes = ['--scopes', 'admin,disk', '--scopes', 'send'];
    expect(parseLine(commandOf('key create'), scopes).options['scopes']).toEqual([
      'admin,disk',
      'send',
    ]);
    const twice = refusal('inbox list', ['--limit', '1', '--limit', '2']);
    expect(twice.message).toBe('--limit is given twice.');
  });

  it('takes what stands behind -- as arguments', () => {
    expect(parseLine(commandOf('source remove'), ['--', '--odd']).args['name']).toBe('--odd');
  });

  it.each([
    ['inbox list', ['--limt', '5'], 'Unknown flag --limt. Did you mean --limit?'],
    ['inbox list', ['--limit'], '--limit needs a value.'],
    ['inbox list', ['--type', '--limit', '5'], '--type needs a value.'],
    ['inbox list', ['--status', 'ded'], '--status cannot be "ded". Did you mean "dead"?'],
    ['inbox list', ['extra'], 'Unexpected argument "extra".'],
    ['inbox list', ['--json=yes'], '--json takes no value.'],
    ['inbox claim', [], '<event_id> is missing.'],
    ['inbox claim', ['--event-id', EVENT], '--event-id is no flag.'],
    ['inbox nack', [EVENT, '--no-retry'], '--no-retry is no flag.'],
    ['key create', ['--scopes', 'admin,dsk'], '--scopes cannot be "dsk". Did you mean "disk"?'],
  ])('refuses %s %j', (line, rest, message) => {
    const error = refusal(line, rest);
    expect(error.exit).toBe(2);
    expect(error.message).toBe(message);
    expect(error.hint).toBeTruthy();
  });

  it('shows an example when something is missing', () => {
    expect(refusal('inbox claim', []).hint).toBe(`For example: svc inbox claim ${EVENT}`);
  });

  it('asks for no arguments when help is wanted', () => {
    expect(parseLine(commandOf('inbox claim'), ['--help']).options['help']).toBe(true);
    expect(parseLine(commandOf('inbox claim'), ['-h']).options['help']).toBe(true);
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
