import type { JSX } from 'hono/jsx/jsx-runtime';
import { channelRemove } from '../../../../shared/operations/channel/remove.ts';
import { Icon } from '../../pages/icons.tsx';
import { AgentText, Ago, Time } from '../../pages/request-copy.tsx';
import { CHANNEL_STATES, channelOf, KIND_WORDS, type Channel } from '../channel-queries.ts';
import { CopyField } from '../fields.tsx';
import { Chip, Fact, Problem, UpLink } from '../parts.tsx';
import { confirm } from '../confirm.tsx';
import { fieldsOf, refusalOf } from '../refusal.ts';
import { openFlash } from '../flash.ts';
import type { ActionResult, PageResult, PageContext } from '../page-context.ts';
import type { Added } from './add-channel.tsx';

/** A person's channel, and the next step if they can't be asked yet. */
export async function showChannel(context: PageContext, id: string): Promise<PageResult> {
  const channel = await channelOf(context, id);
  return context.query('step') === 'remove' && !channel.owner
    ? askToRemove(context, channel)
    : shown(context, channel);
}

export async function removeChannel(
  context: PageContext,
  id: string,
  body: string,
): Promise<ActionResult> {
  const channel = await channelOf(context, id);
  if (fieldsOf(body, ['act'])?.act !== 'remove') {
    return {
      ...shown(context, channel, 'We couldn’t read the form. Nothing was done.'),
      status: 400,
    };
  }
  try {
    await context.call(channelRemove, { channel_id: id });
    return { to: context.at('channels') };
  } catch (error) {
    const { status, text } = refusalOf(error, []);
    return { ...shown(context, channel, text), status };
  }
}

function askToRemove(context: PageContext, { id, label }: Channel): PageResult {
  return confirm(context, {
    heading: 'Remove this person?',
    back: context.at('channels', id),
    consequences: (
      <p>
        <AgentText text={label} reading="line" /> will get no more requests. Links and buttons they
        already have stop working at once. Requests that only they could decide go to the owner.
      </p>
    ),
    act: 'remove',
    yes: 'Yes, remove them',
  });
}

function shown(context: PageContext, channel: Channel, problem: string | null = null): PageResult {
  const { id, label, status, owner } = channel;
  const { text, tone, line } = CHANNEL_STATES[status];
  const content = (
    <>
      <UpLink href={context.at('channels')} whole>
        All channels
      </UpLink>
      <div class="stack">
        <h1 class="headed">
          <AgentText text={label} reading="line" /> {owner && <span class="tag">Owner</span>}
        </h1>
        <Problem text={problem} />
        <JustAdded
          context={context}
          channel={channel}
          added={openFlash(context, id) as Added | null}
        />
        <About context={context} channel={channel} />
      </div>
      <section class="act card stack" aria-labelledby="standing">
        <h2 id="standing" class="headed">
          State <Chip text={text} tone={tone} />
        </h2>
        <p>{line}</p>
        {status === 'verified' && (
          <p class="ways">
            <a href={context.at('requests')}>See the requests</a>
          </p>
        )}
        {status === 'added' && channel.kind === 'email' && (
          <>
            <p class="soft">
              Did the email get lost? Add the same address again and we’ll send another link.
            </p>
            <p class="ways">
              <a href={`${context.at('channels')}?add=email`}>Send another link</a>
            </p>
          </>
        )}
        {owner ? (
          <p class="soft">You can’t remove the owner’s own channel.</p>
        ) : (
          <a class="btn no" href="?step=remove">
            Remove…
          </a>
        )}
      </section>
    </>
  );
  return { title: 'Channel', content, wide: true };
}

/** What the person should do next; null once they have done it. */
function JustAdded({
  context,
  channel,
  added,
}: {
  readonly context: PageContext;
  readonly channel: Channel;
  readonly added: Added | null;
}): JSX.Element | null {
  if (added === null || channel.status !== 'added') return null;
  const { startUrl, expiresAt } = added;
  const until = <Time at={Date.parse(expiresAt)} now={context.now} />;
  return (
    <>
      <div class="note good" role="status">
        <Icon name="yes" />
        <p>
          {startUrl === null ? (
            <>
              We emailed a link to{' '}
              <AgentText text={channel.address ?? ''} reading="exact" class="mono" />. The person
              has until {until} to confirm. Then we ask the owner to let them in.
            </>
          ) : (
            <>
              Give this link to the person. They have until {until} to open it in Telegram and tap
              Start. Then we ask the owner to let them in.
            </>
          )}
        </p>
      </div>
      {startUrl !== null && (
        <section class="card" aria-label="Link">
          <CopyField name="start" label="Link for the person (works once)" value={startUrl} />
        </section>
      )}
    </>
  );
}

function About({
  context,
  channel,
}: {
  readonly context: PageContext;
  readonly channel: Channel;
}): JSX.Element {
  const { address, kind, created_at: added } = channel;
  const moments = [
    ['Confirmed', channel.verified_at],
    ['Let in', channel.activated_at],
    ['Last used', channel.last_used_at],
  ] as const;
  return (
    <section class="card" aria-label="About this channel">
      <dl class="facts">
        <Fact name="Reached by">
          {KIND_WORDS[kind]}
          {address !== null && (
            <>
              {' at '}
              <AgentText text={address} reading="exact" class="mono" />
            </>
          )}
        </Fact>
        <Fact name="Added">
          <Ago at={Date.parse(added)} now={context.now} />
        </Fact>
        {moments.map(([name, at]) => (
          <Fact name={name}>
            {at === null ? 'not yet' : <Ago at={Date.parse(at)} now={context.now} />}
          </Fact>
        ))}
        <Fact name="Id">
          <span class="exact mono">{channel.id}</span>
        </Fact>
      </dl>
    </section>
  );
}
