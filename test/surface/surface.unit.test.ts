import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Svc } from '../../clients/typescript/svc.ts';
import { operationShapes } from '../../cli/shapes/operations.ts';
import { operations } from '../../shared/operations/index.ts';
import { helpText, openApiText, toolsText } from './files.ts';
import { methodsText, placesText, typesText } from './typescript.ts';

// When one of these fails because the interface was meant to change: npm run surface.

function pinned(name: string): string {
  return readFileSync(join('test/surface', name), 'utf8');
}

/** The same JSON whatever its layout, a line for each member; their order counts. */
function lines(json: string): string {
  return JSON.stringify(JSON.parse(json), null, 1);
}

/** Code without what a formatter moves or changes. */
function bare(code: string): string {
  return code.replace(/[\s|;,()'"]+/g, '');
}

describe('what callers see', () => {
  it('the help pages are the pinned ones', () => {
    expect(helpText()).toBe(pinned('help.txt'));
  });

  it('help names commands and flags, where the interface has tools and fields', () => {
    const tools = new Set(operations.map(({ name }) => name));
    const told = operationShapes.flatMap(({ summary, description, fields }) => [
      summary,
      description,
      ...fields.map((field) => field.summary),
    ]);
    const named = told.flatMap(
      (text) => text.replace(/`[^`]*`/g, '').match(/[a-z]+_[a-z]+/g) ?? [],
    );
    expect(named.filter((name) => tools.has(name))).toEqual([]);
    const claim = operationShapes.find(({ name }) => name === 'inbox_claim');
    expect(claim?.description).toContain('finish with svc inbox ack or svc inbox nack');
    const set = operationShapes.find(({ name }) => name === 'kv_set');
    expect(set?.description).toContain('Without --ttl-seconds');
  });

  it('help fits a hundred columns', () => {
    const wide = helpText()
      .split('\n')
      .filter((line) => line.length > 100 && !line.startsWith('  svc '));
    expect(wide).toEqual([]);
  });

  it('the tools are the pinned ones, and cost an agent at most 48 KB', () => {
    expect(lines(toolsText())).toBe(lines(pinned('tools.json')));
    const sent = JSON.stringify(JSON.parse(toolsText()));
    expect(Buffer.byteLength(sent)).toBeLessThanOrEqual(48 * 1024);
  });

  it.each([
    ['types', typesText],
    ['places', placesText],
    ['methods', methodsText],
  ])('the %s of the TypeScript client are written from the operations', (name, text) => {
    expect(bare(readFileSync(`clients/typescript/${name}.ts`, 'utf8'))).toBe(bare(text()));
  });

  it('the TypeScript client has a method for every operation', () => {
    const svc = new Svc({ apiKey: 'k', gateway: 'http://127.0.0.1:1' });
    const missing = operations.filter(({ name }) => {
      const [noun = '', ...verb] = name.split('_');
      const place: unknown = Reflect.get(svc, noun);
      if (verb.length === 0) return typeof place !== 'function';
      const method = verb.map((word, index) =>
        index === 0 ? word : word.slice(0, 1).toUpperCase() + word.slice(1),
      );
      return (
        typeof (place as Record<string, unknown> | undefined)?.[method.join('')] !== 'function'
      );
    });
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  it('the OpenAPI document is the pinned one', () => {
    expect(lines(openApiText())).toBe(lines(pinned('openapi.json')));
  });
});
