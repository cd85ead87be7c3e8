import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callsTo, problem, serveRest, type RestFixture } from './fixture.ts';

let rest: RestFixture;

beforeAll(async () => {
  rest = await serveRest();
});
beforeEach(() => {
  rest.asked.length = 0;
  rest.internal.length = 0;
});
afterAll(() => rest.close());

const { line, call } = callsTo(() => rest);

describe('a path parameter that takes the rest', () => {
  it.each([
    ['/v1/values/a', 'a'],
    ['/v1/values/a/b/c', 'a/b/c'],
    ['/v1/values/a%2Fb', 'a/b'],
    ['/v1/values/a%2fb/c', 'a/b/c'],
    ['/v1/values/a%252Fb', 'a%2Fb'],
    ['/v1/values/a%20b+c', 'a b+c'],
    ['/v1/values/%C3%BC', 'ü'],
    ['/v1/values/a/', 'a/'],
    ['/v1/values/a//b', 'a//b'],
    ['/v1/values//a', '/a'],
    ['/v1/values/%2F', '/'],
    ['/v1/values/a%3Fb', 'a?b'],
    ['/v1/values/a%00b', 'a\0b'],
    ['/v1/values/...', '...'],
    ['/v1/values/.a/b.', '.a/b.'],
    ['/v1/values/a%2F..%2Fb', 'a/../b'],
    ['/v1/values/a:b@c;d,e=f&g', 'a:b@c;d,e=f&g'],
    ['http://localhost/v1/values/a%2Fb', 'a/b'],
  ])('GET %s is %j', async (target, key) => {
    const answer = await line('GET', target);
    expect(answer.body).toEqual({ test_get: { key } });
    expect(answer.status).toBe(200);
  });

  it.each([
    '/v1/values/a/../b',
    '/v1/values/a/./b',
    '/v1/values/a/b/..',
    '/v1/values/%2e%2e/values/a',
    '/v1/values/a/%2E/b',
    '/v1/values/../../v1/values/a',
    '/v1/x/../values/a',
    'http://localhost/v1/values/a/../b',
    '/v1/values/../x',
    '/v1/values/a/..',
    '/v1/values/.',
    '/v1/values/%2e%2e/a',
  ])('is refused where dots would change the route: %s', async (target) => {
    const answer = await line('GET', target);
    expect(answer).toMatchObject({ status: 400, body: problem('path') });
    expect(rest.asked).toEqual([]);
  });

  it.each(['/v1/values/%', '/v1/values/%zz', '/v1/values/a%C3', '/v1/values/%ff/b'])(
    'is refused where it is no UTF-8: %s',
    async (target) => {
      const answer = await line('GET', target);
      expect(answer).toMatchObject({ status: 400, body: problem('key') });
    },
  );

  it('needs something', async () => {
    expect((await line('GET', '/v1/values/')).status).toBe(404);
    expect((await line('GET', '/v1/values')).status).toBe(404);
  });

  it.each(['/v1/values\\a', '/v1/values/a\\..\\b', '*', 'v1/values/a'])(
    'a target that is no URL is refused in the common form: %s',
    async (target) => {
      const answer = await line('GET', target);
      expect(answer.status).toBe(400);
      // Node itself refuses what is no target at all, without a body.
      if (answer.headers.get('content-type') === null) return;
      expect(answer.body).toEqual(problem('url'));
      expect(answer.headers.get('x-request-id')).toMatch(/^\S{10,}$/);
    },
  );

  it('comes with the body of a PUT and wins over it', async () => {
    const put = await call('PUT', '/v1/values/a%2Fb', '{"value":{"n":[1]}}');
    expect(put.body).toEqual({ test_put: { key: 'a/b', value: { n: [1] } } });
    const twice = await call('PUT', '/v1/values/a', '{"key":"other","value":1}');
    expect(twice.body).toEqual({ test_put: { key: 'a', value: 1 } });
  });

  it('fills the field it is named for', async () => {
    const made = await call('POST', '/v1/items/it%2F1/make', '{"name":"x"}');
    expect(made).toMatchObject({
      status: 201,
      body: { test_post: { item_id: 'it/1', name: 'x' } },
    });
    const long = await call('POST', '/v1/items/too-long/make', '{}');
    expect(long).toMatchObject({ status: 400, body: problem('item_id') });
  });
});
