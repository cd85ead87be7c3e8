interface Entity {
  readonly tag: string;
  readonly text: string;
  readonly href: string | null;
}

/** A text as Telegram shows it, and the formatted parts. */
export interface ShownHtml {
  readonly text: string;
  readonly entities: readonly Entity[];
}

const TAGS = new Set(
  'b strong i em u ins s strike del code pre a blockquote tg-spoiler'.split(' '),
);
const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };
const PIECE = /<(\/?)([a-zA-Z][\w-]*)((?:\s+[\w-]+(?:="[^"<>]*")?)*)\s*>|&(#\d+|[a-z]+);|[\s\S]/gu;

/** Parses Telegram's HTML; throws Telegram's own error if it can't. */
export function parseTelegramHtml(html: string): ShownHtml {
  const reader = new Reader();
  for (const [piece, slash, tag, attributes = '', entity] of html.matchAll(PIECE)) {
    if (entity !== undefined) reader.add(decode(entity, piece));
    else if (tag === undefined)
      reader.add(piece === '<' ? reader.fail('Unsupported start tag') : piece);
    else if (slash === '/') reader.close(tag);
    else reader.open(tag, attributes);
  }
  return reader.end();
}

class Reader {
  #text = '';
  readonly #open: { tag: string; from: number; href: string | null }[] = [];
  readonly #entities: Entity[] = [];

  add(text: string): void {
    this.#text += text;
  }

  open(tag: string, attributes: string): void {
    if (!TAGS.has(tag)) this.fail(`Unsupported start tag "${tag}"`);
    const inside = this.#open.at(-1)?.tag ?? '';
    const isLanguage = inside === 'pre' && tag === 'code';
    if (['pre', 'code'].includes(inside) && !isLanguage) this.fail(`"${tag}" within "${inside}"`);
    const href = /\shref="([^"]*)"/.exec(attributes)?.[1] ?? null;
    this.#open.push({ tag, from: this.#text.length, href: href && parseTelegramHtml(href).text });
  }

  close(tag: string): void {
    const last = this.#open.pop();
    if (last?.tag !== tag) return this.fail(`Unmatched end tag "${tag}"`);
    this.#entities.push({ tag, text: this.#text.slice(last.from), href: last.href });
  }

  end(): ShownHtml {
    const unclosed = this.#open.at(-1);
    if (unclosed) this.fail(`Can't find end tag corresponding to start tag "${unclosed.tag}"`);
    return { text: this.#text.trim(), entities: this.#entities };
  }

  fail(what: string): never {
    throw new Error(`${what} at character ${this.#text.length}`);
  }
}

function decode(entity: string, piece: string): string {
  if (entity.startsWith('#')) return String.fromCodePoint(Number(entity.slice(1)));
  return NAMED[entity] ?? piece;
}
