import { describe, expect, it } from 'vitest';
import { isOwnOrigin } from '../../../../shared/api/api.ts';
import { TestGateway } from '../../../helpers/gateway.ts';

describe('the origin of a page', () => {
  it.each([
    ['https://svc.example/base', 'https://svc.example', true],
    ['https://svc.example', 'http://svc.example', false],
    ['https://svc.example', 'https://svc.example:8443', false],
    ['https://svc.example', 'https://evil.example', false],
    ['https://svc.example', 'null', false],
    ['http://127.0.0.1:4780', 'http://localhost:4780', true],
    ['http://127.0.0.1:4780', 'http://[::1]:4780', true],
    ['http://localhost:4780', 'http://127.0.0.1:4780', true],
    ['http://127.0.0.1:4780', 'http://127.0.0.1:4781', false],
    ['http://127.0.0.1:4780', 'http://localhost.evil.example:4780', false],
  ])('of a server at %s: %s', (url, origin, isOwn) => {
    expect(isOwnOrigin(url)(origin)).toBe(isOwn);
  });

  it('is looked at before the key', async () => {
    const gateway = await TestGateway.start();
    try {
      const post = async (origin: string, key: string): Promise<number> => {
        const response = await fetch(`${gateway.url}/mcp`, {
          method: 'POST',
          headers: { origin, authorization: `Bearer ${key}` },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
        });
        await response.text();
        return response.status;
      };
      expect(await post(gateway.url, gateway.apiKey)).toBe(200);
      expect(await post('http://evil.example', gateway.apiKey)).toBe(403);
      expect(await post('http://evil.example', 'nonsense')).toBe(403);
      expect(await post(gateway.url, 'nonsense')).toBe(401);
    } finally {
      await gateway.stop();
    }
  });
});
