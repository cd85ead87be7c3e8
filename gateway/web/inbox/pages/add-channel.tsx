import type { JSX } from 'hono/jsx/jsx-runtime';
import { CHANNEL_LABEL_MAX_CHARS } from '../../../../shared/lib/limits.ts';
import { channelAdd } from '../../../../shared/operations/channel/add.ts';
import { KIND_WORDS, type Channel } from '../channel-queries.ts';
import { Field } from '../fields.tsx';
import { Form, Heading, Problem, UpLink } from '../parts.tsx';
import { NO_REFUSAL, fieldsOf, refusalOf, type Refusal } from '../refusal.ts';
import { sealFlash } from '../flash.ts';
import type { ActionResult, PageResult, PageContext } from '../page-context.ts';

type Kind = Channel['kind'];

const FIELDS = ['address', 'label'] as const;

type Written = Readonly<Partial<Record<(typeof FIELDS)[number], string>>>;

const ADDRESS_MAX_CHARS = 320;

/** What the form of a new channel passes to the channel's page. */
export interface Added {
  /** Telegram: the link for the person. Email: null, because we mailed the link. */
  readonly startUrl: string | null;
  readonly expiresAt: string;
}

/** The kind of the channel to add; null if the visitor didn't ask for the form. */
export function kindToAdd(context: PageContext): Kind | null {
  const kind = context.query('add');
  if (kind !== 'email' && kind !== 'telegram') return null;
  return context.inbox.server.channels.includes(kind) ? kind : null;
}

/** The form of a new channel, with the earlier input. */
export function showAddChannel(
  context: PageContext,
  kind: Kind,
  written: Written = {},
  { status, text, fields }: Refusal = NO_REFUSAL,
): PageResult {
  const title = `Add a person by ${kind === 'email' ? 'email' : KIND_WORDS[kind]}`;
  const content = (
    <div class="narrow stack">
      <UpLink href={context.at('channels')}>All channels</UpLink>
      <Heading title={title} />
      <Problem text={text} />
      <Form context={context} class="card stack">
        {kind === 'email' && (
          <Field
            name="address"
            label="Email address"
            value={written.address}
            maxlength={ADDRESS_MAX_CHARS}
            placeholder="ana@example.com"
            problem={fields['address']}
          />
        )}
        <Field
          name="label"
          label="Name"
          value={written.label}
          maxlength={CHANNEL_LABEL_MAX_CHARS}
          hint="Agents and people in this project see it."
          problem={fields['label']}
        />
        <button class="btn yes">{kind === 'email' ? 'Email them a link' : 'Create a link'}</button>
      </Form>
      <WhatFollows kind={kind} />
    </div>
  );
  return { title, content, status };
}

function WhatFollows({ kind }: { readonly kind: Kind }): JSX.Element {
  return (
    <section aria-labelledby="next">
      <h2 id="next">What happens next</h2>
      <ol class="steps">
        <li>
          {kind === 'email'
            ? 'We email a link to this address. The person opens it within 24 hours and confirms.'
            : 'You get a link that works for 15 minutes. The person opens it in Telegram and taps Start.'}
        </li>
        <li>We ask the owner to let them in.</li>
        <li>From then on they get requests too, and can decide them like the owner.</li>
      </ol>
    </section>
  );
}

export async function addChannel(
  context: PageContext,
  kind: Kind,
  body: string,
): Promise<ActionResult> {
  const written = fieldsOf(body, FIELDS);
  if (!written) {
    const text = 'We couldn’t read the form. Nobody was added.';
    return showAddChannel(context, kind, {}, { status: 400, text, fields: {} });
  }
  const { address, label } = written;
  const input = {
    kind,
    ...(kind === 'email' && { address: address?.trim() ?? '' }),
    ...(label !== undefined && { label: label.trim() }),
  };
  try {
    const { channel, start_url, expires_at } = (await context.call(channelAdd, input)) as {
      channel: Channel;
      start_url?: string;
      expires_at: string;
    };
    const added: Added = { startUrl: start_url ?? null, expiresAt: expires_at };
    return {
      to: `${context.at('channels', channel.id)}?told=${sealFlash(context, channel.id, added)}`,
    };
  } catch (error) {
    const fieldOf = { CHANNEL_ADDRESS_REJECTED: 'address', CHANNEL_EXISTS: 'address' } as const;
    return showAddChannel(context, kind, written, refusalOf(error, FIELDS, fieldOf));
  }
}
