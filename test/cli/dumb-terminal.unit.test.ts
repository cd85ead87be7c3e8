import { describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { FakeDaemon, json } from './fake-daemon.ts';
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

  it('gets no byte of an animation from a whole command that waits', async () => {
    const daemon = new FakeDaemon((_, response) => {
      // Longer than a spinner needs to begin.
      setTimeout(() => json(response, { event: null }), 400);
    });
    await daemon.listen();
    const [stdout, stderr] = [new TextSink(true, 80), new TextSink(true, 80)];
    const { signal } = new AbortController();
    const env = { ...daemon.env, TERM: 'dumb' };
    await run(['inbox', 'wait', '--wait', '1'], { env, stdout, stderr, signal });
    daemon.close();
    expect(stdout.text).toContain('Nothing came in time.');
    // oxlint-disable-next-line no-control-regex -- these are what an animation is made of
    expect(stdout.text + stderr.text).not.toMatch(/[\r\u001b\u2800-\u28ff]/);
  });
});
