import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { Icon } from './icons.tsx';
import { keptQuery, queryUrl, type Query } from './query.ts';
import type { PageContext } from '../inbox/page-context.ts';

// The parts that pages are built from.

/** A page's heading, with an optional line below and actions next to it. */
export function Heading({
  title,
  lead,
  children,
}: {
  readonly title: string;
  readonly lead?: Child;
  readonly children?: Child;
}): JSX.Element {
  return (
    <div class="heading">
      <div>
        <h1>{title}</h1>
        {lead !== undefined && <p class="lead">{lead}</p>}
      </div>
      {children}
    </div>
  );
}

/** The link to the page above. `whole`: over both columns of a page that has two. */
export function UpLink({
  href,
  whole,
  children,
}: {
  readonly href: string;
  readonly whole?: boolean;
  readonly children?: Child;
}): JSX.Element {
  return (
    <p class={whole ? 'whole' : undefined}>
      <a class="up" href={href} data-up>
        ← {children}
      </a>
    </p>
  );
}

/** Why a form was refused; screen readers announce it at once. */
export function Problem({ text }: { readonly text: string | null }): JSX.Element | null {
  if (text === null) return null;
  return (
    <div class="note warn" role="alert">
      <Icon name="warn" />
      <p>{text}</p>
    </div>
  );
}

/** A box for what a reader should know. */
export function Note({
  tone = 'calm',
  isAlert = false,
  children,
}: {
  readonly tone?: 'calm' | 'good' | 'warn';
  /** Whether screen readers announce it at once. */
  readonly isAlert?: boolean;
  readonly children?: Child;
}): JSX.Element {
  const icon = { calm: 'ask', good: 'yes', warn: 'warn' } as const;
  return (
    <div class={`note ${tone}`} role={isAlert ? 'alert' : undefined}>
      <Icon name={icon[tone]} />
      <p>{children}</p>
    </div>
  );
}

/** A form that posts to the current page. */
export function Form({
  context,
  children,
  class: names = 'stack',
}: {
  readonly context: PageContext;
  readonly children?: Child;
  readonly class?: string;
}): JSX.Element {
  return (
    <form method="post" class={names}>
      <input type="hidden" name="csrf" value={context.csrf} />
      {children}
    </form>
  );
}

export type Tone = 'good' | 'bad' | 'calm' | 'warn';

/** A state in one word. */
export function Chip({ text, tone }: { readonly text: string; readonly tone: Tone }): JSX.Element {
  return <span class={`chip ${tone}`}>{text}</span>;
}

export interface Column<T> {
  readonly title: string;
  readonly cell: (item: T) => Child;
  /** Aligns numbers at the end of the cell. */
  readonly numeric?: true;
}

/** A table. On a phone each row becomes a card, with cells labelled by column. */
export function Table<T>({
  caption,
  columns,
  items,
}: {
  /** For screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly items: readonly T[];
}): JSX.Element {
  return (
    <table>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ title, numeric }) => (
            <th scope="col" class={numeric ? 'numeric' : ''}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr>
            {columns.map(({ title, cell, numeric }) => (
              <td data-label={title} class={numeric ? 'numeric' : ''}>
                {cell(item)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A bar for a share; the text next to it has the numbers. */
export function Bar({
  part,
  tone,
}: {
  /** From 0 to 1. */
  readonly part: number;
  readonly tone: 'part' | 'near' | 'full';
}): JSX.Element {
  const percent = Math.min(100, Math.max(0, part * 100));
  return (
    <svg class="gauge" aria-hidden="true" focusable="false">
      <rect class={tone} width={`${percent.toFixed(2)}%`} height="100%" />
    </svg>
  );
}

/** A list of links that the keys `j` and `k` step through. */
export function Rows({
  label,
  children,
}: {
  readonly label: string;
  readonly children?: Child;
}): JSX.Element {
  return (
    <ul class="rows" aria-label={label}>
      {children}
    </ul>
  );
}

export function Row({
  href,
  children,
}: {
  readonly href: string;
  readonly children?: Child;
}): JSX.Element {
  return (
    <li>
      <a href={href} data-row>
        {children}
      </a>
    </li>
  );
}

export function Nothing({ children }: { readonly children?: Child }): JSX.Element {
  return <p class="nothing">{children}</p>;
}

/** Links that filter a list by one query field; null shows everything. */
export function Filters({
  label,
  name,
  choices,
  chosen,
  keep = {},
}: {
  readonly label: string;
  readonly name: string;
  readonly choices: readonly (readonly [value: string | null, text: string])[];
  readonly chosen: string | null;
  /** Other query fields to keep. */
  readonly keep?: Query;
}): JSX.Element {
  return (
    <nav class="filters" aria-label={label}>
      {choices.map(([value, text]) => (
        <a
          href={queryUrl({ ...(value !== null && { [name]: value }), ...keep })}
          {...(value === chosen && { 'aria-current': 'true' as const })}
        >
          {text}
        </a>
      ))}
    </nav>
  );
}

/** A link to older items by a list's `next_cursor`; keeps other query fields. */
export function Pager({
  context,
  next,
  keep = [],
  words: [first, on] = ['Newest', 'Older'],
}: {
  readonly context: PageContext;
  readonly next: string | null;
  /** Names of query fields. */
  readonly keep?: readonly string[];
  /** For a list in another order. */
  readonly words?: readonly [first: string, on: string];
}): JSX.Element | null {
  const kept = keptQuery(context, keep);
  const isFirst = context.query('cursor') === undefined;
  if (next === null && isFirst) return null;
  return (
    <nav class="pager" aria-label="More pages">
      {!isFirst && <a href={queryUrl(kept)}>{first}</a>}
      {next !== null && <a href={queryUrl({ ...kept, cursor: next })}>{on}</a>}
    </nav>
  );
}
