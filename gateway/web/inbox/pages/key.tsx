import type { JSX } from 'hono/jsx/jsx-runtime';
import { keyRevoke } from '../../../../shared/operations/key/revoke.ts';
import { keyRotate } from '../../../../shared/operations/key/rotate.ts';
import { mayCall, mayGrant } from '../../../../shared/lib/scopes.ts';
import { AgentText, Ago, Time } from '../../pages/request-copy.tsx';
import { Choice } from '../fields.tsx';
import {
  endOfKey,
  isWorking,
  keyOf,
  keyState,
  SCOPE_LINES,
  type Key,
  type NewKey,
} from '../key-queries.ts';
import { Chip, Fact, Problem, UpLink } from '../parts.tsx';
import { confirm } from '../confirm.tsx';
import { fieldsOf, refusalOf } from '../refusal.ts';
import type { ActionResult, PageResult, PageContext } from '../page-context.ts';
import { showNewKey } from './new-key.tsx';

const GRACES = [
  ['0', 'at once'],
  ['3600', 'in an hour'],
  ['86400', 'in a day'],
] as const;

/** One key; revoking and rotating it each need a second step. */
export async function showKey(context: PageContext, id: string): Promise<PageResult> {
  const key = await keyOf(context, id);
  const step = context.query('step');
  if (step === 'revoke' && mayEnd(context, key)) return askToRevoke(context, key);
  if (step === 'rotate' && mayRotate(context, key)) return askToRotate(context, key);
  return shown(context, key);
}

export async function actOnKey(
  context: PageContext,
  id: string,
  body: string,
): Promise<ActionResult> {
  const key = await keyOf(context, id);
  const form = fieldsOf(body, ['act', 'grace']);
  try {
    if (form?.act === 'revoke') {
      await context.call(keyRevoke, { key_id: id });
      return { to: context.at('keys') };
    }
    if (form?.act === 'rotate') {
      const input = { key_id: id, grace_seconds: Number(form.grace ?? '0') };
      return showNewKey(context, (await context.call(keyRotate, input)) as NewKey, 'rotated');
    }
  } catch (error) {
    const { status, text } = refusalOf(error, []);
    return { ...shown(context, key, text), status };
  }
  return { ...shown(context, key, 'We couldn’t read the form. Nothing was done.'), status: 400 };
}

function isOwn({ access }: PageContext, { id }: Key): boolean {
  return access.actor === id;
}

function mayEnd(context: PageContext, key: Key): boolean {
  return (
    isWorking(key, context.now) && (isOwn(context, key) || mayCall(context.access.scopes, 'admin'))
  );
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

function askToRevoke(context: PageContext, key: Key): PageResult {
  return confirm(context, {
    heading: 'Revoke this key?',
    back: context.at('keys', key.id),
    consequences: (
      <>
        <p>
          <AgentText text={key.name} reading="line" /> <span class="mono">{endOfKey(key)}</span>{' '}
          stops working at once, and so do the file links it created. You can’t undo this.
        </p>
        {isOwn(context, key) && <p>This session was opened with it, so it ends too.</p>}
      </>
    ),
    act: 'revoke',
    yes: 'Yes, revoke it',
  });
}

function askToRotate(context: PageContext, key: Key): PageResult {
  return confirm(context, {
    heading: 'Give this key a new secret?',
    back: context.at('keys', key.id),
    consequences: (
      <>
        <p>
          <AgentText text={key.name} reading="line" /> keeps its name, its scopes and the events it
          has claimed. The new secret is shown once, on the next page. Sessions opened with the old
          secret end with it.
        </p>
        {isOwn(context, key) && (
          <p>
            This session is one of them. It stays open for at least a minute, or as long as you
            choose.
          </p>
        )}
      </>
    ),
    fields: (
      <Choice
        name="grace"
        label="The old secret stops working"
        value={undefined}
        choices={GRACES}
      />
    ),
    act: 'rotate',
    yes: 'Yes, create a new secret',
  });
}

function shown(context: PageContext, key: Key, problem: string | null = null): PageResult {
  const [text, tone] = keyState(key, context.now);
  const content = (
    <>
      <UpLink href={context.at('keys')} whole>
        All keys
      </UpLink>
      <div class="stack">
        <h1 class="headed">
          <AgentText text={key.name} reading="line" />
          {isOwn(context, key) && <span class="tag">This session</span>}
        </h1>
        <Problem text={problem} />
        <Scopes apiKey={key} />
        <About context={context} apiKey={key} />
      </div>
      <section class="act card stack" aria-labelledby="standing">
        <h2 id="standing" class="headed">
          State <Chip text={text} tone={tone} />
        </h2>
        {mayRotate(context, key) && (
          <a class="btn" href="?step=rotate">
            New secret…
          </a>
        )}
        {mayEnd(context, key) ? (
          <a class="btn no" href="?step=revoke">
            Revoke…
          </a>
        ) : (
          <p class="soft">
            {isWorking(key, context.now)
              ? 'Only a key with the admin scope can revoke another key.'
              : 'It no longer works.'}
          </p>
        )}
      </section>
    </>
  );
  return { title: 'Key', content, wide: true };
}

function Scopes({ apiKey }: { readonly apiKey: Key }): JSX.Element {
  return (
    <section class="card" aria-labelledby="scopes">
      <h2 id="scopes">What it can do</h2>
      <dl class="facts">
        {apiKey.scopes.map((scope) => (
          <Fact name={<span class="mono">{scope}</span>}>{SCOPE_LINES[scope]}</Fact>
        ))}
        {apiKey.disk_prefixes !== null && (
          <Fact name="Only names that start with">
            <AgentText text={apiKey.disk_prefixes.join(', ')} reading="exact" />
          </Fact>
        )}
      </dl>
    </section>
  );
}

function About({
  context,
  apiKey,
}: {
  readonly context: PageContext;
  readonly apiKey: Key;
}): JSX.Element {
  const { created_at: made, last_used_at: last, expires_at: expires } = apiKey;
  return (
    <section class="card" aria-labelledby="about">
      <h2 id="about">About this key</h2>
      <dl class="facts">
        {apiKey.client !== null && (
          <Fact name="App">
            <AgentText text={apiKey.client} reading="exact" />, let in by a person. It renews its
            secret every hour.
          </Fact>
        )}
        <Fact name="Ends in">
          <span class="mono">{endOfKey(apiKey)}</span>
        </Fact>
        <Fact name="Created">
          <Ago at={Date.parse(made)} now={context.now} />
        </Fact>
        <Fact name="Last used">
          {last === null ? 'never' : <Ago at={Date.parse(last)} now={context.now} />}
        </Fact>
        <Fact name="Expires">
          {expires === null ? 'never' : <Time at={Date.parse(expires)} now={context.now} />}
        </Fact>
        {apiKey.revoked_at !== null && (
          <Fact name="Revoked">
            <Ago at={Date.parse(apiKey.revoked_at)} now={context.now} />
          </Fact>
        )}
        <Fact name="Id">
          <span class="exact mono">{apiKey.id}</span>
        </Fact>
      </dl>
    </section>
  );
}
