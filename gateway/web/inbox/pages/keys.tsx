import type { JSX } from 'hono/jsx/jsx-runtime';
import { mayCall } from '../../../../shared/lib/scopes.ts';
import { AgentText, Time } from '../../pages/request-copy.tsx';
import { Age } from '../event-copy.tsx';
import { endOfKey, isWorking, keysOf, keyState, type Key } from '../key-queries.ts';
import { Chip, Heading, Nothing, Pager, Row, Rows } from '../parts.tsx';
import type { Acted, Shown, UiPage, Visit } from '../visit.ts';
import { addKey, showAddKey } from './add-key.tsx';
import { actOnKey, showKey } from './key.tsx';

/** What agents and programs come in with. */
export const keysPage: UiPage = {
  path: 'keys',
  title: 'Keys',
  scope: 'any',
  // New keys, and the use of any, are told by no topic of their own.
  topics: ['any'],
  show,
  act,
};

/** The form of a new key was asked for, by whoever may make one. */
function isAdding(visit: Visit): boolean {
  return visit.query('add') !== undefined && mayMake(visit);
}

function mayMake({ access }: Visit): boolean {
  return mayCall(access.scopes, 'admin');
}

function show(visit: Visit): Promise<Shown> {
  if (visit.id !== null) return showKey(visit, visit.id);
  return isAdding(visit) ? Promise.resolve(showAddKey(visit)) : showList(visit);
}

function act(visit: Visit, body: string): Promise<Acted> {
  if (visit.id !== null) return actOnKey(visit, visit.id, body);
  return isAdding(visit) ? addKey(visit, body) : Promise.resolve({ to: visit.at('keys') });
}

async function showList(visit: Visit): Promise<Shown> {
  const { items, next_cursor: next } = await keysOf(visit, visit.query('cursor'));
  const working = items.filter((key) => isWorking(key, visit.now));
  const ended = items.filter((key) => !isWorking(key, visit.now));
  const isAdmin = mayMake(visit);
  const content = (
    <>
      <Heading
        title="Keys"
        lead={
          isAdmin
            ? 'What agents and programs come in with. Give each one of its own.'
            : 'A key without the scope admin sees itself alone.'
        }
      >
        {isAdmin && (
          <a class="btn small" href="?add">
            Make a key
          </a>
        )}
      </Heading>
      <KeyList visit={visit} id="working" title="In use" keys={working} />
      {ended.length > 0 && (
        <KeyList visit={visit} id="ended" title="Revoked or expired" keys={ended} />
      )}
      <Pager visit={visit} next={next} words={['First', 'Next']} />
    </>
  );
  return { title: 'Keys', content };
}

function KeyList({
  visit,
  id,
  title,
  keys,
}: {
  readonly visit: Visit;
  readonly id: string;
  readonly title: string;
  readonly keys: readonly Key[];
}): JSX.Element {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {keys.length === 0 ? (
        <Nothing>There is no such key.</Nothing>
      ) : (
        <Rows label={title}>
          {keys.map((key) => (
            <KeyRow visit={visit} apiKey={key} />
          ))}
        </Rows>
      )}
    </section>
  );
}

function KeyRow({ visit, apiKey }: { readonly visit: Visit; readonly apiKey: Key }): JSX.Element {
  const { id, name, scopes, expires_at: expires, last_used_at: last } = apiKey;
  const [text, tone] = keyState(apiKey, visit.now);
  return (
    <Row href={visit.at('keys', id)}>
      <span class="what">
        <AgentText text={name} reading="line" /> <span class="mono soft">{endOfKey(apiKey)}</span>
        {id === visit.access.actor && <span class="tag">This session</span>}
      </span>
      <Chip text={text} tone={tone} />
      <span class="meta">
        <span class="mono">{scopes.join(', ')}</span>
        {' · '}
        {last === null ? (
          'never used'
        ) : (
          <>
            last used <Age at={last} now={visit.now} />
          </>
        )}
        {expires !== null && isWorking(apiKey, visit.now) && (
          <>
            {' · until '}
            <Time at={Date.parse(expires)} now={visit.now} />
          </>
        )}
      </span>
    </Row>
  );
}
