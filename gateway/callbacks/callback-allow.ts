import { AddressRanges } from '../lib/address-ranges.ts';

/**
 * The private addresses that may be called, also over http and on any port: SVC_CALLBACK_ALLOW. It's meant for tests and
 * development and is empty by default.
 */
export class CallbackAllow {
  static readonly none = CallbackAllow.parse(undefined);
  readonly #ranges: AddressRanges;

  private constructor(ranges: AddressRanges) {
    this.#ranges = ranges;
  }

  /** Reads CIDRs separated by commas. Throws an Error that names all invalid ones. */
  static parse(text: string | undefined): CallbackAllow {
    return new CallbackAllow(AddressRanges.parse(text ?? '', 'SVC_CALLBACK_ALLOW'));
  }

  get isEmpty(): boolean {
    return this.#ranges.isEmpty;
  }

  /** False if the text isn't an address. */
  has(text: string): boolean {
    return this.#ranges.has(text);
  }
}
