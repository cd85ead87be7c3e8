/** Ways to write a charset that the Encoding Standard doesn't list, in lower case, and its name there. */
const SPELLINGS: readonly (readonly [RegExp, (number: string) => string])[] = [
  [/^utf[-_ ]?8/, () => 'utf-8'],
  [/^(?:x-)?(?:cp|win|windows|ms|ansi|x-ansi)[-_ ]?(125\d|874)\b/, (page) => `windows-${page}`],
  [/^(?:x-)?iso[-_ ]?8859[-_ ]?(1[0-6]|[1-9])(?!\d)/, (part) => `iso-8859-${part}`],
  [/^(?:iso[-_ ])?latin[-_ ]?([1-6])\b/, (part) => `latin${part}`],
  [/^(?:x-|cs)?koi[-_ ]?8[-_ ]?([ru])/, (variant) => `koi8-${variant}`],
  [/^(?:x-)?gb[-_ ]?18030/, () => 'gb18030'],
  [/^(?:x-)?(?:gb[-_ ]?2312|gbk|cp[-_ ]?936|euc[-_ ]?cn|hz-gb)/, () => 'gbk'],
  [/^(?:x-)?big[-_ ]?5/, () => 'big5'],
  [/^(?:x-)?(?:shift[-_ ]?jis|s[-_ ]?jis)/, () => 'shift_jis'],
  [/^(?:x-)?iso[-_ ]?2022[-_ ]?jp/, () => 'iso-2022-jp'],
  [/^(?:x-)?euc[-_ ]?jp/, () => 'euc-jp'],
  [/^(?:x-)?(?:euc[-_ ]?kr|ks[-_ ]?c[-_ ]?5601)/, () => 'euc-kr'],
  [/^(?:x-)?mac[-_ ]?(?:os[-_ ]?)?roman/, () => 'macintosh'],
  [/^(?:x-)?mac[-_ ]?cyrillic/, () => 'x-mac-cyrillic'],
];

/** Labels that were looked up: a decoder is costly to make, and a mail may name its charset thousands of times. */
const LOOKED_UP = new Map<string, string>();
const LOOKED_UP_MAX = 1000;

/** The name of a charset in the Encoding Standard, from a label as mails spell it; that one in lower case if nobody knows it. */
export function charsetLabel(given: string): string {
  const known = LOOKED_UP.get(given);
  if (known !== undefined) return known;
  const label = labelOf(given);
  if (LOOKED_UP.size >= LOOKED_UP_MAX) LOOKED_UP.clear();
  LOOKED_UP.set(given, label);
  return label;
}

function labelOf(given: string): string {
  const label = given
    .toLowerCase()
    .replace(/^[\s"'<(]+|[\s"'>);:,.]+$/g, '')
    .replace(/^charset\s*=\s*/, '');
  if (isCharset(label)) return new TextDecoder(label).encoding;
  for (const [spelling, name] of SPELLINGS) {
    const found = spelling.exec(label);
    if (found !== null) return name(found[1] ?? '');
  }
  return label;
}

/** Whether the Encoding Standard has a charset with this label, and we can read it. */
export function isCharset(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== '';
  } catch {
    return false;
  }
}
