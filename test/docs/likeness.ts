/** What differs from run to run, and the word that stands for it. Order matters: the longer forms come first. */
const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/\bsvc_live_(?:[0-9A-Za-z]{20,}|…)/g, 'svc_live_…'],
  [/\bwhsec_(?:[0-9A-Za-z+/=]{20,}|…)/g, 'whsec_…'],
  [/\b([a-z]{3})_(?:[0-9a-hjkmnp-tv-z]{16}(?:[0-9a-hjkmnp-tv-z]{10})?\b|…)/g, '$1_…'],
  [/\/([a-z]{1,2})\/(?:[0-9A-Za-z]{36,64}\b|…)/g, '/$1/…'],
  [/"[0-9a-hjkmnp-tv-z]{16}"/g, '"<id>"'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<uuid>'],
  [/\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g, '<time>'],
  [/\b[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT/g, '<time>'],
  [/\b\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\b/g, '<local time>'],
  [/\b\d{2}:\d{2}:\d{2}\b/g, '<time>'],
  [/\b\d{4}-\d{2}(?:-\d{2})?\b/g, '<date>'],
  [/\bnow\b|\b\d+ (?:s|min|h|days?) ago\b|\bin \d+ (?:s|min|h|days?)\b/g, '<when>'],
  [/\b\d+(?:\.\d+)? (?:ms|s)\b/g, '<duration>'],
  [/^ *\+\d+(?:\.\d+)?(?:ms|s|m)\b/g, '+<duration>'],
  [/\b\d+(?:\.\d+)? (?:KB|MB|GB) (in|free)\b/g, '<size> $1'],
  [/\bpid \d+/g, 'pid <n>'],
  [/\b\d{5,} bytes\b/g, '<n> bytes'],
  [/\bmaster key [0-9a-f]{8}\b/g, 'master key <id>'],
  [/^(✓ node|✓ daemon|svc) +\d+\.\d+\.\d+\b/g, '$1 <version>'],
  [/\b\d+ MB$/g, '<size>'],
  [/\b[0-9a-f]{40,64}\b/g, '<digest>'],
  [/\b[0-9a-f]{12}…/g, '<digest>'],
  [/\b[A-Z]{3,}-[A-Z]{3,}-\d{2}\b/g, '<code>'],
  [/"(t|v1)=[0-9a-f]+/g, '"$1=<digest>'],
  [/\bv1,[0-9A-Za-z+/=]{40,}/g, 'v1,<digest>'],
  [/ {2,}/g, ' '],
];

/** A line with everything taken out that differs from run to run. */
function stable(line: string): string {
  let text = line.trim();
  for (const [pattern, word] of VOLATILE) text = text.replaceAll(pattern, word);
  return text.trim();
}

/**
 * Where what was printed is not what the page says, in words; null when it is. A line `…` of the page stands for any
 * lines, and `…` within a line for any text.
 */
export function difference(page: readonly string[], printed: readonly string[]): string | null {
  const wanted = page.map(stable);
  const shown = printed.map(stable);
  if (matches(wanted, shown)) return null;
  return `The page says:\n${page.join('\n')}\nIt prints:\n${printed.join('\n')}`;
}

function matches(wanted: readonly string[], shown: readonly string[]): boolean {
  const [line, ...others] = wanted;
  if (line === undefined) return shown.length === 0;
  if (line === '…') {
    // The shortest run of lines that lets the rest fit.
    return shown.concat('').some((_, skipped) => matches(others, shown.slice(skipped)));
  }
  const [first, ...after] = shown;
  return first !== undefined && lineMatches(line, first) && matches(others, after);
}

function lineMatches(wanted: string, shown: string): boolean {
  if (wanted === shown) return true;
  const parts = wanted.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(shown);
}
