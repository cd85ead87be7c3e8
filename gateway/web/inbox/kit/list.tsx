import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { Chip, Heading, Nothing, Row, Rows, type Tone } from '../parts.tsx';
import { dotted } from './text.tsx';
import type { PageResult } from '../page-context.ts';

export type State = readonly [text: string, tone: Tone];

/** One item of a list. */
export interface ListRow {
  readonly href: string;
  readonly what: Child;
  readonly states?: readonly (State | false)[];
  /** Stands on a line of its own. */
  readonly address?: string;
  /** What else there is to say about it; dots go between. */
  readonly meta: readonly (Child | null | false)[];
}

export function ListRows({
  label,
  rows,
  empty,
}: {
  readonly label: string;
  readonly rows: readonly ListRow[];
  /** What to say if there are none. */
  readonly empty: Child;
}): JSX.Element {
  if (rows.length === 0) return <Nothing>{empty}</Nothing>;
  return (
    <Rows label={label}>
      {rows.map(({ href, what, states = [], address, meta }) => (
        <Row href={href}>
          <span class="what">{what}</span>
          {states.map((state) => state && <Chip text={state[0]} tone={state[1]} />)}
          <span class="meta">
            {address !== undefined && <span class="address mono">{address}</span>}
            {dotted(meta)}
          </span>
        </Row>
      ))}
    </Rows>
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
  readonly empty: Child;
  /** Below the list, such as a pager. */
  readonly after?: Child;
}

export function listPage({ title, lead, ways, notes, rows, empty, after }: ListPage): PageResult {
  const content = (
    <>
      <PageHeading title={title} lead={lead} ways={ways} />
      {notes}
      <ListRows label={title} rows={rows} empty={empty} />
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
