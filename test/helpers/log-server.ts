import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import type { FollowedLog, LogPosition } from '../../shared/store/engine/driver.ts';

const HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4096;

export interface LogServer {
  /** Of the epoch at hand. */
  readonly url: () => string;
  close(): Promise<void>;
}

/** Serves a followed log to stock replicas: the least that they need, from the files as they are. */
export async function serveLog(log: FollowedLog, databasePath: string): Promise<LogServer> {
  const folder = join(dirname(databasePath), 'generations');
  const files = { folder, wal: `${databasePath}-wal` };
  const server = createServer((request, response) => {
    answer(log, files, request.url ?? '').then(
      ([status, body]) => send(response, status, body),
      () => send(response, 503, '{}'),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: () => `http://127.0.0.1:${port}/${log.replication.log?.epoch}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(response: ServerResponse, status: number, body: Buffer | string): void {
  response.writeHead(status, { 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

type Answer = [status: number, body: Buffer | string];

interface Files {
  readonly folder: string;
  readonly wal: string;
}

async function answer(log: FollowedLog, files: Files, url: string): Promise<Answer> {
  const [, epoch, kind, ...rest] = url.split('/');
  const [generation = 0, from = 0, to = 0] = rest.map(Number);
  const place = log.replication.log;
  if (!place || epoch !== place.epoch || generation > place.generation) return [404, '{}'];
  switch (kind) {
    case 'info':
      return [200, JSON.stringify({ current_generation: place.generation })];
    case 'export':
      if (generation === place.generation) await log.copyBase();
      return [200, readFileSync(join(files.folder, `${generation}.db`))];
    case 'sync':
      return sync(log, place, files, { generation, from, to });
    default:
      return [403, '{}'];
  }
}

function sync(log: FollowedLog, place: LogPosition, files: Files, wanted: Wanted): Answer {
  if (wanted.generation < place.generation) return archived(log, files, wanted);
  if (wanted.from > place.frames) return newest(place.generation);
  return live(place, files, wanted) ?? archived(log, files, wanted);
}

/** Null if the log was restarted: then the frames are in the archive. */
function live(place: LogPosition, files: Files, { from, to }: Range): Answer | null {
  const end = Math.min(to, place.frames + 1);
  const frames = framesOf(readFileSync(files.wal), { from, to: end }, place.salts ?? '');
  return frames && [200, frames];
}

/** Throws if the archive doesn't exist or is wrong. */
function archived(log: FollowedLog, files: Files, wanted: Wanted): Answer {
  const bytes = readFileSync(join(files.folder, `${wanted.generation}.wal`));
  const count = (bytes.length - HEADER_BYTES) / FRAME_BYTES;
  if (wanted.from > count) return newest(log.replication.log?.generation ?? 0);
  const to = Math.min(wanted.to, count + 1);
  const frames = framesOf(bytes, { from: wanted.from, to }, bytes.toString('hex', 16, 24));
  if (!Number.isInteger(count) || !frames) throw new Error('The archive is not whole.');
  return [200, frames];
}

/** Frames by their numbers, the last one left out. */
interface Range {
  readonly from: number;
  readonly to: number;
}

interface Wanted extends Range {
  readonly generation: number;
}

function newest(generation: number): Answer {
  return [400, JSON.stringify({ generation })];
}

/** Null when one of them is not there, or was written over. */
function framesOf(log: Buffer, { from, to }: Range, salts: string): Buffer | null {
  const end = HEADER_BYTES + (to - 1) * FRAME_BYTES;
  const frames = log.subarray(HEADER_BYTES + (from - 1) * FRAME_BYTES, end);
  if (frames.length !== (to - from) * FRAME_BYTES) return null;
  for (let at = 8; at < frames.length; at += FRAME_BYTES) {
    if (frames.toString('hex', at, at + 8) !== salts) return null;
  }
  return frames;
}
