import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { operationShapes } from '../../cli/shapes/operations.ts';

const sources = readdirSync('cli', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path: join('cli', path), text: readFileSync(join('cli', path), 'utf8') }));

function filesWith(pattern: RegExp): string[] {
  return sources.flatMap(({ path, text }) => (pattern.test(text) ? [path] : []));
}

describe('the answers of operations', () => {
  it('come from calls by name: a path is written where no operation is called', () => {
    expect(filesWith(/\.(?:send|raw)\(\s*'(?:GET|HEAD|POST|PUT|DELETE)'/)).toEqual([
      'cli/commands/open.ts',
      'cli/doctor/clock.ts',
      'cli/mcp/endpoint.ts',
      'cli/signin/calls.ts',
      'cli/work/time-there.ts',
    ]);
  });

  it("are of the command's own operation", () => {
    const own = new Map(operationShapes.map(({ words, name }) => [words.join('/'), name]));
    const named = sources.flatMap(({ path, text }) => {
      const [, command] = /^cli\/commands\/(.*)\.ts$/.exec(path) ?? [];
      const types = text.matchAll(/\b(?:OperationShape|showing\w*)<'(\w+)'>/g);
      return command === undefined ? [] : [...types].map(([, name]) => [command, name] as const);
    });
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter(([command, name]) => own.get(command) !== name)).toEqual([]);
  });

  it('are never taken for anything, but where they are received, and by what prints any JSON', () => {
    const any = /\banswer\w*: (?:unknown|(?:Readonly<)?Record<|JsonObject)|\bisObject\(answer\b/;
    expect(filesWith(any).toSorted()).toEqual([
      'cli/call/client.ts',
      // Links to the web inbox, the socket of a gateway's operator, and MCP: none is an operation.
      'cli/commands/gateway/invite.ts',
      'cli/commands/open.ts',
      'cli/doctor/sign-up.ts',
      'cli/gateway/order.ts',
      'cli/mcp/confirm-answer.ts',
      'cli/view/pages.ts',
      'cli/view/typed-names.ts',
    ]);
  });
});
