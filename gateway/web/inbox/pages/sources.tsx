import type { JSX } from 'hono/jsx/jsx-runtime';
import { AgentText } from '../../pages/request-copy.tsx';
import { Age } from '../event-copy.tsx';
import { Chip, Heading, Nothing, Row, Rows } from '../parts.tsx';
import { addressOf, checkOf, sourcesOf, type Source } from '../source-queries.ts';
import type { ActionResult, PageResult, UiPage, PageContext } from '../page-context.ts';
import { addSource, showAddSource, typeToAdd } from './add-source.tsx';
import { removeSource, showSource } from './source.tsx';
import { pluralize } from '../../../../shared/lib/pluralize.ts';

/** The addresses where senders send events. */
export const sourcesPage: UiPage = {
  path: 'sources',
  title: 'Sources',
  group: 'settings',
  setting: { section: 'Connections', about: 'Where events and mail come in.' },
  scope: 'admin',
  // Events change the counts.
  topics: ['sources', 'events'],
  show,
  act,
};

function show(context: PageContext): Promise<PageResult> {
  if (context.id !== null) return showSource(context, context.id);
  const type = typeToAdd(context);
  return type === null ? showList(context) : Promise.resolve(showAddSource(context, type));
}

function act(context: PageContext, body: string): Promise<ActionResult> {
  if (context.id !== null) return removeSource(context, context.id, body);
  const type = typeToAdd(context);
  return type === null
    ? Promise.resolve({ to: context.at('sources') })
    : addSource(context, type, body);
}

async function showList(context: PageContext): Promise<PageResult> {
  const sources = await sourcesOf(context);
  const takesMail = context.inbox.mailDomain !== null;
  const hasMail = sources.some(({ type }) => type === 'email');
  const content = (
    <>
      <Heading title="Sources" lead="The addresses that senders send to.">
        <div class="ways">
          {takesMail && !hasMail && (
            <a class="btn small" href="?add=email">
              Receive mail
            </a>
          )}
          <a class="btn small" href="?add=webhook">
            Add a webhook
          </a>
        </div>
      </Heading>
      {sources.length === 0 ? (
        <Nothing>No sources yet, so nothing can come in.</Nothing>
      ) : (
        <Rows label="Sources">
          {sources.map((source) => (
            <SourceRow context={context} source={source} />
          ))}
        </Rows>
      )}
    </>
  );
  return { title: 'Sources', content };
}

function SourceRow({
  context,
  source,
}: {
  readonly context: PageContext;
  readonly source: Source;
}): JSX.Element {
  const { name, events_24h: taken, rejected_24h: rejected, last_event_at: last } = source;
  const [text, tone] = checkOf(source);
  return (
    <Row href={context.at('sources', name)}>
      <AgentText text={name} reading="exact" class="what mono" />
      <Chip text={text} tone={tone} />
      {source.limited !== null && <Chip text="limited" tone="warn" />}
      <span class="meta">
        <span class="address mono">{addressOf(source)}</span>
        {pluralize(taken, 'event')} in 24 h
        {rejected > 0 && (
          <>
            {' · '}
            <span class="risk high">{rejected.toString()} rejected</span>
          </>
        )}
        {' · '}
        {last === null ? (
          'nothing received yet'
        ) : (
          <>
            last <Age at={last} now={context.now} />
          </>
        )}
      </span>
    </Row>
  );
}
