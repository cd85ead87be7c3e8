import type { Child } from 'hono/jsx';
import { isoTime } from '../../../../../shared/lib/clock.ts';
import { invalid } from '../../../../../shared/lib/errors.ts';
import { mayGrant, SCOPES } from '../../../../../shared/lib/scopes.ts';
import { keyCreate } from '../../../../../shared/operations/key/create.ts';
import { keyRevoke } from '../../../../../shared/operations/key/revoke.ts';
import { keyRotate } from '../../../../../shared/operations/key/rotate.ts';
import {
  endOfKey,
  isWorking,
  keyOf,
  keysOf,
  keyState,
  SCOPE_LINES,
  type Key,
  type SeenKey,
} from './key-queries.ts';
import { FactsCard, idFact } from '../../../ui/detail.tsx';
import type { FieldSpec, FormPage, SubmittedForm } from '../../../ui/form.tsx';
import { ListSection, PageHeading, type ListRow } from '../../../ui/list.tsx';
import type { Detail } from '../../../ui/item.tsx';
import { resourcePage } from '../../../ui/resource.tsx';
import type { Question } from '../../../ui/confirm.tsx';
import { ago, exact, last, line, time } from '../../../ui/text.tsx';
import { Pager } from '../../../ui/parts.tsx';
import type { ActionResult, PageContext, PageResult } from '../../page-context.ts';
import { aftermathPage, MadeCard } from './aftermath.tsx';
import { showNewKey } from './new-key.tsx';

const NAME_MAX_CHARS = 100;
const PREFIXES_MAX_CHARS = 6000;
const DAY_MS = 86_400_000;

const EXPIRIES = [
  ['', 'never, until you revoke it'],
  ['1', 'in a day'],
  ['7', 'in a week'],
  ['30', 'in 30 days'],
  ['90', 'in 90 days'],
  ['365', 'in a year'],
] as const;

const GRACES = [
  ['0', 'at once'],
  ['3600', 'in an hour'],
  ['86400', 'in a day'],
] as const;

/** The keys of agents and programs. */
export const keysPage = resourcePage<SeenKey>({
  path: 'keys',
  title: 'Keys',
  group: 'settings',
  setting: { section: 'Access', about: 'What agents and programs sign in with.' },
  scope: 'any',
  // New keys, and the use of keys, have no topic of their own.
  topics: ['any'],
  all: 'All keys',
  list,
  form: (context) =>
    context.query('add') !== undefined && isAdmin(context) ? keyForm(context) : null,
  find: keyOf,
  detail,
  acts: [
    { name: 'rotate', text: 'New secret', may: mayRotate, asks: askToRotate, run: rotate },
    {
      name: 'revoke',
      text: 'Revoke',
      may: mayEnd,
      asks: askToRevoke,
      run: revoke,
    },
    { name: 'end', text: 'End what it made', may: mayEndMade, asks: askToEndMade, run: revoke },
  ],
});

function isAdmin({ may }: PageContext): boolean {
  return may(keyCreate);
}

function isOwn({ access }: PageContext, { id }: Key): boolean {
  return access.actor === id;
}

function mayEnd(context: PageContext, key: Key): boolean {
  return isWorking(key) && (isOwn(context, key) || isAdmin(context));
}

/** What somebody kept when they revoked the key, or what it left when it expired. */
function mayEndMade(context: PageContext, key: SeenKey): boolean {
  return !isWorking(key) && key.ends.length > 0 && isAdmin(context);
}

/** Rotating a key shows its secret, so it needs all scopes of that key. */
function mayRotate(context: PageContext, key: Key): boolean {
  return (
    // An app renews its secret itself.
    key.client === null &&
    mayEnd(context, key) &&
    key.scopes.every((scope) => mayGrant(context.access.scopes, scope))
  );
}

async function list(context: PageContext): Promise<PageResult> {
  const { items, next_cursor: next } = await keysOf(context, context.query('cursor'));
  const rowsOf = (working: boolean): ListRow[] =>
    items.filter((key) => isWorking(key) === working).map((key) => rowOf(context, key));
  const ended = rowsOf(false);
  const lead = isAdmin(context)
    ? 'Agents and programs sign in with keys. Give each its own.'
    : 'A key without the admin scope sees only itself.';
  const content = (
    <>
      <PageHeading title="Keys" lead={lead} ways={[isAdmin(context) && ['add', 'Create key']]} />
      <ListSection title="In use" rows={rowsOf(true)} empty="No keys here." />
      {ended.length > 0 && <ListSection title="Revoked or expired" rows={ended} />}
      <Pager context={context} next={next} words={['First', 'Next']} />
    </>
  );
  return { title: 'Keys', content };
}

function rowOf(context: PageContext, key: Key): ListRow {
  const { id, name, client, scopes, disk_prefixes: prefixes, expires_at: expires } = key;
  return {
    href: context.at('keys', id),
    what: (
      <>
        {line(name)} <span class="mono soft">{endOfKey(key)}</span>
        {isOwn(context, key) && <span class="tag">This session</span>}
        {client !== null && <span class="tag">App</span>}
      </>
    ),
    states: [keyState(key)],
    meta: [
      client !== null && <>of the app at {exact(client)}</>,
      <span class="mono">{scopes.join(', ')}</span>,
      prefixes !== null && <>only {exact(prefixes.join(', '))}</>,
      <>by {exact(key.maker)}</>,
      last(context, 'last used', key.last_used_at, 'never used'),
      expires !== null && isWorking(key) && <>until {time(context, expires)}</>,
    ],
  };
}

/** Offers only scopes that the visitor may grant; at first, those that an inbox agent needs. */
function keyForm(context: PageContext): FormPage {
  const scopes = SCOPES.filter((scope) => mayGrant(context.access.scopes, scope));
  return {
    title: 'Create key',
    lead: 'The key is shown once, on the next page.',
    up: [context.at('keys'), 'All keys'],
    fields: [
      {
        name: 'name',
        label: 'What it’s for',
        max: NAME_MAX_CHARS,
        placeholder: 'ci',
        hint: 'Shown in requests and in the ledger.',
      },
      {
        kind: 'checks',
        name: 'scopes',
        label: 'What it can do',
        values: ['inbox:read', 'inbox:write'],
        choices: scopes.map((scope) => [scope, SCOPE_LINES[scope]]),
      },
      {
        name: 'disk_prefixes',
        label: 'Limit it to a part of the disk',
        max: PREFIXES_MAX_CHARS,
        placeholder: 'team-a/',
        hint: 'Optional. It then sees only keys, tasks and files whose names start with this; separate several with commas.',
      },
      { kind: 'choice', name: 'expires_at', label: 'Expires', choices: EXPIRIES },
    ],
    button: 'Create key',
    unread: 'No key was created.',
    submit: (sent) => create(context, sent),
  };
}

/** Shows the key in the answer itself, so that no URL and no log ever contains it. */
async function create(
  context: PageContext,
  { value, values }: SubmittedForm,
): Promise<ActionResult> {
  const scopes = SCOPES.filter((scope) => values('scopes').includes(scope));
  const name = value('name');
  const problems = [
    ...(name === undefined ? [{ path: 'name', message: 'Say what it’s for.' }] : []),
    ...(scopes.length === 0 ? [{ path: 'scopes', message: 'Choose at least one.' }] : []),
  ];
  if (problems.length > 0) throw invalid(...problems);
  const prefixes = value('disk_prefixes');
  const days = EXPIRIES.find(([one]) => one !== '' && one === value('expires_at'))?.[0];
  const key = await context.call(keyCreate, {
    name,
    scopes,
    ...(prefixes !== undefined && { disk_prefixes: prefixes.split(',').map((one) => one.trim()) }),
    ...(days !== undefined && { expires_at: isoTime(context.now + Number(days) * DAY_MS) }),
  });
  return showNewKey(context, key, 'made');
}

async function rotate(
  context: PageContext,
  { id }: SeenKey,
  { value }: SubmittedForm,
): Promise<ActionResult> {
  const end_made = value('made') === 'end';
  const input = { key_id: id, grace_seconds: Number(value('grace') ?? '0'), end_made };
  return showNewKey(context, await context.call(keyRotate, input), 'rotated');
}

/** Of a key that was revoked before it ends the rest. Shows what ended with it, unless the visitor's own session did. */
async function revoke(context: PageContext, key: SeenKey, { value }: SubmittedForm) {
  const keep = value('made') === 'keep';
  const answer = await context.call(keyRevoke, { key_id: key.id, keep });
  if (isOwn(context, key)) return null;
  return aftermathPage(isWorking(key) ? 'Key revoked' : 'Ended', answer, context.at('keys'));
}

const MADE_CHOICES = [
  ['end', 'End it too'],
  ['keep', 'Keep it'],
] as const;

function askToRevoke(context: PageContext, key: SeenKey): Question {
  return {
    heading: 'Revoke this key?',
    consequences: (
      <>
        <p>
          {line(key.name)} <span class="mono">{endOfKey(key)}</span> stops working at once, and so
          do the file links it created. You can’t undo this.
        </p>
        <MadeCard title="What it made, and ends too" things={key.ends} />
        <MadeCard title="What goes on: please check" things={key.stays} />
        {isOwn(context, key) && <p>This session was opened with it, so it ends too.</p>}
      </>
    ),
    fields:
      key.ends.length === 0
        ? []
        : [{ kind: 'choice', name: 'made', label: 'What it made', choices: MADE_CHOICES }],
    yes: 'Yes, revoke it',
  };
}

function askToEndMade(_context: PageContext, key: SeenKey): Question {
  return {
    heading: 'End what this key made?',
    consequences: (
      <>
        <p>
          {line(key.name)} <span class="mono">{endOfKey(key)}</span> no longer works; what it made
          goes on until you end it. You can’t undo this.
        </p>
        <MadeCard title="What ends" things={key.ends} />
        <MadeCard title="What goes on: please check" things={key.stays} />
      </>
    ),
    yes: 'Yes, end it',
  };
}

function askToRotate(context: PageContext, key: SeenKey): Question {
  return {
    heading: 'Give this key a new secret?',
    consequences: (
      <>
        <p>
          {line(key.name)} keeps its name, its scopes and the events it has claimed. The new secret
          is shown once, on the next page. Sessions opened with the old secret end with it.
        </p>
        {isOwn(context, key) && (
          <p>
            This session is one of them. It stays open for at least a minute, or as long as you
            choose.
          </p>
        )}
      </>
    ),
    fields: [
      { kind: 'choice', name: 'grace', label: 'The old secret stops working', choices: GRACES },
      ...madeFields(key),
    ],
    yes: 'Yes, create a new secret',
    tone: 'yes',
  };
}

/** Asked only where it made something: after a leak, whoever had the old secret keeps nothing. */
function madeFields({ ends }: SeenKey): readonly FieldSpec[] {
  if (ends.length === 0) return [];
  const choices = [
    ['keep', 'Keep it'],
    ['end', 'End it, because the old secret leaked'],
  ] as const;
  return [{ kind: 'choice', name: 'made', label: 'What it made', choices }];
}

function detail(context: PageContext, key: SeenKey): Detail {
  const { id, client, scopes, disk_prefixes: prefixes, revoked_at: revoked } = key;
  const canDo = scopes.map((scope) => [
    <span class="mono">{scope}</span>,
    SCOPE_LINES[scope],
  ]) as (readonly [Child, Child])[];
  return {
    title: 'Key',
    heading: (
      <>
        {line(key.name)} {isOwn(context, key) && <span class="tag">This session</span>}
      </>
    ),
    main: (
      <>
        <FactsCard
          title="What it can do"
          facts={[
            ...canDo,
            prefixes !== null && ['Only names that start with', exact(prefixes.join(', '))],
          ]}
        />
        <FactsCard
          title="About this key"
          facts={[
            client !== null && [
              'App',
              <>{exact(client)}, let in by a person. It renews its secret every hour.</>,
            ],
            ['Ends in', <span class="mono">{endOfKey(key)}</span>],
            ['Created', ago(context, key.created_at)],
            ['Made by', exact(key.maker)],
            ['Last used', ago(context, key.last_used_at, 'never')],
            ['Expires', time(context, key.expires_at)],
            revoked !== null && ['Revoked', ago(context, revoked)],
            idFact(id),
          ]}
        />
        <MadeCard title="What it made" things={key.ends} />
        <MadeCard title="What goes on without it" things={key.stays} />
      </>
    ),
    side: {
      state: keyState(key),
      lines: !mayEnd(context, key) && (
        <p class="soft">
          {isWorking(key)
            ? 'Only a key with the admin scope can revoke another key.'
            : 'It no longer works.'}
        </p>
      ),
    },
  };
}
