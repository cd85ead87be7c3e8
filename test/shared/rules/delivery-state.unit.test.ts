import { describe, expect, it } from 'vitest';
import { routedEvent } from '../../../shared/rules/inbox/delivery-state.ts';

describe('a routed event', () => {
  it.each([
    [['pending'], 'pending', true],
    [['delivered'], 'done', true],
    [['delivered', 'pending'], 'pending', true],
    [['delivered', 'delivered'], 'done', true],
    [['dead'], 'dead', false],
    [['dead', 'delivered'], 'dead', false],
    [['dead', 'cancelled'], 'dead', false],
    // Dead as soon as one is given up; the others go on.
    [['dead', 'pending'], 'dead', true],
    [['cancelled'], 'pending', false],
    [['cancelled', 'cancelled'], 'pending', false],
    [['cancelled', 'pending'], 'pending', true],
    [['cancelled', 'delivered'], 'done', true],
  ] as const)('whose deliveries are %j is %s, held back: %s', (statuses, status, routed) => {
    expect(routedEvent(statuses)).toEqual({ status, routed });
    expect(routedEvent(statuses.toReversed())).toEqual({ status, routed });
  });
});
