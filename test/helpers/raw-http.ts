import { connect, type Socket } from 'node:net';

interface RawAnswer {
  readonly status: number;
  readonly text: string;
  /** Bytes this side could send before the other stopped taking them or closed. */
  readonly sent: number;
  readonly closed: boolean;
}

/** Sends bytes as they are and collects what comes back until the other side closes or the answer is complete. */
export async function rawRequest(
  url: string,
  head: readonly string[],
  pieces: Iterable<Uint8Array> = [],
): Promise<RawAnswer> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  const answer = collect(socket);
  let sent = 0;
  socket.write(
    `${head.join('\r\n').replaceAll('{path}', pathname)}\r\nHost: ${hostname}:${port}\r\n\r\n`,
  );
  for (const piece of pieces) {
    if (answer.done()) break;
    await drained(socket, piece);
    if (!answer.done()) sent += piece.length;
  }
  const { text, closed } = await answer.promise;
  socket.destroy();
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text, sent, closed };
}

function drained(socket: Socket, piece: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed || !socket.writable) return resolve();
    socket.once('close', resolve);
    socket.write(piece, () => {
      socket.off('close', resolve);
      resolve();
    });
  });
}

function collect(socket: Socket) {
  let text = '';
  let done = false;
  const promise = new Promise<{ text: string; closed: boolean }>((resolve) => {
    const finish = (closed: boolean): void => {
      done = true;
      resolve({ text, closed });
    };
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const body = text.split('\r\n\r\n').slice(1).join('\r\n\r\n');
      const length = /^content-length: (\d+)/im.exec(text)?.[1];
      if (length !== undefined && body.length >= Number(length)) finish(false);
    });
    socket.on('error', () => finish(true));
    socket.on('close', () => finish(true));
    socket.setTimeout(60_000, () => finish(false));
  });
  return { promise, done: () => done };
}
