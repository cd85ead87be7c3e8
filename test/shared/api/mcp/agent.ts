import { META, rpc, type HeaderMap } from './wire.ts';
import { Listener, type Notification } from './listener.ts';

export interface RpcAnswer {
  readonly status: number;
  readonly result: Record<string, unknown>;
  readonly error: {
    readonly code: number;
    readonly message: string;
    readonly data?: Record<string, unknown>;
  };
}

type Fields = Record<string, unknown>;

/** Speaks MCP over HTTP as it stands on the wire. */
export class Agent {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key: string, path = '/mcp') {
    this.#url = `${url}${path}`;
    this.#key = key;
  }

  /** Revision 2026-07-28. */
  modern(method: string, params: Fields = {}): Promise<RpcAnswer> {
    return this.#json(rpc(method, { _meta: META, ...params }), modernHeaders(method, params));
  }

  /** Revision 2025-11-25. */
  legacy(method: string, params: Fields = {}): Promise<RpcAnswer> {
    return this.#json(rpc(method, params), { 'mcp-protocol-version': '2025-11-25' });
  }

  /** Begins a subscription; resolves when it is acknowledged. */
  async listen(notifications: Fields, id: string | number = 7, meta = META): Promise<Listener> {
    const method = 'subscriptions/listen';
    const body = rpc(method, { _meta: meta, notifications }, id);
    const leaving = new AbortController();
    const response = await this.#post(body, modernHeaders(method, {}), leaving.signal);
    if (response.headers.get('content-type') !== 'text/event-stream') {
      throw new Error(await response.text());
    }
    const listener = new Listener(response, leaving);
    await listener.next();
    return listener;
  }

  async #json(body: object, headers: HeaderMap): Promise<RpcAnswer> {
    const response = await this.#post(body, headers);
    const text = await response.text();
    // A held answer comes as a stream.
    const json = /^data: (\{.*)$/m.exec(text)?.[1] ?? text;
    const answer = JSON.parse(json) as Omit<RpcAnswer, 'status'>;
    return { ...answer, status: response.status };
  }

  #post(body: object, headers: HeaderMap, signal: AbortSignal | null = null): Promise<Response> {
    return fetch(this.#url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#key}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
      signal,
    });
  }
}

function modernHeaders(method: string, params: Fields): HeaderMap {
  const name = params['name'] ?? params['uri'] ?? params['taskId'];
  const encoded = `=?base64?${Buffer.from(String(name)).toString('base64')}?=`;
  return {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': encoded }),
  };
}

/** The methods of what a subscription told, its resources beside them. */
export function told(notifications: readonly Notification[]): string[] {
  return notifications.map(({ method, params }) =>
    [method?.replace('notifications/resources/', ''), params?.['uri']].filter(Boolean).join(' '),
  );
}
