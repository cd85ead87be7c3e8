import type { JSX } from 'hono/jsx/jsx-runtime';
import { AgentText } from '../../pages/request-copy.tsx';
import { CHANNEL_STATES, channelsOf, KIND_WORDS, type Channel } from '../channel-queries.ts';
import { Age } from '../event-copy.tsx';
import { Chip, Heading, Nothing, Row, Rows } from '../parts.tsx';
import type { ActionResult, PageResult, UiPage, PageContext } from '../page-context.ts';
import { addChannel, kindToAdd, showAddChannel } from './add-channel.tsx';
import { removeChannel, showChannel } from './channel.tsx';

/** The people to ask, and how to reach them. */
export const channelsPage: UiPage = {
  path: 'channels',
  title: 'Channels',
  group: 'settings',
  setting: { section: 'People', about: 'How to reach the people that agents ask.' },
  scope: 'approvals',
  // Removals have no topic of their own.
  topics: ['any'],
  show,
  act,
};

function show(context: PageContext): Promise<PageResult> {
  if (context.id !== null) return showChannel(context, context.id);
  const kind = kindToAdd(context);
  return kind === null ? showList(context) : Promise.resolve(showAddChannel(context, kind));
}

function act(context: PageContext, body: string): Promise<ActionResult> {
  if (context.id !== null) return removeChannel(context, context.id, body);
  const kind = kindToAdd(context);
  return kind === null
    ? Promise.resolve({ to: context.at('channels') })
    : addChannel(context, kind, body);
}

async function showList(context: PageContext): Promise<PageResult> {
  const channels = await channelsOf(context);
  const { server } = context.inbox;
  const content = (
    <>
      <Heading title="Channels" lead="The people your agents can ask, and how to reach them.">
        <div class="ways">
          {server.channels.includes('telegram') && (
            <a class="btn small" href="?add=telegram">
              Add by Telegram
            </a>
          )}
          <a class="btn small" href="?add=email">
            Add by email
          </a>
        </div>
      </Heading>
      {channels.length === 0 ? (
        <Nothing>No people yet.</Nothing>
      ) : (
        <Rows label="Channels">
          {channels.map((channel) => (
            <ChannelRow context={context} channel={channel} />
          ))}
        </Rows>
      )}
    </>
  );
  return { title: 'Channels', content };
}

function ChannelRow({
  context,
  channel,
}: {
  readonly context: PageContext;
  readonly channel: Channel;
}): JSX.Element {
  const { id, kind, label, address, status, owner, last_used_at: last } = channel;
  const { text, tone } = CHANNEL_STATES[status];
  return (
    <Row href={context.at('channels', id)}>
      <span class="what">
        <AgentText text={label} reading="line" />
        {owner && <span class="tag">Owner</span>}
      </span>
      <Chip text={text} tone={tone} />
      <span class="meta">
        {KIND_WORDS[kind]}
        {address !== null && (
          <>
            {' · '}
            <AgentText text={address} reading="exact" class="mono" />
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
      </span>
    </Row>
  );
}
