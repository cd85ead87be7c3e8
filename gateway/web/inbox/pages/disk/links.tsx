import type { JSX } from 'hono/jsx/jsx-runtime';
import { fileUrl } from '../../../../../shared/operations/file/url.ts';
import { confirm } from '../../../ui/confirm.tsx';
import { allLinks, endLink, findLink, type FileLink } from './disk-queries.ts';
import { due, line, mono } from '../../../ui/text.tsx';
import { Chip, Nothing, Pager, Table, type Column } from '../../../ui/parts.tsx';
import { fieldsOf } from '../../../ui/refusal.ts';
import type { ActionResult, PageContext, PageResult } from '../../page-context.ts';
import { diskHead, diskUrl, named } from './parts.tsx';

/** The query field that names a link to end. */
const LINK = 'end';

/** The public links to files, the first to end first. */
export async function showLinks(context: PageContext): Promise<PageResult> {
  const asked = context.query(LINK);
  const link = asked === undefined ? null : await context.read(findLink, { id: asked });
  if (link && context.may(fileUrl)) return askToEnd(context, link);
  const { links, nextCursor } = await context.read(allLinks, { cursor: context.query('cursor') });
  const content = (
    <>
      {diskHead(context, 'links')}
      {links.length === 0 ? (
        <Nothing>No public links. Agents make them with file_url.</Nothing>
      ) : (
        linkTable(context, links)
      )}
      <Pager context={context} next={nextCursor} words={['First', 'Next']} />
    </>
  );
  return { title: 'Public links', content };
}

/** Ends a link at once. */
export async function actOnLink(context: PageContext, body: string): Promise<ActionResult> {
  const form = fieldsOf(body, ['act', 'link']);
  const link = form?.link === undefined ? null : await context.read(findLink, { id: form.link });
  if (form?.act === 'end' && link) await endLink(context, link);
  return { to: diskUrl(context, 'links') };
}

function askToEnd(context: PageContext, { id, path }: FileLink): PageResult {
  const effect = 'Whoever has the link can’t download the file any more. The file stays.';
  const question = {
    heading: 'End this link?',
    consequences: named(path, effect),
    hidden: [['link', id]] as const,
    yes: 'Yes, end it',
  };
  return confirm(context, question, { act: 'end', back: diskUrl(context, 'links') });
}

export function linkTable(context: PageContext, links: readonly FileLink[]): JSX.Element {
  const columns: readonly Column<FileLink>[] = [
    {
      title: 'File',
      cell: ({ path }) => (
        <a class="go" href={diskUrl(context, 'files', { path })}>
          {mono(path)}
        </a>
      ),
    },
    {
      title: 'Ends',
      cell: ({ expiresAt, isOpen }) => (
        <span>
          {isOpen ? due(context, expiresAt) : <Chip text="Doesn’t open any more" tone="calm" />}
        </span>
      ),
    },
    {
      title: 'Made by',
      cell: ({ keyName, requestId }) => (
        <span>
          {line(keyName)}
          {requestId !== null && (
            <>
              {', '}
              <a class="go" href={context.at('requests', requestId)}>
                approved
              </a>
            </>
          )}
        </span>
      ),
    },
    {
      title: 'Action',
      cell: ({ id }) => (
        <a class="go" href={diskUrl(context, 'links', { [LINK]: id })}>
          End link
        </a>
      ),
    },
  ];
  const shown = context.may(fileUrl) ? columns : columns.slice(0, -1);
  return <Table caption="Public links to files" columns={shown} items={links} />;
}
