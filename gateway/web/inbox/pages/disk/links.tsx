import type { JSX } from 'hono/jsx/jsx-runtime';
import { AgentText, Time } from '../../../pages/request-copy.tsx';
import { lengthOfTime } from '../../../pages/time.ts';
import { confirm } from '../../confirm.tsx';
import { allLinks, endLink, findLink, type FileLink } from '../../disk-queries.ts';
import { Chip, Nothing, Pager, Table, type Column } from '../../parts.tsx';
import { fieldsOf } from '../../refusal.ts';
import type { ActionResult, PageContext, PageResult } from '../../page-context.ts';
import { DiskHead, diskUrl, mayChange } from './parts.tsx';

/** The query field that names a link to end. */
const LINK = 'end';

/** The public links to files, the first to end first. */
export async function showLinks(context: PageContext): Promise<PageResult> {
  const asked = context.query(LINK);
  const link = asked === undefined ? null : await findLink(context, asked);
  if (link && mayChange(context)) return askToEnd(context, link);
  const { links, nextCursor } = await allLinks(context);
  const content = (
    <>
      <DiskHead context={context} section="links" />
      {links.length === 0 ? (
        <Nothing>No public links. Agents make them with file_url.</Nothing>
      ) : (
        <LinkRows context={context} links={links} />
      )}
      <Pager context={context} next={nextCursor} words={['First', 'Next']} />
    </>
  );
  return { title: 'Public links', content };
}

/** Ends a link at once. */
export async function actOnLink(context: PageContext, body: string): Promise<ActionResult> {
  const form = fieldsOf(body, ['act', 'link']);
  const link = form?.link === undefined ? null : await findLink(context, form.link);
  if (form?.act === 'end' && link && mayChange(context)) await endLink(context, link);
  return { to: diskUrl(context, 'links') };
}

function askToEnd(context: PageContext, { id, path }: FileLink): PageResult {
  return confirm(context, {
    heading: 'End this link?',
    back: diskUrl(context, 'links'),
    consequences: (
      <>
        <p>
          <AgentText text={path} reading="exact" class="mono" />
        </p>
        <p>Whoever has the link can’t download the file any more. The file stays.</p>
      </>
    ),
    fields: <input type="hidden" name="link" value={id} />,
    act: 'end',
    yes: 'Yes, end it',
  });
}

export function LinkRows({
  context,
  links,
}: {
  readonly context: PageContext;
  readonly links: readonly FileLink[];
}): JSX.Element {
  const columns: readonly Column<FileLink>[] = [
    {
      title: 'File',
      cell: ({ path }) => (
        <a class="go" href={diskUrl(context, 'files', { path })}>
          <AgentText text={path} reading="exact" class="mono" />
        </a>
      ),
    },
    {
      title: 'Ends',
      cell: (link) => <End context={context} link={link} />,
    },
    {
      title: 'Made by',
      cell: ({ keyName, requestId }) => (
        <span>
          <AgentText text={keyName} reading="line" />
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
    ...(mayChange(context)
      ? [
          {
            title: 'Action',
            cell: ({ id }: FileLink) => (
              <a class="go" href={diskUrl(context, 'links', { [LINK]: id })}>
                End link
              </a>
            ),
          },
        ]
      : []),
  ];
  return <Table caption="Public links to files" columns={columns} items={links} />;
}

function End({
  context: { now },
  link: { expiresAt, isOpen },
}: {
  readonly context: PageContext;
  readonly link: FileLink;
}): JSX.Element {
  return (
    <span>
      {isOpen ? (
        <>
          in {lengthOfTime(expiresAt - now)}, at <Time at={expiresAt} now={now} />
        </>
      ) : (
        <Chip text="Doesn’t open any more" tone="calm" />
      )}
    </span>
  );
}
