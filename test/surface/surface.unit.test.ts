import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Svc } from '../../clients/typescript/svc.ts';
import { operationShapes } from '../../cli/shapes/operations.ts';
import { operations } from '../../shared/operations/index.ts';
import { helpText, toolsText } from './files.ts';
import { PINS, pinned, surface } from './pin.ts';

// When one of these fails because the interface was meant to change: npm run surface.

const { pins, document, help } = surface();

/** JSON with a line for each member; their order counts. */
function lines(value: unknown): string {
  return JSON.stringify(value, null, 1);
}

describe('what callers see', () => {
  it.each(pins.map((pin) => [pin.name, pin] as const))('%s is the pinned one', (name, pin) => {
    expect(lines(pin)).toBe(lines(pinned(name)));
  });

  it('no other operations are pinned', () => {
    const files = readdirSync(PINS).map((file) => file.replace('.json', ''));
    expect(files.toSorted()).toEqual(operations.map(({ name }) => name).toSorted());
  });

  it('what belongs to no operation is the pinned one', () => {
    const file = readFileSync('test/surface/document.json', 'utf8');
    expect(lines(document)).toBe(lines(JSON.parse(file)));
    expect(help).toBe(readFileSync('test/surface/help.txt', 'utf8'));
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

  it('the tools cost an agent at most 48 KB', () => {
    const sent = JSON.stringify(JSON.parse(toolsText()));
    expect(Buffer.byteLength(sent)).toBeLessThanOrEqual(48 * 1024);
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
});
