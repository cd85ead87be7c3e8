const BLANK = /[ \t]+/y;
/** `&` alone, `|&` and newlines aren't among them. */
const SEPARATOR = /&&|\|\||;|\|(?!&)/y;
/** Output that is thrown away, or that joins the other: it changes nothing about what runs. */
const HARMLESS_REDIRECTION = /(?:2>&1|[12]?> ?\/dev\/null)(?=[\s;|]|$)/y;
/** Characters that stand for themselves in every shell. */
const BARE = /[A-Za-z0-9_./:@%+,-][A-Za-z0-9_./:@%+,=-]*/y;
const SINGLE_QUOTED = /'[^'\p{Cc}]*'/uy;
/** Without `$`, backquotes, `\` and `!`, which mean something between double quotes. */
const DOUBLE_QUOTED = /"[^"$`\\!\p{Cc}]*"/uy;
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;
/** A command may follow these, so the words after them aren't its own. */
const RESERVED: ReadonlySet<string> = new Set(
  'if then elif else fi for select while until do done case esac function time coproc repeat foreach end in'.split(
    ' ',
  ),
);

/**
 * The simple commands in a line for a shell, each as its words; null if any part isn't understood for certain. Whatever
 * may run or change something else isn't understood: expansions, redirections, assignments, groups, loops, several lines.
 */
export function commandsIn(line: string): readonly (readonly string[])[] | null {
  return new Scanner(line).commands();
}

/** The words of a rule's command; `*` at the end stands for any further words. Null if it isn't one plain command. */
function patternOf(
  text: string,
): { readonly words: readonly string[]; readonly open: boolean } | null {
  const open = text.endsWith(' *');
  const commands = commandsIn(open ? text.slice(0, -2) : text);
  const [words, ...others] = commands ?? [];
  return words === undefined || others.length > 0 ? null : { words, open };
}

/** Whether a rule can name the command. */
export function isCommandPattern(text: string): boolean {
  return patternOf(text) !== null;
}

/** Whether a line runs nothing but these commands; null if that isn't certain. */
export function runsOnly(line: string, patterns: readonly string[]): boolean | null {
  const commands = commandsIn(line);
  return commands && commands.every((words) => patterns.some((text) => isRun(text, words)));
}

/** Whether a line runs one of these commands, be it by way of another such as `sudo`; null if that isn't certain. */
export function runsAny(line: string, patterns: readonly string[]): boolean | null {
  const commands = commandsIn(line);
  if (commands === null) return null;
  const parts = commands.flatMap((words) => words.map((_, from) => words.slice(from)));
  return parts.some((words) => patterns.some((text) => isRun(text, words)));
}

function isRun(text: string, words: readonly string[]): boolean {
  const pattern = patternOf(text);
  if (pattern === null) return false;
  const isLong = pattern.open || words.length === pattern.words.length;
  return isLong && pattern.words.every((word, index) => word === words[index]);
}

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  commands(): string[][] | null {
    const commands: string[][] = [];
    do {
      const words = this.#command();
      if (words === null) return null;
      commands.push(words);
    } while (this.#match(SEPARATOR) !== null);
    return this.#at === this.#text.length ? commands : null;
  }

  #command(): string[] | null {
    const words: string[] = [];
    this.#match(BLANK);
    for (let word = this.#word(); word !== null; word = this.#word()) {
      words.push(word);
      if (this.#match(BLANK) === null) break;
      while (this.#match(HARMLESS_REDIRECTION) !== null) this.#match(BLANK);
    }
    const [first] = words;
    return first === undefined || RESERVED.has(first) || ASSIGNMENT.test(first) ? null : words;
  }

  #word(): string | null {
    const parts: string[] = [];
    for (let wasQuoted = false; ;) {
      const quoted: string | null = this.#match(SINGLE_QUOTED) ?? this.#match(DOUBLE_QUOTED);
      // Shells differ on quotes that follow each other.
      if (quoted !== null && wasQuoted) return null;
      const part = quoted?.slice(1, -1) ?? this.#match(BARE);
      if (part === null) return parts.length === 0 ? null : parts.join('');
      parts.push(part);
      wasQuoted = quoted !== null;
    }
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? null;
    if (found !== null) this.#at += found.length;
    return found;
  }
}
