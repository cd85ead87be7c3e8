import type { JSX } from 'hono/jsx/jsx-runtime';
import { ServiceError } from '../../../../../shared/lib/errors.ts';
import { pluralize } from '../../../../../shared/lib/pluralize.ts';
import { stateHistory } from '../../../../../shared/operations/state/history.ts';
import { stateLoad } from '../../../../../shared/operations/state/load.ts';
import { STATE_PREFIX } from '../../../../../shared/rules/disk-name.ts';
import { AgentText, LongText, Time } from '../../../pages/request-copy.tsx';
import { bytesText } from '../../bytes-text.ts';
import { CHANGES_MAX, jsonChanges, type JsonChange } from '../../json-changes.ts';
import { Nothing, Table, UpLink, type Column } from '../../parts.tsx';
import type { PageContext, PageResult } from '../../page-context.ts';
import { diskUrl } from './parts.tsx';
import { StoredValue } from './json-value.tsx';

/** A version as `state_history` lists it. */
interface Version {
  readonly version: number;
  readonly saved_at: string;
  readonly size_bytes: number;
  readonly note: string | null;
  readonly key_id: string | null;
  readonly agent: string | null;
}

interface Loaded extends Version {
  readonly state: unknown;
}

/** One task's state: a version of it, what that version changed, and the versions there are. */
export async function showState(context: PageContext, task: string): Promise<PageResult> {
  const { items } = (await context.call(stateHistory, { task_id: task })) as {
    items: readonly Version[];
  };
  const named = (field: string): Version | undefined =>
    items.find(({ version }) => `${version}` === context.query(field));
  const chosen = context.query('version') === undefined ? items[0] : named('version');
  if (!chosen) throw new ServiceError('NOT_FOUND');
  const shown = await load(context, task, chosen);
  const other = named('with') ?? items[items.indexOf(chosen) + 1];
  const prefix = task.slice(0, task.lastIndexOf('/') + 1);
  const content = (
    <>
      <UpLink href={diskUrl(context, 'states', { prefix })} whole>
        Task states
      </UpLink>
      <div class="stack">
        <h1>
          <AgentText text={task} reading="exact" />
        </h1>
        <About context={context} chosen={chosen} isNewest={chosen === items[0]} />
        <StoredValue context={context} value={shown.state} noun="state" />
        {other && <Changes context={context} pair={[shown, await load(context, task, other)]} />}
      </div>
      <Versions context={context} task={task} items={items} chosen={chosen} />
    </>
  );
  return { title: 'Task state', content, wide: true };
}

async function load(context: PageContext, task: string, version: Version): Promise<Loaded> {
  const input = { task_id: task, version: version.version };
  const loaded = (await context.call(stateLoad, input)) as { state: unknown } | null;
  if (loaded === null) throw new ServiceError('NOT_FOUND');
  return { ...version, state: loaded.state };
}

function About({
  context,
  chosen,
  isNewest,
}: {
  readonly context: PageContext;
  readonly chosen: Version;
  readonly isNewest: boolean;
}): JSX.Element {
  const { version, saved_at: savedAt, size_bytes: size, agent, note } = chosen;
  return (
    <>
      <p class="soft">
        {isNewest ? 'The newest version' : `Version ${version}`}, saved{' '}
        <Time at={Date.parse(savedAt)} now={context.now} />
        {agent !== null && (
          <>
            {' by '}
            <AgentText text={agent} reading="line" />
          </>
        )}
        , {bytesText(size)}
      </p>
      {note !== null && (
        <blockquote class="quote">
          <LongText text={note} mono={false} />
        </blockquote>
      )}
    </>
  );
}

const VALUE_SHOWN_CHARS = 300;

function ChangedValue({ text }: { readonly text: string | null }): JSX.Element {
  if (text === null) return <span class="soft">nothing</span>;
  const isLong = text.length > VALUE_SHOWN_CHARS;
  const shown = isLong ? `${text.slice(0, VALUE_SHOWN_CHARS).toWellFormed()}…` : text;
  return <AgentText text={shown} reading="code" />;
}

/** What is different between two versions. */
function Changes({
  context,
  pair,
}: {
  readonly context: PageContext;
  readonly pair: readonly [Loaded, Loaded];
}): JSX.Element {
  const [one, other] = pair;
  const [older, newer] = one.version < other.version ? [one, other] : [other, one];
  const changes = jsonChanges(older.state, newer.state);
  const columns: readonly Column<JsonChange>[] = [
    {
      title: 'Where',
      cell: ({ path }) => (path === '' ? 'the whole' : <AgentText text={path} reading="code" />),
    },
    {
      title: `Version ${older.version}`,
      cell: ({ before }) => <ChangedValue text={before} />,
    },
    { title: `Version ${newer.version}`, cell: ({ after }) => <ChangedValue text={after} /> },
  ];
  return (
    <section aria-labelledby="changes">
      <h2 id="changes">
        {changes.length === 0 ? 'No change' : pluralize(changes.length, 'change')} from version{' '}
        {`${older.version} to ${newer.version}`}, saved{' '}
        <Time at={Date.parse(older.saved_at)} now={context.now} /> and{' '}
        <Time at={Date.parse(newer.saved_at)} now={context.now} />
      </h2>
      {changes.length === 0 ? (
        <Nothing>Both versions hold the same.</Nothing>
      ) : (
        <Table caption="What changed between two versions" columns={columns} items={changes} />
      )}
      {changes.length >= CHANGES_MAX && (
        <p class="soft">These are the first {CHANGES_MAX.toString()} changes.</p>
      )}
    </section>
  );
}

function Versions({
  context,
  task,
  items,
  chosen,
}: {
  readonly context: PageContext;
  readonly task: string;
  readonly items: readonly Version[];
  readonly chosen: Version;
}): JSX.Element {
  return (
    <section class="act card stack" aria-labelledby="versions">
      <h2 id="versions">{pluralize(items.length, 'version')}</h2>
      <ol class="versions">
        {items.map(({ version, saved_at: savedAt, agent, note }) => (
          <li>
            <a
              href={diskUrl(context, 'states', { task, version: `${version}` })}
              {...(version === chosen.version && { 'aria-current': 'true' as const })}
              data-row
            >
              <Time at={Date.parse(savedAt)} now={context.now} />
            </a>
            <span class="soft">
              version {version.toString()}
              {agent !== null && (
                <>
                  {' by '}
                  <AgentText text={agent} reading="line" />
                </>
              )}
            </span>
            {version !== chosen.version && (
              <a
                href={diskUrl(context, 'states', {
                  task,
                  version: `${chosen.version}`,
                  with: `${version}`,
                })}
              >
                Compare
              </a>
            )}
            {note !== null && (
              <span class="soft remark">
                <AgentText text={note} reading="line" />
              </span>
            )}
          </li>
        ))}
      </ol>
      <p class="soft">Earlier versions, up to 20, are kept for 30 days.</p>
      <a class="btn small" href={diskUrl(context, undefined, { key: STATE_PREFIX + task })}>
        As a key
      </a>
    </section>
  );
}
