import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import type { AnswerOf } from '../../../../../shared/kernel/operation.ts';
import { ServiceError } from '../../../../../shared/lib/errors.ts';
import { pluralize } from '../../../../../shared/lib/pluralize.ts';
import { stateHistory } from '../../../../../shared/operations/state/history.ts';
import { stateLoad } from '../../../../../shared/operations/state/load.ts';
import { STATE_PREFIX } from '../../../../../shared/rules/disk/disk-name.ts';
import { AgentText, LongText } from '../../../pages/request-copy.tsx';
import { bytesText } from '../../../ui/bytes-text.ts';
import { CHANGES_MAX, jsonChanges, type JsonChange } from '../../../ui/json/json-changes.ts';
import { exact, line, time } from '../../../ui/text.tsx';
import { Nothing, Table, UpLink, type Column } from '../../../ui/parts.tsx';
import type { PageContext, PageResult } from '../../page-context.ts';
import { StoredValue } from './json-value.tsx';
import { diskUrl, folderUrl } from './parts.tsx';

type Version = AnswerOf<typeof stateHistory>['items'][number];

interface LoadedState extends Version {
  readonly state: unknown;
}

/** One task's state: a version of it, what that version changed, and the versions there are. */
export async function showState(context: PageContext, task: string): Promise<PageResult> {
  const { items } = await context.call(stateHistory, { task_id: task });
  const named = (field: string): Version | undefined =>
    items.find(({ version }) => `${version}` === context.query(field));
  const chosen = context.query('version') === undefined ? items[0] : named('version');
  if (!chosen) throw new ServiceError('NOT_FOUND');
  const shown = await load(context, task, chosen);
  const other = named('with') ?? items[items.indexOf(chosen) + 1];
  const content = (
    <>
      <UpLink href={folderUrl(context, 'states', task)} whole>
        Task states
      </UpLink>
      <div class="stack">
        <h1>{exact(task)}</h1>
        {about(context, chosen, chosen === items[0])}
        <StoredValue context={context} value={shown.state} noun="state" />
        {other && changes(context, shown, await load(context, task, other))}
      </div>
      <section class="act card stack" aria-labelledby="versions">
        <h2 id="versions">{pluralize(items.length, 'version')}</h2>
        <ol class="versions">
          {items.map((version) => versionLine(context, task, { version, chosen }))}
        </ol>
        <p class="soft">Earlier versions, up to 20, are kept for 30 days.</p>
        <a class="btn small" href={diskUrl(context, undefined, { key: STATE_PREFIX + task })}>
          As a key
        </a>
      </section>
    </>
  );
  return { title: 'Task state', content, wide: true };
}

async function load(context: PageContext, task: string, version: Version): Promise<LoadedState> {
  const input = { task_id: task, version: version.version };
  const loaded = await context.call(stateLoad, input);
  if (loaded === null) throw new ServiceError('NOT_FOUND');
  return { ...version, state: loaded.state };
}

function byAgent({ agent }: Version): Child {
  return agent !== null && <> by {line(agent)}</>;
}

function about(context: PageContext, chosen: Version, isNewest: boolean): JSX.Element {
  const { version, saved_at: savedAt, size_bytes: size, note } = chosen;
  return (
    <>
      <p class="soft">
        {isNewest ? 'The newest version' : `Version ${version}`}, saved {time(context, savedAt)}
        {byAgent(chosen)}, {bytesText(size)}
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

function changedValue(text: string | null): JSX.Element {
  if (text === null) return <span class="soft">nothing</span>;
  const isLong = text.length > VALUE_SHOWN_CHARS;
  const shown = isLong ? `${text.slice(0, VALUE_SHOWN_CHARS).toWellFormed()}…` : text;
  return <AgentText text={shown} reading="code" />;
}

/** What is different between two versions. */
function changes(context: PageContext, one: LoadedState, other: LoadedState): JSX.Element {
  const [older, newer] = one.version < other.version ? [one, other] : [other, one];
  const found = jsonChanges(older.state, newer.state);
  const columns: readonly Column<JsonChange>[] = [
    {
      title: 'Where',
      cell: ({ path }) => (path === '' ? 'the whole' : <AgentText text={path} reading="code" />),
    },
    { title: `Version ${older.version}`, cell: ({ before }) => changedValue(before) },
    { title: `Version ${newer.version}`, cell: ({ after }) => changedValue(after) },
  ];
  return (
    <section aria-labelledby="changes">
      <h2 id="changes">
        {found.length === 0 ? 'No change' : pluralize(found.length, 'change')} from version{' '}
        {`${older.version} to ${newer.version}`}, saved {time(context, older.saved_at)} and{' '}
        {time(context, newer.saved_at)}
      </h2>
      {found.length === 0 ? (
        <Nothing>Both versions hold the same.</Nothing>
      ) : (
        <Table caption="What changed between two versions" columns={columns} items={found} />
      )}
      {found.length >= CHANGES_MAX && (
        <p class="soft">These are the first {CHANGES_MAX.toString()} changes.</p>
      )}
    </section>
  );
}

function versionLine(
  context: PageContext,
  task: string,
  { version: one, chosen }: { readonly version: Version; readonly chosen: Version },
): JSX.Element {
  const { saved_at: savedAt, note } = one;
  const [version, shown] = [`${one.version}`, `${chosen.version}`];
  return (
    <li>
      <a
        href={diskUrl(context, 'states', { task, version })}
        {...(one === chosen && { 'aria-current': 'true' as const })}
        data-row
      >
        {time(context, savedAt)}
      </a>
      <span class="soft">
        version {version}
        {byAgent(one)}
      </span>
      {one !== chosen && (
        <a href={diskUrl(context, 'states', { task, version: shown, with: version })}>Compare</a>
      )}
      {note !== null && <span class="soft remark">{line(note)}</span>}
    </li>
  );
}
