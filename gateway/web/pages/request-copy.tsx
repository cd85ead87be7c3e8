import type { JSX } from 'hono/jsx/jsx-runtime';
import { Icon } from '../ui/icons.tsx';
import { digitsOf } from '../ui/number.ts';
import { lengthOfTime, timeOfDay } from '../ui/time.ts';
import { cautionsOf, fold, pieces, type TextKind } from './text.ts';
import { nounFor } from '../../../shared/lib/pluralize.ts';

interface Spoken {
  readonly text: string;
  readonly reading: TextKind;
  readonly class?: string;
}

/** Someone else's text, shown as text. Page translators leave it unchanged. */
export function AgentText({ text, reading, class: more = '' }: Spoken): JSX.Element {
  const exact = reading === 'exact' || reading === 'code';
  const names = `agent${exact ? ' exact' : ''}${more === '' ? '' : ` ${more}`}`;
  return (
    <span class={names} dir={exact ? 'ltr' : 'auto'} translate="no">
      <Stretches text={text} reading={reading} />
    </span>
  );
}

/** Only the pieces of a text, for an element that already has the styles. */
export function Stretches({ text, reading }: Omit<Spoken, 'class'>): JSX.Element {
  return (
    <>
      {pieces(text, reading).map((piece) => {
        if (piece.kind === 'hidden') return <span class="hid">{piece.text}</span>;
        if (piece.kind === 'lookalike') return <mark>{piece.text}</mark>;
        return piece.text;
      })}
    </>
  );
}

/** Names the author of the following text, by the name that the agent gives itself. */
export function WrittenBy({ label }: { readonly label: string | null }): JSX.Element {
  return (
    <figcaption>
      Written by the agent
      {label !== null && (
        <>
          {' '}
          “<AgentText text={label} reading="line" />”
        </>
      )}
    </figcaption>
  );
}

/** A text of several lines; the rest of a long one is folded, with its length. */
export function LongText({
  text,
  mono,
}: {
  readonly text: string;
  readonly mono: boolean;
}): JSX.Element {
  const { open, folded } = fold(text);
  const foldedChars = Array.from(folded).length;
  const names = mono ? 'agent mono' : 'agent';
  const lines = folded.split('\n').filter((line) => line.trim() !== '').length;
  return (
    <>
      <div class={names} dir="auto" translate="no">
        <Stretches text={open} reading="prose" />
      </div>
      {folded !== '' && (
        <details>
          <summary>
            Show {digitsOf(foldedChars)} {nounFor(foldedChars, 'character')}
            {lines > 1 && ` on ${lines} lines`} more
          </summary>
          <div class={names} dir="auto" translate="no">
            <Stretches text={folded} reading="prose" />
          </div>
        </details>
      )}
    </>
  );
}

/** Explains the marks in the texts, if there are any. */
export function CautionNote({
  texts,
  writer = 'the agent',
}: {
  readonly texts: readonly (readonly [string, TextKind])[];
  readonly writer?: string;
}): JSX.Element | null {
  const { hidden, lookalike, directions } = cautionsOf(texts);
  const sentences = [
    hidden && 'It has hidden characters, each shown as a small box with its number.',
    lookalike &&
      'Marked characters aren’t plain Latin letters, digits or signs and can look like others.',
    directions && 'It mixes left-to-right and right-to-left text, so read with care.',
  ].filter((sentence) => sentence !== false);
  if (sentences.length === 0) return null;
  return (
    <div class="note warn">
      <Icon name="warn" />
      <div>
        <p>
          <strong>Look closely at what {writer} wrote.</strong>
        </p>
        {sentences.map((sentence) => (
          <p>{sentence}</p>
        ))}
      </div>
    </div>
  );
}

/** A time in UTC, whole on hover. In the web inbox, the script shows it in the reader's time zone. */
export function Time({ at, now }: { readonly at: number; readonly now: number }): JSX.Element {
  const iso = new Date(at).toISOString();
  return (
    <time datetime={iso} title={iso}>
      {timeOfDay(at, now)}
    </time>
  );
}

/** Such as `4 min ago, at 14:30:05 UTC`. */
export function Ago({ at, now }: { readonly at: number; readonly now: number }): JSX.Element {
  return (
    <>
      {now - at < 5000 ? 'just now' : `${lengthOfTime(now - at)} ago`}, at{' '}
      <Time at={at} now={now} />
    </>
  );
}
