import { expect, it, vi } from 'vitest';
import { run } from '../../../cli/commands/inbox/wait.ts';
import { operationShapes } from '../../../cli/shapes/operations.ts';
import { FakeClient, fakeContext } from './fakes.ts';

it('svc inbox wait says at once that a source is not there, and says it once', async () => {
  const shape = operationShapes.find(({ name }) => name === 'inbox_wait');
  if (!shape) throw new Error('There is no inbox_wait.');
  const warnings = ['There is no source `nope` now.'];
  const client = new FakeClient({
    'GET /v1/inbox': () => ({ items: [], next_cursor: null, warnings }),
    'GET /v1/inbox/wait': () =>
      vi.waitFor(
        () => {
          expect(printed.notes).toHaveLength(1);
          return { event: null, warnings };
        },
        { timeout: 60_000 },
      ),
  });
  const { context, printed } = fakeContext({ client, options: { source: 'nope' } });
  expect(await run(context, shape)).toBe(3);
  expect(printed.notes).toEqual(['Warning: There is no source `nope` now.']);
  expect(printed.answers).toEqual([{ event: null, warnings }]);
});
