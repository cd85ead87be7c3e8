import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { mayCall } from '../../../../../shared/lib/scopes.ts';
import { AgentText } from '../../../pages/request-copy.tsx';
import type { Entry, Level } from '../../disk-queries.ts';
import { Field } from '../../fields.tsx';
import { Heading, Nothing, Pager, Row, Rows } from '../../parts.tsx';
import type { PageContext } from '../../page-context.ts';

const SECTIONS = [
  [undefined, 'Keys'],
  ['states', 'Task states'],
  ['files', 'Files'],
  ['links', 'Public links'],
] as const;

export type Section = (typeof SECTIONS)[number][0];

const PREFIX_MAX_CHARS = 512;

/** The URL of a section of the disk, or of a thing in it. Names are in the query: a path can't end in `..` or `/`. */
export function diskUrl(
  context: PageContext,
  section: Section,
  query: Readonly<Record<string, string>> = {},
): string {
  const search = new URLSearchParams(query).toString();
  return context.at('disk', section) + (search === '' ? '' : `?${search}`);
}

/** Whether the visitor may change the disk. */
export function mayChange({ access }: PageContext): boolean {
  return mayCall(access.scopes, 'disk');
}

/** The heading of each section, with links to the others. */
export function DiskHead({
  context,
  section,
}: {
  readonly context: PageContext;
  readonly section: Section;
}): JSX.Element {
  const { diskPrefixes } = context.access;
  return (
    <>
      <Heading title="Disk" lead="What agents keep between their runs, and share." />
      <nav class="filters" aria-label="Disk">
        {SECTIONS.map(([name, title]) => (
          <a
            href={diskUrl(context, name)}
            {...(name === section && { 'aria-current': 'page' as const })}
          >
            {title}
          </a>
        ))}
      </nav>
      {diskPrefixes !== null && (
        <p class="soft">
          This key sees only names that start with{' '}
          <AgentText text={diskPrefixes.join(', ')} reading="exact" class="mono" />
        </p>
      )}
    </>
  );
}

/** Where the reader is: each folder above is a link. */
export function Crumbs({
  context,
  section,
  under,
}: {
  readonly context: PageContext;
  readonly section: Section;
  readonly under: string;
}): JSX.Element | null {
  if (under === '') return null;
  const folders = under.split('/').slice(0, -1);
  return (
    <nav class="crumbs mono" aria-label="Folders above">
      <a href={diskUrl(context, section)}>Top</a>
      {folders.map((name, index) => (
        <>
          <span aria-hidden="true">/</span>
          <a
            href={diskUrl(context, section, {
              prefix: `${folders.slice(0, index + 1).join('/')}/`,
            })}
          >
            <AgentText text={name === '' ? '(empty)' : name} reading="exact" />
          </a>
        </>
      ))}
    </nav>
  );
}

/** Filters a list by the beginning of names. */
export function PrefixForm({
  prefix,
  what,
}: {
  readonly prefix: string;
  /** Such as `Keys`. */
  readonly what: string;
}): JSX.Element {
  return (
    <form class="prefix" role="search">
      <Field
        name="prefix"
        label={`${what} that start with`}
        value={prefix}
        maxlength={PREFIX_MAX_CHARS}
        placeholder="reports/"
      />
      <button class="btn small">Filter</button>
    </form>
  );
}

/** The folders and names of a level. */
export function LevelRows<T>({
  context,
  section,
  level,
  base = '',
  name,
  empty,
  children,
}: {
  readonly context: PageContext;
  readonly section: Section;
  readonly level: Level<T>;
  /** The folder that is the section's top. */
  readonly base?: string;
  /** For screen readers. */
  readonly name: string;
  readonly empty: string;
  /** The row of a name. */
  readonly children: (item: T) => Child;
}): JSX.Element {
  const { entries, under } = level;
  if (entries.length === 0) return <Nothing>{empty}</Nothing>;
  return (
    <>
      <Rows label={name}>
        {entries.map((entry: Entry<T>) =>
          entry.folder === null ? (
            children(entry.item)
          ) : (
            <Row href={diskUrl(context, section, { prefix: entry.folder.slice(base.length) })}>
              <AgentText
                text={entry.folder.slice(under.length)}
                reading="exact"
                class="what mono"
              />
              <span class="soft">Folder</span>
            </Row>
          ),
        )}
      </Rows>
      <Pager
        context={context}
        next={level.nextCursor}
        keep={['prefix']}
        words={['First', 'Next']}
      />
    </>
  );
}
