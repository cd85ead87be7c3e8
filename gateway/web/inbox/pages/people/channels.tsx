import type { Child } from 'hono/jsx';
import { CHANNEL_LABEL_MAX_CHARS } from '../../../../../shared/lib/limits.ts';
import { channelAdd } from '../../../../../shared/operations/channel/add.ts';
import { channelRemove } from '../../../../../shared/operations/channel/remove.ts';
import {
  CHANNEL_STATES,
  channelOf,
  channelsOf,
  KIND_WORDS,
  type Channel,
} from './channel-queries.ts';
import { sealFlash } from '../../../ui/flash.ts';
import { FactsCard, idFact, type Flash } from '../../../ui/detail.tsx';
import { Steps, type FieldSpec, type FormPage, type SubmittedForm } from '../../../ui/form.tsx';
import type { Detail } from '../../../ui/item.tsx';
import { listPage } from '../../../ui/list.tsx';
import { resourcePage } from '../../../ui/resource.tsx';
import { ago, last, line, mono } from '../../../ui/text.tsx';
import type { ActionResult, PageContext, PageResult } from '../../page-context.ts';
import { personAct, PersonForm, personText } from './channel-person.tsx';

const ADDRESS_MAX_CHARS = 320;

/** The people to ask, and how to reach them. */
export const channelsPage = resourcePage<Channel>({
  path: 'channels',
  title: 'Channels',
  group: 'settings',
  setting: { section: 'People', about: 'How to reach the people that agents ask.' },
  scope: 'approvals',
  // Removals have no topic of their own.
  topics: ['any'],
  all: 'All channels',
  list,
  form: (context) => {
    const kind = context.query('add');
    if (kind !== 'email' && kind !== 'telegram') return null;
    return context.inbox.server.channels.includes(kind) ? formFor(context, kind) : null;
  },
  find: channelOf,
  detail,
  acts: [
    personAct,
    {
      name: 'remove',
      text: 'Remove',
      may: (_context, { owner }) => !owner,
      asks: (_context, { label }) => ({
        heading: 'Remove this person?',
        consequences: (
          <p>
            {line(label)} will get no more requests. Links and buttons they already have stop
            working at once. Requests that only they could decide go to the owner.
          </p>
        ),
        yes: 'Yes, remove them',
      }),
      run: async (context, { id }) => {
        await context.call(channelRemove, { channel_id: id });
        return null;
      },
    },
  ],
});

async function list(context: PageContext): Promise<PageResult> {
  const channels = await channelsOf(context);
  return listPage({
    title: 'Channels',
    lead: 'The people your agents can ask, and how to reach them.',
    ways: [
      context.inbox.server.channels.includes('telegram') && ['add=telegram', 'Add by Telegram'],
      ['add=email', 'Add by email'],
    ],
    rows: channels.map((channel) => {
      const { id, kind, label, address, status, owner, last_used_at: used } = channel;
      const { text, tone } = CHANNEL_STATES[status];
      const isNamed = kind === 'telegram' || channel.person_of !== null;
      return {
        href: context.at('channels', id),
        what: named(label, owner),
        states: [[text, tone]],
        meta: [
          KIND_WORDS[kind],
          address !== null && mono(address),
          status === 'active' && isNamed && line(personText(channel, channels)),
          last(context, 'last used', used, 'never used'),
        ],
      };
    }),
    empty: 'No people yet.',
    after: (
      <p class="soft">
        What you are asked can also show as a notice on your computer or phone:{' '}
        <a href={context.at('browsers')}>Browser notices</a>
      </p>
    ),
  });
}

function named(label: string, isOwner: boolean): Child {
  return (
    <>
      {line(label)} {isOwner && <span class="tag">Owner</span>}
    </>
  );
}

function formFor(context: PageContext, kind: Channel['kind']): FormPage {
  const isMail = kind === 'email';
  const address: FieldSpec = {
    name: 'address',
    label: 'Email address',
    max: ADDRESS_MAX_CHARS,
    placeholder: 'ana@example.com',
  };
  const label: FieldSpec = {
    name: 'label',
    label: 'Name',
    max: CHANNEL_LABEL_MAX_CHARS,
    hint: 'Agents and people in this project see it.',
  };
  return {
    title: `Add a person by ${isMail ? 'email' : KIND_WORDS[kind]}`,
    up: [context.at('channels'), 'All channels'],
    fields: isMail ? [address, label] : [label],
    button: isMail ? 'Email them a link' : 'Create a link',
    after: (
      <Steps
        title="What happens next"
        steps={[
          isMail
            ? 'We email a link to this address. The person opens it within 24 hours and confirms.'
            : 'You get a link that works for 15 minutes. The person opens it in Telegram and taps Start.',
          'We ask the owner to let them in.',
          'From then on they get requests too, and can decide them like the owner.',
        ]}
      />
    ),
    unread: 'Nobody was added.',
    about: { CHANNEL_ADDRESS_REJECTED: 'address', CHANNEL_EXISTS: 'address' },
    submit: (sent) => add(context, kind, sent),
  };
}

async function add(
  context: PageContext,
  kind: Channel['kind'],
  { value }: SubmittedForm,
): Promise<ActionResult> {
  const label = value('label');
  const { channel, start_url: link } = await context.call(channelAdd, {
    kind,
    ...(kind === 'email' && { address: value('address') ?? '' }),
    ...(label !== undefined && { label }),
  });
  const flash: Flash = link
    ? {
        text: 'Give this link to the person. They have 15 minutes to open it in Telegram and tap Start. Then we ask the owner to let them in.',
        copy: { label: 'Link for the person (works once)', value: link },
      }
    : {
        text: `${mailedText(context)} The person has 24 hours to confirm. Then we ask the owner to let them in.`,
      };
  return {
    to: `${context.at('channels', channel.id)}?told=${sealFlash(context, channel.id, flash)}`,
  };
}

function mailedText({ inbox: { mailReadBy } }: PageContext): string {
  if (mailReadBy === null) return 'We emailed a link to this address.';
  return `The link wasn’t emailed, because no mail server is set. On the server, ${mailReadBy} shows it.`;
}

async function detail(context: PageContext, channel: Channel): Promise<Detail> {
  const { id, kind, label, address, status, owner } = channel;
  const channels = await channelsOf(context);
  const { text, tone, line: meaning } = CHANNEL_STATES[status];
  return {
    title: 'Channel',
    heading: named(label, owner),
    isPast: status !== 'added',
    main: (
      <FactsCard
        label="About this channel"
        facts={[
          [
            'Reached by',
            <>
              {KIND_WORDS[kind]} {address !== null && <>at {mono(address)}</>}
            </>,
          ],
          status === 'active' && ['Whose', line(personText(channel, channels))],
          ['Added', ago(context, channel.created_at)],
          ['Added by', line(channel.maker)],
          ['Confirmed', ago(context, channel.verified_at)],
          ['Let in', ago(context, channel.activated_at)],
          ['Last used', ago(context, channel.last_used_at)],
          idFact(id),
        ]}
      />
    ),
    side: {
      state: [text, tone],
      lines: (
        <>
          <p>{meaning}</p>
          {status === 'verified' && (
            <p class="ways">
              <a href={context.at('requests')}>See the requests</a>
            </p>
          )}
          {status === 'added' && kind === 'email' && (
            <>
              <p class="soft">
                Did the email get lost? Add the same address again and we’ll send another link.
              </p>
              <p class="ways">
                <a href={`${context.at('channels')}?add=email`}>Send another link</a>
              </p>
            </>
          )}
          <PersonForm context={context} channel={channel} channels={channels} />
          {owner && <p class="soft">You can’t remove the owner’s own channel.</p>}
        </>
      ),
    },
  };
}
