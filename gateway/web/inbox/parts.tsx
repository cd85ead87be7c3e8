import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { Icon } from '../pages/icons.tsx';
import type { PageContext } from './page-context.ts';

// What pages are made of.

/** The heading of a page, with a line below it and what can be done beside it. */
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

/** Why nothing was done with a form; read out at once. */
export function Problem({ text }: { readonly text: string | null }): JSX.Element | null {
  if (text === null) return null;
  return (
    <div class="note warn" role="alert">
      <Icon name="warn" />
      <p>{text}</p>
    </div>
  );
}

/** A form that is sent to this very page. */
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

/** A state in a word. */
export function Chip({ text, tone }: { readonly text: string; readonly tone: Tone }): JSX.Element {
  return <span class={`chip ${tone}`}>{text}</span>;
}

export interface Column<T> {
  readonly title: string;
  readonly cell: (item: T) => Child;
  /** Numbers stand at the end of the line. */
  readonly numeric?: true;
}

/** A table; on a phone each row is a card, its cells named by their columns. */
export function Table<T>({
  caption,
  columns,
  items,
}: {
  /** For whoever does not see it. */
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

/** How much of something there is; the numbers stand in words beside it. */
export function Bar({
  part,
  tone,
}: {
  /** 0 to 1. */
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

/** A line of `dl.facts`. */
export function Fact({
  name,
  children,
}: {
  readonly name: Child;
  readonly children?: Child;
}): JSX.Element {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** A list that the keys `j` and `k` go through: each row is one link. */
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

/** Links that choose what a list shows, by one field of the query; null shows all. */
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
  /** What else the query says. */
  readonly keep?: Readonly<Record<string, string>>;
}): JSX.Element {
  return (
    <nav class="filters" aria-label={label}>
      {choices.map(([value, text]) => (
        <a
          href={`?${new URLSearchParams({ ...(value !== null && { [name]: value }), ...keep }).toString()}`}
          {...(value === chosen && { 'aria-current': 'true' as const })}
        >
          {text}
        </a>
      ))}
    </nav>
  );
}

/** On to what is older, by the `next_cursor` of a list; what else the query says is kept. */
export function Pager({
  context,
  next,
  keep = [],
  words = ['Newest', 'Older'],
}: {
  readonly context: PageContext;
  readonly next: string | null;
  /** Names of fields of the query. */
  readonly keep?: readonly string[];
  /** For a list in another order. */
  readonly words?: readonly [first: string, on: string];
}): JSX.Element | null {
  const kept = new URLSearchParams();
  for (const name of keep) {
    const value = context.query(name);
    if (value !== undefined) kept.set(name, value);
  }
  const older = new URLSearchParams(kept);
  if (next !== null) older.set('cursor', next);
  const isFirst = context.query('cursor') === undefined;
  if (next === null && isFirst) return null;
  return (
    <nav class="pager" aria-label="More of this list">
      {!isFirst && <a href={`?${kept.toString()}`}>{words[0]}</a>}
      {next !== null && <a href={`?${older.toString()}`}>{words[1]}</a>}
    </nav>
  );
}
