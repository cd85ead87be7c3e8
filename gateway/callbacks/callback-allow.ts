import { AddressRanges } from '../lib/address-ranges.ts';

/**
 * The addresses that may be called although they are not public, over http too and on any port: SVC_CALLBACK_ALLOW. It is
 * there for tests and development, and empty otherwise.
 */
export class CallbackAllow {
  static readonly none = CallbackAllow.parse(undefined);
  readonly #ranges: AddressRanges;

  private constructor(ranges: AddressRanges) {
    this.#ranges = ranges;
  }

  /** Reads CIDRs separated by commas. Throws an Error that names all the wrong ones. */
  static parse(text: string | undefined): CallbackAllow {
    return new CallbackAllow(AddressRanges.parse(text ?? '', 'SVC_CALLBACK_ALLOW'));
  }

  get isEmpty(): boolean {
    return this.#ranges.isEmpty;
  }

  /** False for text that is no address. */
  has(text: string): boolean {
    return this.#ranges.has(text);
  }
}
