import type { JSX } from 'hono/jsx/jsx-runtime';

const PATHS = {
  /** A tray with a tick above it: something arrived and somebody looked at it. */
  brand:
    'M3.5 13.5v4a2.5 2.5 0 0 0 2.5 2.5h12a2.5 2.5 0 0 0 2.5-2.5v-4h-4.8l-1.4 2.2H9.7l-1.4-2.2zM8.2 7.6l3 3 5.3-6',
  yes: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM8 12.4l2.8 2.8L16 9.4',
  no: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9 9l6 6M15 9l-6 6',
  time: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7.5V12l3 2',
  ask: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9.6 9.6a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.2.9-1.2 1.8M12 16.7v.1',
  warn: 'M12 4 2.8 19.5h18.4zM12 10v4.5M12 17v.1',
  broken: 'M9.5 14.5 7 17a3 3 0 0 1-4-4l2.5-2.5M14.5 9.5 17 7a3 3 0 0 1 4 4l-2.5 2.5M4.5 4.5l15 15',
} as const;

export type IconName = keyof typeof PATHS;

/** A decorative icon; the text next to it says the same. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

const BARS = ['M5 19v-4.5', 'M12 19V10', 'M19 19V5'];
const LIT = { low: 1, medium: 2, high: 3 } as const;

/** Three bars, with one, two or three of them lit. */
export function Bars({ level }: { readonly level: keyof typeof LIT }): JSX.Element {
  return (
    <svg
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-linecap="round"
      aria-hidden="true"
      focusable="false"
    >
      {BARS.map((bar, index) => (
        <path d={bar} stroke-opacity={index < LIT[level] ? '1' : '0.25'} />
      ))}
    </svg>
  );
}
