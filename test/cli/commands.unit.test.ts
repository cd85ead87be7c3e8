import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommandFile } from '../../cli/command.ts';
import { operationShapes } from '../../cli/shapes/operations.ts';
import { allCommands } from '../../cli/tree.ts';

const operations = new Set(operationShapes.map(({ words }) => words.join('/')));
const paths = readdirSync('cli/commands', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.includes('.'))
  .map((name) => name.replace(/\.ts$/, ''));

function fileOf(path: string): Promise<CommandFile> {
  return import(
    /* @vite-ignore */ join(process.cwd(), 'cli/commands', `${path}.ts`)
  ) as Promise<CommandFile>;
}

describe('a file below cli/commands', () => {
  it('is the command of its path', () => {
    const names = new Set(allCommands().map(({ words }) => words.join('/')));
    expect(paths.length).toBeGreaterThan(70);
    expect(paths.filter((path) => !names.has(path))).toEqual([]);
  });

  it.each(paths.filter((path) => operations.has(path)))(
    'says or does what the command of an operation has beyond others: %s',
    async (path) => {
      const { declaration = {}, run } = await fileOf(path);
      expect(run ?? Object.keys(declaration)[0]).toBeDefined();
    },
  );

  it.each(paths.filter((path) => !operations.has(path)))(
    'says and does everything without an operation: %s',
    async (path) => {
      const { declaration = {}, run } = await fileOf(path);
      expect(run).toBeTypeOf('function');
      expect(Object.keys(declaration)).toEqual(
        expect.arrayContaining(['summary', 'args', 'options', 'examples']),
      );
      // There is no interface to add to.
      expect(Object.keys(declaration).filter((key) => /^(?:more|stored)/.test(key))).toEqual([]);
    },
  );
});
