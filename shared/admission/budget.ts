/** Who may hold only a share of a budget. */
export type Share = 'address' | 'project' | 'key' | 'session';

/** Whom an amount counts for; null or missing: nobody of that kind. */
export type Holder = Readonly<Partial<Record<Share, string | null>>>;

/** The most that may be in use: in all, and by each holder of a kind. */
export interface BudgetLimits extends Readonly<Partial<Record<Share, number>>> {
  readonly total: number;
  /** No holder may take more than what's left afterwards, so there's always something for the next one. */
  readonly leavesRoom?: true;
}

/** The first limit that an amount would exceed. */
export interface Full {
  /** The budget's name. */
  readonly budget: string;
  /** `door`: everyone who comes this way; `gateway`: everyone. */
  readonly of: Share | 'door' | 'gateway';
  readonly limit: number;
  /** In use before the refused amount. */
  readonly used: number;
}

/**
 * Up to this many empty holders stay in a map, because a map that keeps gaining and losing entries keeps allocating
 * tables.
 */
const IDLE_KEPT = 64;

const SHARES: readonly Share[] = ['session', 'key', 'address', 'project'];

/** How much each holder of one kind has, by id; each may have at most `most`. */
interface HeldShare {
  readonly share: Share;
  readonly most: number;
  readonly held: Map<string, number>;
}

/**
 * Counts how much of one thing is in use, in all and by each holder, so that no holder can take all of it. A budget may
 * be a part of a larger one, as a door is a part of the gateway.
 */
export class Budget {
  readonly #name: string;
  readonly #limits: BudgetLimits;
  readonly #whole: Budget | null;
  readonly #shares: readonly HeldShare[];
  #used = 0;

  constructor(name: string, limits: BudgetLimits, whole: Budget | null = null) {
    this.#name = name;
    this.#limits = limits;
    this.#whole = whole;
    this.#shares = SHARES.flatMap((share) => {
      const most = limits[share];
      return most === undefined ? [] : [{ share, most, held: new Map() }];
    });
  }

  get used(): number {
    return this.#used;
  }

  /** What is left for everybody together. */
  get free(): number {
    const free = this.#limits.total - this.#used;
    return this.#whole ? Math.min(free, this.#whole.free) : free;
  }

  /** Whether this holder has nothing. */
  isIdle(holder: Holder): boolean {
    return this.#shares.every(({ share, held }) => (held.get(holder[share] ?? '') ?? 0) === 0);
  }

  /** Takes an amount, or takes nothing and returns the limit in the way. */
  take(holder: Holder, amount = 1): Full | null {
    const full = this.#fullFor(holder, amount) ?? this.#whole?.take(holder, amount) ?? null;
    if (full === null) this.#add(holder, amount);
    return full;
  }

  /** Whether this holder can take an amount. */
  fits(holder: Holder, amount = 1): boolean {
    return this.#fullFor(holder, amount) === null && (this.#whole?.fits(holder, amount) ?? true);
  }

  /** Gives back what this holder took. */
  give(holder: Holder, amount = 1): void {
    this.#whole?.give(holder, amount);
    this.#add(holder, -amount);
  }

  #fullFor(holder: Holder, amount: number): Full | null {
    const { total, leavesRoom } = this.#limits;
    const free = total - this.#used;
    if (amount > free) return this.#full(this.#whole ? 'door' : 'gateway', total, this.#used);
    for (const { share, most, held } of this.#shares) {
      const id = holder[share];
      if (id == null) continue;
      const used = held.get(id) ?? 0;
      const limit = leavesRoom ? Math.min(most, free) : most;
      if (used + amount > limit) return this.#full(share, limit, used);
    }
    return null;
  }

  #full(of: Full['of'], limit: number, used: number): Full {
    return { budget: this.#name, of, limit, used };
  }

  #add(holder: Holder, amount: number): void {
    this.#used += amount;
    for (const { share, held } of this.#shares) {
      const id = holder[share];
      if (id == null) continue;
      const used = (held.get(id) ?? 0) + amount;
      if (used === 0 && held.size > IDLE_KEPT) held.delete(id);
      else held.set(id, used);
    }
  }
}
