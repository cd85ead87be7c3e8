import { describe, expect, it } from 'vitest';
import { testOutput, TextSink } from './fake-output.ts';

describe('a terminal that can erase nothing, TERM=dumb', () => {
  it('gets no spinner', async () => {
    const stderr = new TextSink(true);
    const { output } = testOutput({ stderr, animated: false });
    expect(await output.spin('Waiting', Promise.resolve(7), 'Waiting for a person.')).toBe(7);
    expect(stderr.text).toBe('Waiting for a person.\n');
  });

  it('gets appended what others get redrawn, unless nothing has changed', () => {
    const { output, stdout } = testOutput({ terminal: true, animated: false });
    output.redraw(() => ({ kept: [], live: ['one'] }));
    output.redraw(() => ({ kept: [], live: ['one'] }));
    output.redraw(() => ({ kept: [], live: ['two'] }));
    expect(stdout.text).toBe('one\ntwo\n');
  });
});
