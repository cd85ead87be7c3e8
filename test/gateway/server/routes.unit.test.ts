import { describe, expect, it } from 'vitest';
import { NO_ROUTE, RouteTable } from '../../../gateway/server/route-table.ts';
import { namedProject, pathOf, shownPath } from '../../../gateway/server/shown-path.ts';
import { newApiKey, newToken } from '../../../shared/lib/ids.ts';

const PROJECT = 'prj_0123456789abcdef';

describe('the route of a path', () => {
  const table = new RouteTable([
    '*',
    '/*',
    '/v1/inbox',
    '/v1/inbox/wait',
    '/v1/requests/:id',
    '/v1/kv',
    '/v1/kv/:key{[\\s\\S]+}',
    '/v1/replica/:epoch/sync/:generation/:from/:to',
    '/w/:token',
    '/d/:project/:path/:version/:expires/:signature',
    '/mcp',
    '/telegram/updates',
  ]);

  it.each([
    ['/v1/inbox', '/v1/inbox'],
    ['/v1/inbox/wait', '/v1/inbox/wait'],
    ['/v1/inbox/other', NO_ROUTE],
    ['/v1/requests/req_1', '/v1/requests/{id}'],
    ['/v1/requests/', NO_ROUTE],
    ['/v1/kv', '/v1/kv'],
    ['/v1/kv/a/b%2Fc', '/v1/kv/{key}'],
    ['/v1/replica/e/sync/1/2/3', '/v1/replica/{epoch}/sync/{generation}/{from}/{to}'],
    ['/w/abc', '/w/{token}'],
    ['/w/abc/def', NO_ROUTE],
    ['/d/a/b/c/d/e', '/d/{project}/{path}/{version}/{expires}/{signature}'],
    ['/mcp', '/mcp'],
    ['/telegram/updates', '/telegram/updates'],
    ['/', NO_ROUTE],
    ['', NO_ROUTE],
    ['/v1', NO_ROUTE],
    ['/__proto__/constructor', NO_ROUTE],
    ['/.env', NO_ROUTE],
  ])('%s is %s', (path, route) => {
    expect(table.of(path)).toBe(route);
  });
});

describe('the path of a target', () => {
  it.each([
    ['/v1/kv/a%2Fb?limit=1', '/v1/kv/a%2Fb'],
    ['/x#y', '/x'],
    ['http://svc.example.com/w/secret?x', '/w/secret'],
    ['http://svc.example.com?x', '/'],
    ['*', '*'],
    ['', '/'],
    ['?x', '/'],
  ])('%s', (target, path) => {
    expect(pathOf(target)).toBe(path);
  });
});

describe('a path in the log', () => {
  it.each(['w', 'u', 'f', 'l', 'd', 'a', 'c', 's', 'W'])('hides all behind /%s/', (letter) => {
    expect(shownPath(`/${letter}/secret/more`)).toBe(`/${letter}/…`);
    expect(shownPath(`//${letter}/secret`)).toBe(`/${letter}/…`);
  });

  it('is what was asked for, and not endless', () => {
    expect(shownPath('/v1/kv/wish')).toBe('/v1/kv/wish');
    expect(shownPath(`/${'x'.repeat(5000)}`)).toHaveLength(201);
  });

  it('names the project that a key or an address names', () => {
    const token = newToken(PROJECT);
    expect(namedProject('/v1/inbox', `Bearer ${newApiKey(PROJECT)}`)).toBe(PROJECT);
    expect(namedProject(`/w/${token}`, undefined)).toBe(PROJECT);
    expect(namedProject('/d/0123456789abcdef/ZmlsZQ/1/2/x', undefined)).toBe(PROJECT);
    expect(namedProject('/v1/inbox', 'Bearer svc_live_nonsense')).toBeNull();
    expect(namedProject('/w/nonsense', undefined)).toBeNull();
    expect(namedProject('/v1/inbox', undefined)).toBeNull();
  });
});
