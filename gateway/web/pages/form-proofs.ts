import type { Vault } from '../../../shared/kernel/context.ts';
import { isSigned } from '../../../shared/kernel/links.ts';
import type { Clock } from '../../../shared/lib/clock.ts';

/** Nobody reads a page in less time: who presses its button sooner meant something else, such as what was there before. */
const READING_MS = 1000;

/** `early`: the form is ours, and its page was made less than a second ago. */
type ProofVerdict = 'valid' | 'early' | 'invalid';

/**
 * The value of the field `csrf` in our forms: when the page was made, and a signature over that and over what the page
 * showed. So a form comes from one of our pages, and nobody presses a button by a click that was under way.
 */
export class FormProofs {
  readonly #vault: Vault;
  readonly #clock: Clock;

  constructor(vault: Vault, clock: Clock) {
    this.#vault = vault;
    this.#clock = clock;
  }

  /** For a form that a person reads first. */
  make(text: string): string {
    return this.#at(text, this.#clock.now());
  }

  /** For a form that our script sends without anybody's click. */
  makeReady(text: string): string {
    return this.#at(text, this.#clock.now() - READING_MS);
  }

  judge(text: string, proof = ''): ProofVerdict {
    const [, madeAt, signature] = /^(\d{1,15})\.([\w-]+)$/.exec(proof) ?? [];
    if (madeAt === undefined || signature === undefined) return 'invalid';
    if (!isSigned(this.#vault, timed(text, madeAt), signature)) return 'invalid';
    return this.#clock.now() - Number(madeAt) < READING_MS ? 'early' : 'valid';
  }

  #at(text: string, time: number): string {
    const madeAt = String(time);
    return `${madeAt}.${this.#vault.sign(timed(text, madeAt))}`;
  }
}

function timed(text: string, madeAt: string): string {
  return `${text}|${madeAt}`;
}
