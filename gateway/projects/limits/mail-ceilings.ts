import { randomUUID } from 'node:crypto';
import type { MailReservation } from '../../../shared/kernel/context.ts';
import { dayEndSeconds, dayOf } from '../../../shared/rules/mail/send-limit.ts';
import type { MailLimits, MailUseStore } from '../../store/control/mail-use.ts';

/** No ceilings: a local machine. */
const NO_LIMITS: MailLimits = { account: 0, gateway: 0 };

interface CeilingShare {
  readonly projectId: string;
  readonly messages: number;
  readonly day: string;
}

/**
 * Ceilings of agents' mail over several projects. They are counted before a project's write and given back if it sent
 * nothing, because the two databases can't commit together: after a crash they count too much, never too little.
 */
export class MailCeilings {
  readonly #store: MailUseStore;
  readonly #limits: MailLimits;
  /** Counted messages whose write hasn't ended. */
  readonly #reserved = new Map<string, CeilingShare>();

  constructor(store: MailUseStore, limits = NO_LIMITS) {
    this.#store = store;
    this.#limits = limits;
  }

  /** Counts messages that a write is about to take; null where nothing is limited. */
  async reserve(projectId: string, messages: number, now: number): Promise<MailReservation | null> {
    if (this.#isOff) return null;
    const reserved = { projectId, messages, day: dayOf(now) };
    const passed = await this.#store.take(reserved, this.#limits);
    if (passed) return { passed: { ...passed, window: 'day', retry_after: dayEndSeconds(now) } };
    const id = randomUUID();
    this.#reserved.set(id, reserved);
    return { id };
  }

  /** The write took the messages. */
  keep(id: string): void {
    this.#reserved.delete(id);
  }

  /** The write has ended: gives back what it didn't take. */
  async release(id: string): Promise<void> {
    const reserved = this.#reserved.get(id);
    if (!reserved) return;
    this.#reserved.delete(id);
    await this.#store.giveBack(reserved);
  }

  /** Gives back messages that were cancelled, to the day they were asked for. */
  async giveBack(cancelled: CeilingShare): Promise<void> {
    if (!this.#isOff) await this.#store.giveBack(cancelled);
  }

  get #isOff(): boolean {
    return this.#limits.account === 0 && this.#limits.gateway === 0;
  }
}
