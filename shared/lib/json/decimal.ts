/** A decimal number, as exact as it was written: `0.DIGITS × 10^exponent`, without zeros at either end of the digits. */
export interface Decimal {
  readonly isNegative: boolean;
  /** Empty for zero. */
  readonly digits: string;
  readonly exponent: bigint;
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Reads a number as JSON or ECMAScript writes it; null for any other text. */
export function decimalOf(text: string): Decimal | null {
  const [, sign, whole = '', fraction = '', power = '0'] = NUMBER.exec(text) ?? [];
  if (sign === undefined) return null;
  const all = whole + fraction;
  const significant = all.replace(/^0+/, '');
  const digits = significant.replace(/0+$/, '');
  if (digits === '') return { isNegative: false, digits, exponent: 0n };
  const leading = all.length - significant.length;
  const exponent = BigInt(whole.length - leading) + BigInt(power);
  return { isNegative: sign === '-', digits, exponent };
}

export function isSameDecimal(one: Decimal | null, other: Decimal | null): boolean {
  if (one === null || other === null) return false;
  return one.isNegative === other.isNegative && compareSizes(one, other) === 0;
}

/** Compares without the sign: below 0 if the first is smaller, 0 if both are as large. */
export function compareSizes(one: Decimal, other: Decimal): number {
  if (one.digits === '' || other.digits === '') return one.digits.length - other.digits.length;
  if (one.exponent !== other.exponent) return one.exponent < other.exponent ? -1 : 1;
  if (one.digits === other.digits) return 0;
  return one.digits < other.digits ? -1 : 1;
}
