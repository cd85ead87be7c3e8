import { describe, expect, it } from 'vitest';
import { pathParameters, refuseDotSegments } from '../../../shared/api/target.ts';
import { ServiceError } from '../../../shared/lib/errors.ts';

function refused(run: () => unknown): unknown {
  try {
    run();
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return error.details;
    throw error;
  }
}

describe('dot segments', () => {
  it.each([
    ['/v1/kv/../whoami', 'key'],
    ['/v1/./whoami', 'path'],
    ['/v1/kv/..', 'key'],
    ['/v1/kv/.', 'key'],
    ['/v1/kv/a/b/./c', 'key'],
    ['/v1/state/.', 'task_id'],
    ['/v1/files/..', 'path'],
    ['/v1/sources/.', 'name'],
    ['/v1/keys/../rotate', 'id'],
    ['/v1/keys/a/..', 'path'],
    ['/../v1', 'path'],
    ['/w/../v1/kv', 'path'],
    ['/v1/kv/%2e%2e/x', 'key'],
    ['/v1/kv/%2E%2e/x', 'key'],
    ['/v1/kv/.%2e/x', 'key'],
    ['/v1/kv/%2e', 'key'],
    ['/v1/kv/..?x=1', 'key'],
    ['http://127.0.0.1/v1/../whoami', 'path'],
  ])('are refused in %s by the name of %s', (target, path) => {
    expect(refused(() => refuseDotSegments(target))).toEqual({
      fields: [{ path, message: expect.stringContaining('`..`') }],
    });
  });

  it.each([
    '/v1/whoami',
    '/v1/kv/...',
    '/v1/kv/.hidden',
    '/v1/kv/a..b',
    '/v1/kv/a.b/c.d',
    '/v1/kv/a%2F..%2Fb',
    '/v1/inbox?type=../..',
    '/v1/kv/%252e%252e',
    '/',
    '',
  ])('are not seen in %j', (target) => {
    expect(refused(() => refuseDotSegments(target))).toBeNull();
  });
});

describe('path parameters', () => {
  it.each([
    ['/v1/keys/{id}', '/v1/keys/key_1', { id: 'key_1' }],
    ['/v1/keys/{id}', '/v1/keys/key_1?id=2', { id: 'key_1' }],
    ['/v1/keys/{id}/rotate', '/v1/keys/key_1/rotate', { id: 'key_1' }],
    ['/v1/keys/{id}', '/v1/keys/a%2Fb', { id: 'a/b' }],
    ['/v1/keys/{id}', '/v1/keys/a%252Fb', { id: 'a%2Fb' }],
    ['/v1/keys/{id}', '/v1/keys/%C3%BC%20%2B+', { id: 'ü ++' }],
    ['/v1/kv/{key+}', '/v1/kv/a', { key: 'a' }],
    ['/v1/kv/{key+}', '/v1/kv/a/b/c', { key: 'a/b/c' }],
    ['/v1/kv/{key+}', '/v1/kv/a%2Fb/c', { key: 'a/b/c' }],
    ['/v1/kv/{key+}', '/v1/kv/a%252Fb', { key: 'a%2Fb' }],
    ['/v1/kv/{key+}', '/v1/kv/a/', { key: 'a/' }],
    ['/v1/kv/{key+}', '/v1/kv//a', { key: '/a' }],
    ['/v1/kv/{key+}', '/v1/kv/a?b/c', { key: 'a' }],
    ['/v1/a/{one}/{two+}', '/v1/a/x%2Fy/z/%2F', { one: 'x/y', two: 'z//' }],
    ['/v1/whoami', '/v1/whoami', {}],
    ['/v1/keys/{id}', 'http://127.0.0.1:80/v1/keys/key_1', { id: 'key_1' }],
    ['/v1/kv/{key+}', 'https://host/v1/kv/http://b', { key: 'http://b' }],
  ])('of %s in %s', (template, target, expected) => {
    expect(Object.fromEntries(pathParameters(template, target))).toEqual(expected);
  });

  it.each(['/v1/keys/%', '/v1/keys/%zz', '/v1/keys/%C3', '/v1/keys/%ff'])(
    'are refused where they are no UTF-8: %s',
    (target) => {
      expect(refused(() => pathParameters('/v1/keys/{id}', target))).toEqual({
        fields: [{ path: 'id', message: expect.stringContaining('UTF-8') }],
      });
    },
  );
});
