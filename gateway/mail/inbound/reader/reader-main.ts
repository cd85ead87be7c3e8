// The thread that reads mails. They come from anyone, so the thread may be ended at any time.
import { parentPort, workerData } from 'node:worker_threads';
import type { ReadMail } from '../read-mail.ts';
import { TxtRecords } from './dns.ts';
import { MailDecoder } from './mail-decoder.ts';
import type { ReaderData, ReaderMessage, ReadRequest } from './messages.ts';
import { Pieces } from './pieces.ts';
import { parseMail, parseHeader } from './parse.ts';

if (parentPort === null) throw new Error('This is the entry of a thread.');
const port = parentPort;

// In this thread only the parser uses them.
Object.assign(globalThis, { Blob: Pieces, TextDecoder: MailDecoder });

const { dnsServers } = workerData as ReaderData;
const records = new TxtRecords(dnsServers);

port.on('message', (request: ReadRequest) => void answer(request));
say({ kind: 'ready' });

async function answer({ id, bytes, seen, headerOnly }: ReadRequest): Promise<void> {
  try {
    const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const mail = headerOnly ? await parseHeader(raw, seen) : await parseMail(raw, seen, records);
    say({ kind: 'read', id, mail }, buffersOf(mail));
  } catch {
    say({ kind: 'failed', id });
  }
}

function say(message: ReaderMessage, transfer: readonly ArrayBuffer[] = []): void {
  port.postMessage(message, transfer);
}

/** The buffers that contain nothing else, so they can be transferred instead of copied. */
function buffersOf({ html, payload_json, files }: ReadMail): ArrayBuffer[] {
  const all = [payload_json, ...(html ? [html] : []), ...files];
  const owned = all
    .filter(({ bytes }) => bytes.byteLength === bytes.buffer.byteLength)
    .map(({ bytes }) => bytes.buffer)
    .filter((buffer) => buffer instanceof ArrayBuffer);
  return [...new Set(owned)];
}
