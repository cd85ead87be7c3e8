import { describe, expect, it } from 'vitest';
import { matchingRoutes } from '../../../gateway/commit/commands/inbox/route-match.ts';

const route = (match_source: string | null, match_type: string | null) => ({
  match_source,
  match_type,
});

describe('a route', () => {
  it.each([
    [null, null, true],
    ['stripe', null, true],
    ['github', null, false],
    ['strip', null, false],
    ['stripe*', null, false],
    [null, 'invoice.paid', true],
    [null, 'invoice', false],
    [null, 'Invoice.paid', false],
    [null, 'invoice.*', true],
    [null, 'invoice.p*', true],
    [null, '*', true],
    [null, 'customer.*', false],
    [null, '*.paid', false],
    ['stripe', 'invoice.*', true],
    ['github', 'invoice.*', false],
    ['stripe', 'customer.*', false],
  ])('with source %s and type %s takes invoice.paid of stripe: %s', (source, type, takes) => {
    const event = { source: 'stripe', type: 'invoice.paid' };
    expect(matchingRoutes([route(source, type)], event)).toHaveLength(takes ? 1 : 0);
  });

  it('takes an event along with all others that match', () => {
    const routes = [route(null, null), route('b', null), route('a', 'x'), route(null, 'x*')];
    expect(matchingRoutes(routes, { source: 'a', type: 'x' })).toEqual([
      routes[0],
      routes[2],
      routes[3],
    ]);
  });
});
