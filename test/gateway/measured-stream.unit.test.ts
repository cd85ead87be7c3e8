import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { measuredBody } from '../../gateway/links/measured-stream.ts';

/** A stream that notes how many chunks of 4 bytes were asked of it. */
function source(chunks: number): { stream: Readable; given: () => number } {
  let given = 0;
  function* give(): Generator<Buffer> {
    while (given < chunks) {
      given += 1;
      yield Buffer.from('1234');
    }
  }
  return { stream: Readable.from(give(), { highWaterMark: 1 }), given: () => given };
}

describe('a measured body', () => {
  it('is the stream, and tells how long it was', async () => {
    const ended = vi.fn<(sent: number) => void>();
    const { stream } = source(3);
    expect(await new Response(measuredBody(stream, 12, ended)).text()).toBe('123412341234');
    expect(ended.mock.calls).toEqual([[12]]);
    expect(stream.destroyed).toBe(true);
  });

  it('reads no further than its reader', async () => {
    const { stream, given } = source(1000);
    const reader = measuredBody(stream, 4000, () => undefined).getReader();
    await reader.read();
    await reader.read();
    await sleep(20);
    expect(given()).toBeLessThan(6);
  });

  it('ends once when its reader leaves, with what had gone out', async () => {
    const ended = vi.fn<(sent: number) => void>();
    const { stream } = source(1000);
    const reader = measuredBody(stream, 4000, ended).getReader();
    await reader.read();
    await reader.read();
    await reader.cancel();
    await sleep(20);
    expect(ended.mock.calls).toEqual([[8]]);
    expect(stream.destroyed).toBe(true);
  });

  it('ends when its reader leaves while a chunk is on its way', async () => {
    const ended = vi.fn<(sent: number) => void>();
    const stream = new Readable({ read: () => undefined });
    const reader = measuredBody(stream, 4, ended).getReader();
    const read = reader.read();
    await reader.cancel();
    expect(await read).toEqual({ done: true, value: undefined });
    expect(ended.mock.calls).toEqual([[0]]);
  });

  it('fails when the stream is shorter than was said, or fails', async () => {
    const ended = vi.fn<(sent: number) => void>();
    await expect(new Response(measuredBody(source(2).stream, 12, ended)).text()).rejects.toThrow(
      '8 bytes came out of 12.',
    );
    const broken = new Readable({ read: () => broken.destroy(new Error('disk')) });
    await expect(new Response(measuredBody(broken, 12, ended)).text()).rejects.toThrow('disk');
    expect(ended.mock.calls).toEqual([[8], [0]]);
  });
});
