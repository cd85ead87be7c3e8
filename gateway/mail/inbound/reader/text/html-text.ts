import { TextLines } from './text-lines.ts';

/** The content of these elements isn't text. */
const UNSEEN = new Set(['script', 'style', 'title', 'template']);
const NEW_LINE = new Set(['div', 'tr', 'section', 'article', 'header', 'footer', 'dt', 'dd', 'li']);
const NEW_PARAGRAPH = new Set('p h1 h2 h3 h4 h5 h6 ul ol dl table pre hr form address'.split(' '));
/** The start of a tag, from its `<` to the end of its name. */
const TAG = /<(\/?)([a-z][a-z0-9]{0,30})(?=[\s/>])/iy;
const HREF = /\shref\s*=\s*(?:"([^"]{0,2000})"|'([^']{0,2000})'|([^\s"'>]{1,2000}))/i;
const HREF_WITHIN_CHARS = 4000;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  shy: '',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  sbquo: '‚',
  ldquo: '“',
  rdquo: '”',
  bdquo: '„',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  times: '×',
  euro: '€',
  pound: '£',
  yen: '¥',
  cent: '¢',
  sect: '§',
  deg: '°',
  plusmn: '±',
  frac12: '½',
  iexcl: '¡',
  iquest: '¿',
  zwnj: '\u200c',
  zwj: '\u200d',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  agrave: 'à',
  aacute: 'á',
  acirc: 'â',
  atilde: 'ã',
  ccedil: 'ç',
  egrave: 'è',
  eacute: 'é',
  ecirc: 'ê',
  iacute: 'í',
  ntilde: 'ñ',
  oacute: 'ó',
  ocirc: 'ô',
  otilde: 'õ',
  uacute: 'ú',
  aring: 'å',
  oslash: 'ø',
  Aring: 'Å',
  Oslash: 'Ø',
  Eacute: 'É',
  Ccedil: 'Ç',
  Ntilde: 'Ñ',
};

/**
 * The text of an HTML document: its blocks start new lines, quoted blocks get `>`, and the addresses of links follow their
 * texts. Stops once the text is longer than `maxChars` UTF-16 units. Goes over any document only once.
 */
export function htmlToText(html: string, maxChars: number): string {
  const lines = new TextLines(maxChars);
  let at = 0;
  while (at < html.length && !lines.full) {
    const open = html.indexOf('<', at);
    lines.text(decodeEntities(html.slice(at, open === -1 ? html.length : open)));
    if (open === -1) break;
    at = afterMarkup(html, open, lines);
  }
  return lines.end();
}

/** Takes the markup that starts with this `<`, and returns where it ends. */
function afterMarkup(html: string, open: number, lines: TextLines): number {
  if (html.startsWith('<!--', open)) return after(html, '-->', open + 4);
  if (html[open + 1] === '!' || html[open + 1] === '?') return after(html, '>', open);
  TAG.lastIndex = open;
  const tag = TAG.exec(html);
  if (tag === null) {
    // Browsers drop a closing tag without a proper name too.
    if (html[open + 1] === '/') return after(html, '>', open);
    lines.text('<');
    return open + 1;
  }
  const [start = '', slash, name = ''] = tag;
  const end = tagEnd(html, open + start.length);
  const element = name.toLowerCase();
  if (slash === '' && UNSEEN.has(element)) return afterClosing(html, element, end);
  takeTag(element, slash === '', html.slice(open, Math.min(end, open + HREF_WITHIN_CHARS)), lines);
  return end;
}

function takeTag(element: string, opens: boolean, tag: string, lines: TextLines): void {
  if (element === 'br') lines.newLine(1);
  else if (element === 'td' || element === 'th') lines.text(' ');
  else if (element === 'a') takeLink(opens, tag, lines);
  else if (element === 'blockquote') takeQuote(opens, lines);
  else if (NEW_LINE.has(element)) lines.block(1);
  else if (NEW_PARAGRAPH.has(element)) lines.block(2);
  if (element === 'pre') lines.preformatted(opens);
  if (element === 'li' && opens) lines.text('* ');
}

/** The empty lines around a quote belong to the text outside it. */
function takeQuote(opens: boolean, lines: TextLines): void {
  lines.block(opens ? 2 : 1);
  lines.quote(opens ? 1 : -1);
  lines.block(2);
}

function takeLink(opens: boolean, tag: string, lines: TextLines): void {
  if (!opens) return lines.endLink();
  const [, double, single, bare] = HREF.exec(tag) ?? [];
  const address = decodeEntities(double ?? single ?? bare ?? '').trim();
  lines.startLink(/^https?:\/\/\S+$/i.test(address) ? address : null);
}

/** The position after the `>` of a tag, ignoring any in quoted values. An unclosed tag swallows the rest. */
function tagEnd(html: string, from: number): number {
  let quote: string | null = null;
  for (let at = from; at < html.length; at += 1) {
    const character = html[at] ?? '';
    if (quote !== null) {
      if (character === quote) quote = null;
    } else if (character === '>') return at + 1;
    else if ((character === '"' || character === "'") && html[at - 1] === '=') quote = character;
  }
  return html.length;
}

function afterClosing(html: string, element: string, from: number): number {
  const closing = new RegExp(`</${element}`, 'gi');
  closing.lastIndex = from;
  const found = closing.exec(html);
  return found === null ? html.length : after(html, '>', found.index);
}

function after(html: string, what: string, from: number): number {
  const found = html.indexOf(what, from);
  return found === -1 ? html.length : found + what.length;
}

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z][a-z0-9]{1,30}));?/gi, toCharacter);
}

function toCharacter(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) {
    return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] ?? whole) : whole;
  }
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
}
