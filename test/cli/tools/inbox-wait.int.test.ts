import { expect, it, vi } from 'vitest';
import { run } from '../../../cli/commands/inbox/wait.ts';
import { shapeNamed } from '../../../cli/shapes/named.ts';
import { FakeClient, fakeContext } from './fakes.ts';

it('svc inbox wait says at once that a source is not there, and says it once', async () => {
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
  expect(await run(context, shapeNamed('inbox_wait'))).toBe(3);
  expect(printed.notes).toEqual(['Warning: There is no source `nope` now.']);
  expect(printed.answers).toEqual([{ event: null, warnings }]);
});
