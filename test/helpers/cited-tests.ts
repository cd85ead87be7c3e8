import { readFileSync } from 'node:fs';

/** `it('…',` and the end of a table: `])('…',`. */
const TITLE = /(?:\bit|\))\(\s*(['"`])((?:\\.|(?!\1)[^\\\n])+)\1,/g;
/** What a title takes from elsewhere: `${ROUNDS}`, `%s`, `$name`. */
const TAKEN = /\$\{[^}]*\}|%[sdifjo]|\$[a-z]\w*/g;

const known = new Map<string, ReadonlySet<string>>();

/** The titles of the tests in a file, with `…` for what they take from elsewhere. */
export function titlesOf(file: string): ReadonlySet<string> {
  const before = known.get(file);
  if (before) return before;
  const source = readFileSync(file, 'utf8');
  const all = new Set(
    [...source.matchAll(TITLE)].map(([, , text = '']) =>
      text.replaceAll(TAKEN, '…').replaceAll(/\\(.)/g, '$1'),
    ),
  );
  known.set(file, all);
  return all;
}

/** The anchors that the headings of a page have where it is shown. */
export function anchorsOf(page: string): ReadonlySet<string> {
  const headings = [...page.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^a-z0-9 -]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
}
