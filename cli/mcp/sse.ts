import type { Readable } from 'node:stream';

/** Yields the data of each server-sent event, without comments and empty events. */
export async function* readEvents(stream: Readable): AsyncGenerator<string> {
  let data: string[] = [];
  for await (const line of textLines(stream)) {
    if (line !== '') {
      const value = dataOf(line);
      if (value !== null) data.push(value);
      continue;
    }
    if (data.length > 0) yield data.join('\n');
    data = [];
  }
  // As the format requires, an event without its closing blank line is dropped.
}

function dataOf(line: string): string | null {
  if (line === 'data') return '';
  if (!line.startsWith('data:')) return null;
  return line.slice(line.charAt(5) === ' ' ? 6 : 5);
}

/** Lines end with CR LF, LF or CR; a CR at the end of a chunk waits for the next chunk. */
async function* textLines(stream: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const text = rest + decoder.decode(chunk, { stream: true });
    const held = text.endsWith('\r') ? 1 : 0;
    const lines = text.slice(0, text.length - held).split(/\r\n|\n|\r/);
    rest = (lines.pop() ?? '') + text.slice(text.length - held);
    yield* lines;
  }
  if (rest.endsWith('\r')) yield rest.slice(0, -1);
}
