import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { Heading } from '../../../ui/parts.tsx';
import { exact, mono } from '../../../ui/text.tsx';
import type { PageContext } from '../../page-context.ts';

const SECTIONS = [
  [undefined, 'Keys'],
  ['states', 'Task states'],
  ['files', 'Files'],
  ['links', 'Public links'],
] as const;

export type Section = (typeof SECTIONS)[number][0];

/** The URL of a section of the disk, or of a thing in it. Names are in the query: a path can't end in `..` or `/`. */
export function diskUrl(
  context: PageContext,
  section: Section,
  query: Readonly<Record<string, string>> = {},
): string {
  const search = new URLSearchParams(query).toString();
  return context.at('disk', section) + (search === '' ? '' : `?${search}`);
}

/** The URL of the folder of a name. */
export function folderUrl(context: PageContext, section: Section, name: string): string {
  return diskUrl(context, section, { prefix: name.slice(0, name.lastIndexOf('/') + 1) });
}

/** What a question before a deletion says: the thing's name, and what follows. */
export function named(name: string, effect: Child): JSX.Element {
  return (
    <>
      <p>{mono(name)}</p>
      <p>{effect}</p>
    </>
  );
}

/** The heading of each section, with links to the others. */
export function diskHead(context: PageContext, section: Section): JSX.Element {
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
        <p class="soft">This key sees only names that start with {mono(diskPrefixes.join(', '))}</p>
      )}
    </>
  );
}

/** Where the reader is: each folder above is a link. */
export function crumbs(context: PageContext, section: Section, under: string): JSX.Element | null {
  if (under === '') return null;
  const folders = under.split('/').slice(0, -1);
  return (
    <nav class="crumbs mono" aria-label="Folders above">
      <a href={diskUrl(context, section)}>Top</a>
      {folders.map((name, index) => {
        const prefix = `${folders.slice(0, index + 1).join('/')}/`;
        return (
          <>
            <span aria-hidden="true">/</span>
            <a href={diskUrl(context, section, { prefix })}>
              {exact(name === '' ? '(empty)' : name)}
            </a>
          </>
        );
      })}
    </nav>
  );
}
