import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { pageRead } from '../../../../gateway/web/inbox/page-read.ts';
import { admit } from '../../../../shared/kernel/operation.ts';

const events = pageRead('inbox:read', { id: z.string() }, async (_context, { id }) => id);
const task = pageRead(
  { field: 'task', kind: 'task' },
  { task: z.string() },
  async (_context, input) => input.task,
);

describe('a read that only pages make', () => {
  it('is refused to a visitor without its scope', () => {
    const input = { id: 'evt_1' };
    expect(() => admit(events, input, { scopes: ['disk:read'], diskPrefixes: null })).toThrow(
      expect.objectContaining({ code: 'SCOPE_MISSING', details: { scope: 'inbox:read' } }),
    );
    expect(admit(events, input, { scopes: ['inbox:read'], diskPrefixes: null })).toEqual(input);
  });

  it('is refused for names that the visitor’s key doesn’t cover', () => {
    const visitor = { scopes: ['disk:read'], diskPrefixes: ['team-a/'] } as const;
    expect(() => admit(task, { task: 'team-b/t' }, visitor)).toThrow(
      expect.objectContaining({ code: 'SCOPE_MISSING' }),
    );
    expect(admit(task, { task: 'team-a/t' }, visitor)).toEqual({ task: 'team-a/t' });
  });

  it('is refused with fields that it doesn’t know', () => {
    expect(() =>
      admit(events, { ident: 1 }, { scopes: ['inbox:read'], diskPrefixes: null }),
    ).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }));
  });
});
