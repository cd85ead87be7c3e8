import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it("an operation's answer has its own type on pages: nothing else is made of it", () => {
  const sources = readdirSync('gateway/web', { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => ({ path, text: readFileSync(join('gateway/web', path), 'utf8') }));
  const calling = sources.filter(({ text }) => /\bcontext\.call\(/.test(text));
  expect(calling.length).toBeGreaterThan(15);
  const casting = calling.filter(({ text }) => /\bcontext\.call\([^;]*\)\s+as\s/.test(text));
  expect(casting.map(({ path }) => path)).toEqual([]);
});
