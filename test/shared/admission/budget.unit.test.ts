import { describe, expect, it } from 'vitest';
import { Budget, type Holder } from '../../../shared/admission/budget.ts';

const of = (project: string, address: string): Holder => ({ project, address });

describe('a budget', () => {
  it('names the first limit in the way, and what is in use', () => {
    const budget = new Budget('webhook', { total: 100, address: 60, project: 40 });
    expect(budget.take(of('a', 'one'), 40)).toBeNull();
    expect(budget.take(of('a', 'two'), 1)).toEqual({
      budget: 'webhook',
      of: 'project',
      limit: 40,
      used: 40,
    });
    expect(budget.take(of('b', 'one'), 21)).toMatchObject({ of: 'address', limit: 60, used: 40 });
    expect(budget.take(of('b', 'two'), 40)).toBeNull();
    expect(budget.take(of('c', 'three'), 21)).toMatchObject({
      of: 'gateway',
      limit: 100,
      used: 80,
    });
    expect(budget.used).toBe(80);
  });

  it('takes nothing of what it refuses, and gives back what it took', () => {
    const all = new Budget('bodies', { total: 50 });
    const door = new Budget('api', { total: 100, project: 100 }, all);
    expect(door.take(of('a', 'one'), 51)).toMatchObject({ budget: 'bodies', of: 'gateway' });
    expect([door.used, all.used]).toEqual([0, 0]);
    expect(door.take(of('a', 'one'), 50)).toBeNull();
    door.give(of('a', 'one'), 50);
    expect([door.used, all.used]).toEqual([0, 0]);
    expect(door.take(of('a', 'one'), 50)).toBeNull();
  });

  it('calls the limit of a part the limit of its door', () => {
    const door = new Budget('webhook', { total: 10 }, new Budget('bodies', { total: 50 }));
    expect(door.take({}, 11)).toMatchObject({ budget: 'webhook', of: 'door', limit: 10 });
  });

  it('does not limit those whose kind of holder is unknown', () => {
    const budget = new Budget('api', { total: 100, address: 10 });
    expect(budget.take({ address: null }, 90)).toBeNull();
    expect(budget.take({ address: 'one' }, 10)).toBeNull();
  });

  it('leaves something for the next, however many take all they can', () => {
    const budget = new Budget('webhook', { total: 1000, project: 300, leavesRoom: true });
    const taken = Array.from({ length: 8 }, (_, n) => {
      let bytes = 0;
      while (budget.take(of(`${n}`, ''), 1) === null) bytes += 1;
      return bytes;
    });
    expect(taken).toEqual([300, 300, 200, 100, 50, 25, 13, 6]);
    expect(budget.take(of('2', ''), 1)).toMatchObject({ of: 'project', limit: 6, used: 200 });
    expect(budget.take(of('new', ''), 1)).toBeNull();
  });
});
