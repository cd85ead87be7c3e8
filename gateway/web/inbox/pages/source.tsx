import type { JSX } from 'hono/jsx/jsx-runtime';
import { sourceRemove } from '../../../../shared/operations/source/remove.ts';
import { Icon } from '../../pages/icons.tsx';
import { AgentText, Ago, Time } from '../../pages/request-copy.tsx';
import { CopyField } from '../fields.tsx';
import { Chip, Fact, Problem, UpLink } from '../parts.tsx';
import { confirm } from '../confirm.tsx';
import { fieldsOf } from '../refusal.ts';
import { bytesText } from '../bytes-text.ts';
import { limitText } from '../../../../shared/rules/ingress-limit.ts';
import { addressOf, checkOf, SIGNED_BY, sourceOf, type Source } from '../source-queries.ts';
import type { ActionResult, PageResult, PageContext } from '../page-context.ts';

/** One source: its address and recent activity. */
export async function showSource(context: PageContext, name: string): Promise<PageResult> {
  const source = await sourceOf(context, name);
  return context.query('step') === 'remove' ? askToRemove(context, source) : shown(context, source);
}

export async function removeSource(
  context: PageContext,
  name: string,
  body: string,
): Promise<ActionResult> {
  const source = await sourceOf(context, name);
  if (fieldsOf(body, ['act'])?.act !== 'remove') {
    return {
      ...shown(context, source, 'We couldn’t read the form. Nothing was done.'),
      status: 400,
    };
  }
  await context.call(sourceRemove, { name });
  return { to: context.at('sources') };
}

function askToRemove(context: PageContext, { name }: Source): PageResult {
  return confirm(context, {
    heading: 'Remove this source?',
    back: context.at('sources', name),
    consequences: (
      <p>
        The address of <AgentText text={name} reading="exact" /> stops working at once, and senders
        get an error. Events that came in stay. A new source with this name gets a different
        address.
      </p>
    ),
    act: 'remove',
    yes: 'Yes, remove it',
  });
}

function shown(context: PageContext, source: Source, problem: string | null = null): PageResult {
  const { name } = source;
  const [text, tone] = checkOf(source);
  const content = (
    <>
      <UpLink href={context.at('sources')} whole>
        All sources
      </UpLink>
      <div class="stack">
        <h1 class="headed">
          <AgentText text={name} reading="exact" /> <Chip text={text} tone={tone} />
        </h1>
        <Problem text={problem} />
        {context.query('added') !== undefined && <Added source={source} />}
        {source.limited !== null && <Limited limited={source.limited} />}
        <Address source={source} />
        <About context={context} source={source} />
      </div>
      <section class="act card stack" aria-labelledby="more">
        <h2 id="more">Its events</h2>
        <p class="ways">
          <a href={`${context.at('events')}?source=${encodeURIComponent(name)}`}>
            See pending events
          </a>
        </p>
        <a class="btn small no" href="?step=remove">
          Remove…
        </a>
      </section>
    </>
  );
  return { title: name, content, wide: true };
}

function Added({ source }: { readonly source: Source }): JSX.Element {
  return (
    <div class="note good" role="status">
      <Icon name="yes" />
      <p>
        {source.type === 'email'
          ? 'The project now receives mail at this address.'
          : 'Added. Give the sender this address as its webhook URL.'}
      </p>
    </div>
  );
}

function Limited({ limited }: { readonly limited: NonNullable<Source['limited']> }): JSX.Element {
  return (
    <div class="note warn" role="alert">
      <Icon name="warn" />
      <p>
        <strong>This source takes no events for now.</strong>{' '}
        {limitText(limited.kind, limited.limit)} Senders are told to try again later, and mail stays
        in the mailbox.
      </p>
    </div>
  );
}

function Address({ source }: { readonly source: Source }): JSX.Element {
  const { type, verification, url } = source;
  return (
    <section class="card stack" aria-label="Address">
      <CopyField
        name="address"
        label={type === 'email' ? 'Email address' : 'Webhook URL (POST)'}
        value={addressOf(source)}
      />
      {type === 'email' && url !== null && (
        <CopyField
          name="url"
          label="For a mail server: URL where it can POST raw emails"
          value={url}
        />
      )}
      {type === 'webhook' && (
        <p class="soft">
          {verification === 'none'
            ? 'Nothing is signed. Anyone who knows this URL can send, so keep it private.'
            : `Only requests with a valid signature (${SIGNED_BY[verification]}) are accepted.`}
        </p>
      )}
    </section>
  );
}

function About({
  context,
  source,
}: {
  readonly context: PageContext;
  readonly source: Source;
}): JSX.Element {
  const { created_at: created, last_event_at: last, signature_header: header } = source;
  const { previous_secret_valid_until: until } = source;
  return (
    <section class="card" aria-labelledby="about">
      <h2 id="about">About this source</h2>
      <dl class="facts">
        <Fact name="Last event">
          {last === null ? 'none yet' : <Ago at={Date.parse(last)} now={context.now} />}
        </Fact>
        <Fact name="In 24 hours">
          {source.events_24h.toString()} taken, {source.rejected_24h.toString()} rejected
        </Fact>
        <Fact name="Stored">
          {bytesText(source.stored_bytes)} of payloads, until they are purged
        </Fact>
        {header !== null && (
          <Fact name="Signature">
            in the header <AgentText text={header} reading="exact" class="mono" />
          </Fact>
        )}
        {until !== null && (
          <Fact name="Old secret">
            also accepted until <Time at={Date.parse(until)} now={context.now} />
          </Fact>
        )}
        <Fact name="Added">
          <Ago at={Date.parse(created)} now={context.now} />
        </Fact>
      </dl>
    </section>
  );
}
