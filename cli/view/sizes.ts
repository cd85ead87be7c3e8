const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;
const STEP = 1024;

/** `812 bytes`, `1.4 MB`. 1 KB is 1024 bytes, as in the disk's limits. */
export function sizeText(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= STEP && unit < UNITS.length - 1) {
    amount /= STEP;
    unit += 1;
  }
  if (bytes === 1) return '1 byte';
  const text = unit === 0 || amount >= 100 ? String(Math.floor(amount)) : tenths(amount);
  return `${text} ${UNITS[unit] ?? ''}`;
}

/** Rounded down, so that anything shown as 1 MB really fits a limit of 1 MB. */
function tenths(amount: number): string {
  const text = (Math.floor(amount * 10) / 10).toFixed(1);
  return text.endsWith('.0') ? text.slice(0, -2) : text;
}

/** A whole number with thousands separators: `1,234`. `toLocaleString` would take 30 ms to load its locales. */
export function countText(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
