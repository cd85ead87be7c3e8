import { describe, expect, it } from 'vitest';
import { DatabasePool, type PooledDatabase } from '../../../gateway/projects/database-pool.ts';

/** An occupant whose calls begin and end when the test says so. */
class Guest implements PooledDatabase {
  readonly name: string;
  readonly #files: DatabasePool;
  isOpen = false;
  isInUse = false;
  isPinned = false;
  usedAt = 0;
  #isLeaving = false;

  constructor(name: string, files: DatabasePool) {
    this.name = name;
    this.#files = files;
  }

  async use(): Promise<void> {
    if (!this.isOpen) await this.#files.enter(this);
    this.isOpen = true;
    this.isInUse = true;
    this.#files.settle();
  }

  done(): void {
    this.isInUse = false;
    this.usedAt = performance.now();
    if (this.#isLeaving) this.#release();
    this.#files.settle();
  }

  async evict(): Promise<void> {
    this.#isLeaving = true;
    await Promise.resolve();
    if (!this.isInUse) this.#release();
  }

  #release(): void {
    this.isOpen = false;
    this.#isLeaving = false;
    this.#files.release(this);
  }
}

/** So many that have been used one after another, the last one last. */
async function fullHouse(files: DatabasePool, count: number): Promise<Guest[]> {
  const guests = Array.from({ length: count }, (_, n) => new Guest(`guest ${n}`, files));
  for (const guest of guests) {
    await guest.use();
    guest.done();
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return guests;
}

const openOf = (guests: readonly Guest[]) =>
  guests.filter(({ isOpen }) => isOpen).map(({ name }) => name);

async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('open files', () => {
  it('give the place of the least recently used', async () => {
    const files = new DatabasePool({ max: 3, idleMs: null });
    const guests = await fullHouse(files, 3);
    await guests[0]?.use();
    guests[0]?.done();
    const late = new Guest('late', files);
    await late.use();
    expect(openOf([...guests, late])).toEqual(['guest 0', 'guest 2', 'late']);
    expect(files.size).toBe(3);
  });

  it('are asked for in the order in which they are given, when all are in use', async () => {
    const files = new DatabasePool({ max: 2, idleMs: null });
    const guests = await fullHouse(files, 2);
    for (const guest of guests) await guest.use();
    const late = ['a', 'b', 'c'].map((name) => new Guest(name, files));
    const order: string[] = [];
    const coming = late.map(async (guest) => {
      await guest.use();
      order.push(guest.name);
    });
    await turn();
    expect(order).toEqual([]);
    for (const guest of guests) guest.done();
    await turn();
    expect(order).toEqual(['a', 'b']);
    late[0]?.done();
    await Promise.all(coming);
    expect(order).toEqual(['a', 'b', 'c']);
    expect(files.size).toBe(2);
  });

  it('stay with those that are held, who leave an eighth of the places to others', async () => {
    const files = new DatabasePool({ max: 16, idleMs: null });
    const held = await fullHouse(files, 16);
    for (const guest of held) guest.isPinned = true;
    const late = Array.from({ length: 5 }, (_, n) => new Guest(`late ${n}`, files));
    const coming = late.map(async (guest) => {
      await guest.use();
      expect(openOf(late).length).toBeLessThanOrEqual(2);
      await turn();
      guest.done();
    });
    await Promise.all(coming);
    await turn();
    expect(openOf(held)).toHaveLength(16);
    expect(files.size).toBeLessThanOrEqual(18);
    for (const guest of held) guest.isPinned = false;
    files.settle();
    await turn();
    expect(files.size).toBe(16);
  });

  it('are closed when nobody has used them for a while', async () => {
    // Longer than it takes until all of this is said, also where the machine rests for a moment.
    const files = new DatabasePool({ max: 10, idleMs: 400 });
    const guests = await fullHouse(files, 4);
    const [held, used, ...idle] = guests;
    if (!held || !used) throw new Error('Nobody is there.');
    held.isPinned = true;
    await used.use();
    await expect.poll(() => openOf(idle), { interval: 5 }).toEqual([]);
    expect(openOf([held, used])).toHaveLength(2);
    used.done();
    held.isPinned = false;
    await expect.poll(() => files.size, { interval: 5 }).toBe(0);
    files.close();
  });

  it('all stay open, and no timer runs, where there is no bound', async () => {
    const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const files = new DatabasePool({ max: Number.POSITIVE_INFINITY, idleMs: null });
    const guests = await fullHouse(files, 50);
    expect(openOf(guests)).toHaveLength(50);
    const after = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    expect(after).toBeLessThanOrEqual(before);
  });
});
