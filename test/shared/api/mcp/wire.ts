import type { Served } from './fake.ts';

export type HeaderMap = Record<string, string>;

/** What a request of revision 2026-07-28 says of its client. */
export const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test-client', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

export function rpc(method: string, params?: object, id: unknown = 1): object {
  return { jsonrpc: '2.0', id, method, params };
}

/** Sends messages as they stand, so that tests see what is on the wire. */
export function wireTo(served: () => Served) {
  const post = async (body: unknown, headers: HeaderMap = {}) => {
    const response = await fetch(served().url, {
      method: 'POST',
      headers: {
        authorization: 'Bearer good',
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    const json = isJson ? JSON.parse(text) : null;
    return { status: response.status, headers: response.headers, text, json };
  };
  const legacy = (method: string, params?: object) =>
    post(rpc(method, params), { 'mcp-protocol-version': '2025-06-18' });
  const modern = (method: string, params: Record<string, unknown> = {}, headers: HeaderMap = {}) =>
    post(rpc(method, { _meta: META, ...params }), {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof params['name'] === 'string' && { 'mcp-name': params['name'] }),
      ...(typeof params['uri'] === 'string' && { 'mcp-name': params['uri'] }),
      ...headers,
    });
  return { post, legacy, modern };
}
