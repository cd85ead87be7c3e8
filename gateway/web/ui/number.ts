/** Separates thousands with a narrow space, because commas and points mean different things in different countries. */
const NARROW_BLANK = '\u202f';

/** A number with all its digits, such as `12 500.5`. */
export function digitsOf(amount: number): string {
  const [whole = '', fraction] = Math.abs(amount)
    .toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 20 })
    .split('.');
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, NARROW_BLANK);
  const sign = amount < 0 ? '\u2212' : '';
  return sign + grouped + (fraction === undefined ? '' : `.${fraction}`);
}
