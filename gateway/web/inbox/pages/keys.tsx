import type { JSX } from 'hono/jsx/jsx-runtime';
import { mayCall } from '../../../../shared/lib/scopes.ts';
import { AgentText, Time } from '../../pages/request-copy.tsx';
import { Age } from '../event-copy.tsx';
import { endOfKey, isWorking, keysOf, keyState, type Key } from '../key-queries.ts';
import { Chip, Heading, Nothing, Pager, Row, Rows } from '../parts.tsx';
import type { ActionResult, PageResult, UiPage, PageContext } from '../page-context.ts';
import { addKey, showAddKey } from './add-key.tsx';
import { actOnKey, showKey } from './key.tsx';

/** The keys of agents and programs. */
export const keysPage: UiPage = {
  path: 'keys',
  title: 'Keys',
  group: 'settings',
  setting: { section: 'Access', about: 'What agents and programs sign in with.' },
  scope: 'any',
  // New keys, and the use of keys, have no topic of their own.
  topics: ['any'],
  show,
  act,
};

/** True if the visitor asked for the form and may create keys. */
function isAdding(context: PageContext): boolean {
  return context.query('add') !== undefined && mayMake(context);
}

function mayMake({ access }: PageContext): boolean {
  return mayCall(access.scopes, 'admin');
}

function show(context: PageContext): Promise<PageResult> {
  if (context.id !== null) return showKey(context, context.id);
  return isAdding(context) ? Promise.resolve(showAddKey(context)) : showList(context);
}

function act(context: PageContext, body: string): Promise<ActionResult> {
  if (context.id !== null) return actOnKey(context, context.id, body);
  return isAdding(context) ? addKey(context, body) : Promise.resolve({ to: context.at('keys') });
}

async function showList(context: PageContext): Promise<PageResult> {
  const { items, next_cursor: next } = await keysOf(context, context.query('cursor'));
  const working = items.filter((key) => isWorking(key, context.now));
  const ended = items.filter((key) => !isWorking(key, context.now));
  const isAdmin = mayMake(context);
  const content = (
    <>
      <Heading
        title="Keys"
        lead={
          isAdmin
            ? 'Agents and programs sign in with keys. Give each its own.'
            : 'A key without the admin scope sees only itself.'
        }
      >
        {isAdmin && (
          <a class="btn small" href="?add">
            Create key
          </a>
        )}
      </Heading>
      <KeyList context={context} id="working" title="In use" keys={working} />
      {ended.length > 0 && (
        <KeyList context={context} id="ended" title="Revoked or expired" keys={ended} />
      )}
      <Pager context={context} next={next} words={['First', 'Next']} />
    </>
  );
  return { title: 'Keys', content };
}

function KeyList({
  context,
  id,
  title,
  keys,
}: {
  readonly context: PageContext;
  readonly id: string;
  readonly title: string;
  readonly keys: readonly Key[];
}): JSX.Element {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {keys.length === 0 ? (
        <Nothing>No keys here.</Nothing>
      ) : (
        <Rows label={title}>
          {keys.map((key) => (
            <KeyRow context={context} apiKey={key} />
          ))}
        </Rows>
      )}
    </section>
  );
}

function KeyRow({
  context,
  apiKey,
}: {
  readonly context: PageContext;
  readonly apiKey: Key;
}): JSX.Element {
  const { id, name, client, scopes, disk_prefixes: prefixes } = apiKey;
  const { expires_at: expires, last_used_at: last } = apiKey;
  const [text, tone] = keyState(apiKey, context.now);
  return (
    <Row href={context.at('keys', id)}>
      <span class="what">
        <AgentText text={name} reading="line" /> <span class="mono soft">{endOfKey(apiKey)}</span>
        {id === context.access.actor && <span class="tag">This session</span>}
        {client !== null && <span class="tag">App</span>}
      </span>
      <Chip text={text} tone={tone} />
      <span class="meta">
        {client !== null && (
          <>
            of the app at <AgentText text={client} reading="exact" />
            {' · '}
          </>
        )}
        <span class="mono">{scopes.join(', ')}</span>
        {prefixes !== null && (
          <>
            {' · only '}
            <AgentText text={prefixes.join(', ')} reading="exact" />
          </>
        )}
        {' · '}
        {last === null ? (
          'never used'
        ) : (
          <>
            last used <Age at={last} now={context.now} />
          </>
        )}
        {expires !== null && isWorking(apiKey, context.now) && (
          <>
            {' · until '}
            <Time at={Date.parse(expires)} now={context.now} />
          </>
        )}
      </span>
    </Row>
  );
}
