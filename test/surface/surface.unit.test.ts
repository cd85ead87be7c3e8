import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { operationShapes } from '../../cli/operations.generated.ts';
import { operations } from '../../shared/operations/index.ts';
import { shapeOf } from './command-module.ts';
import { helpText } from './files.ts';

// When one of these fails because the interface was meant to change: npm run surface.

describe('what callers see', () => {
  it('the commands are those of the operations', () => {
    expect(operationShapes).toEqual(operations.map(shapeOf));
  });

  it('the help pages are the pinned ones', () => {
    expect(helpText()).toBe(readFileSync('test/surface/help.txt', 'utf8'));
  });

  it('help fits a hundred columns', () => {
    const wide = helpText()
      .split('\n')
      .filter((line) => line.length > 100 && !line.startsWith('  svc '));
    expect(wide).toEqual([]);
  });
});
