import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { Chip, Heading, Nothing, Row, Rows, type Tone } from './parts.tsx';
import type { PageResult } from '../inbox/page-context.ts';
import { dotted } from './text.tsx';

export type State = readonly [text: string, tone: Tone];

/** One item of a list. */
export interface ListRow {
  readonly href: string;
  readonly what: Child;
  readonly states?: readonly (State | false)[];
  /** In the place of a state: a size or a word. */
  readonly side?: string;
  /** Stands on a line of its own. */
  readonly address?: string;
  /** What else there is to say about it; dots go between. */
  readonly meta?: readonly (Child | null | false)[];
}

export function ListRows({
  label,
  rows,
  empty,
}: {
  readonly label: string;
  readonly rows: readonly ListRow[];
  /** What to say if there are none. */
  readonly empty?: Child;
}): JSX.Element {
  if (rows.length === 0) return <Nothing>{empty}</Nothing>;
  return (
    <Rows label={label}>
      {rows.map(({ href, what, states = [], side, address, meta = [] }) => (
        <Row href={href}>
          <span class="what">{what}</span>
          {states.map((state) => state && <Chip text={state[0]} tone={state[1]} />)}
          {side !== undefined && <span class="soft">{side}</span>}
          {(meta.length > 0 || address !== undefined) && (
            <span class="meta">
              {address !== undefined && <span class="address mono">{address}</span>}
              {dotted(meta)}
            </span>
          )}
        </Row>
      ))}
    </Rows>
  );
}

/** A list with a heading of its own. */
export function ListSection({
  title,
  beside,
  children,
  ...list
}: {
  readonly title: string;
  /** Beside the heading, such as filters. */
  readonly beside?: Child;
  readonly rows: readonly ListRow[];
  readonly empty?: Child;
  /** Below the list, such as a pager. */
  readonly children?: Child;
}): JSX.Element {
  return (
    <section aria-label={title}>
      {beside === undefined ? (
        <h2>{title}</h2>
      ) : (
        <div class="listhead">
          <h2>{title}</h2>
          {beside}
        </div>
      )}
      <ListRows label={title} {...list} />
      {children}
    </section>
  );
}

/** A page with a list. */
export interface ListPage {
  readonly title: string;
  readonly lead: Child;
  /** Links to forms, beside the heading. */
  readonly ways?: readonly (readonly [query: string, text: string] | false)[];
  /** Above the list. */
  readonly notes?: Child;
  readonly rows: readonly ListRow[];
  /** The name of the list for screen readers (default: the title). */
  readonly label?: string;
  readonly empty: Child;
  /** Below the list, such as a pager. */
  readonly after?: Child;
}

export function listPage({
  title,
  lead,
  ways,
  notes,
  rows,
  label = title,
  empty,
  after,
}: ListPage): PageResult {
  const content = (
    <>
      <PageHeading title={title} lead={lead} ways={ways} />
      {notes}
      <ListRows label={label} rows={rows} empty={empty} />
      {after}
    </>
  );
  return { title, content };
}

/** A heading with links to forms beside it. */
export function PageHeading({
  title,
  lead,
  ways = [],
}: Pick<ListPage, 'title' | 'lead'> & { readonly ways?: ListPage['ways'] }): JSX.Element {
  const links = ways.filter((way) => way !== false);
  return (
    <Heading title={title} lead={lead}>
      {links.length > 0 && (
        <div class="ways">
          {links.map(([query, text]) => (
            <a class="btn small" href={`?${query}`}>
              {text}
            </a>
          ))}
        </div>
      )}
    </Heading>
  );
}
