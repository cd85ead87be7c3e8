import type { JSX } from 'hono/jsx/jsx-runtime';
import { digitsOf } from '../../../ui/number.ts';
import { CautionNote, Stretches } from '../../../pages/request-copy.tsx';
import { keptQuery, queryUrl } from '../../../ui/query.ts';
import type { PageContext } from '../../page-context.ts';

/** How much of a text one page shows, because the page examines each character. */
const PART_CHARS = 40_000;
/** The same for a text in which many characters need a mark, which takes room. */
const STRANGE_PART_CHARS = 8000;
const STRANGE = /[^\n\r\t -~\p{L}\p{N}\p{P}]|[\p{Script=Cyrillic}\p{Script=Greek}]/gu;
const STRANGE_SHARE = 0.05;

/** One part of a text of any length, with links to the other parts. */
export function PartOfText({
  context,
  text,
  isCode = false,
  keep = [],
  writer = 'the sender',
}: {
  readonly context: PageContext;
  readonly text: string;
  readonly isCode?: boolean;
  /** Query fields that name what the page shows. */
  readonly keep?: readonly string[];
  readonly writer?: string;
}): JSX.Element {
  const partChars = partCharsOf(text);
  const count = Math.max(1, Math.ceil(text.length / partChars));
  const asked = Number(context.query('part') ?? 1);
  const part = Number.isInteger(asked) && asked >= 1 && asked <= count ? asked : 1;
  const shown = text
    .slice(cutAt(text, (part - 1) * partChars), cutAt(text, part * partChars))
    .toWellFormed();
  const kept = keptQuery(context, ['text', ...keep]);
  const partUrl = (number: number): string => queryUrl({ ...kept, part: `${number}` });
  return (
    <>
      <CautionNote texts={[[shown, 'prose']]} writer={writer} />
      {wordsOf(shown, isCode)}
      {count > 1 && (
        <nav class="pager" aria-label="Parts of the payload">
          {part > 1 && <a href={partUrl(part - 1)}>Previous part</a>}
          <span class="soft">
            Part {part.toString()} of {count.toString()}, {digitsOf(text.length)} characters in all
          </span>
          {part < count && <a href={partUrl(part + 1)}>Next part</a>}
        </nav>
      )}
    </>
  );
}

function wordsOf(text: string, isCode: boolean): JSX.Element {
  return (
    <div class={isCode ? 'agent mono code' : 'agent'} dir={isCode ? 'ltr' : 'auto'} translate="no">
      <Stretches text={text} reading="prose" />
    </div>
  );
}

/** Where to cut without splitting a surrogate pair. */
function cutAt(text: string, wanted: number): number {
  const code = text.charCodeAt(wanted);
  return wanted + (code >= 0xdc00 && code <= 0xdfff ? 1 : 0);
}

function partCharsOf(text: string): number {
  const strange = text.match(STRANGE)?.length ?? 0;
  return strange > text.length * STRANGE_SHARE ? STRANGE_PART_CHARS : PART_CHARS;
}
