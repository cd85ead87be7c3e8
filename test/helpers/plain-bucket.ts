import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { S3Config } from '../../gateway/blobs/blobs-config.ts';

/** A bucket in this process that keeps objects in memory and believes every signature. Swift checks them for real. */
export class PlainBucket {
  readonly place: S3Config;
  readonly #objects = new Map<string, Buffer>();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    const { port } = server.address() as AddressInfo;
    this.place = {
      kind: 's3',
      bucket: 'bucket',
      endpoint: new URL(`http://127.0.0.1:${port}`),
      region: 'r',
      pathStyle: true,
      credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
    };
    server.on('request', (request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<PlainBucket> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new PlainBucket(server);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '' } = request;
    const [path = ''] = url.split('?');
    const body = await buffer(request);
    if (method === 'PUT') {
      this.#objects.set(path, body);
      response.writeHead(200).end();
      return;
    }
    const object = this.#objects.get(path);
    if (method === 'DELETE') this.#objects.delete(path);
    if (method === 'DELETE') return void response.writeHead(204).end();
    if (!object) {
      const text = '<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>';
      return void response.writeHead(404, { 'content-length': text.length }).end(text);
    }
    response.writeHead(200, { 'content-length': object.length, etag: hash('sha256', object) });
    response.end(method === 'HEAD' ? undefined : object);
  }

  /** Flips a bit of the object with this digest. */
  damage(digest: string): void {
    const [path = '', object] = [...this.#objects].find(([key]) => key.endsWith(digest)) ?? [];
    if (!object) throw new Error(`There is no object ${digest}.`);
    const damaged = Buffer.from(object);
    damaged[0] = (damaged[0] ?? 0) ^ 0x10;
    this.#objects.set(path, damaged);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
