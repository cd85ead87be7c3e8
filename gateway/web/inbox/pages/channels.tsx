import type { JSX } from 'hono/jsx/jsx-runtime';
import { AgentText } from '../../pages/request-copy.tsx';
import { CHANNEL_STATES, channelsOf, KIND_WORDS, type Channel } from '../channel-queries.ts';
import { Age } from '../event-copy.tsx';
import { Chip, Heading, Nothing, Row, Rows } from '../parts.tsx';
import type { Acted, Shown, UiPage, Visit } from '../visit.ts';
import { addChannel, kindToAdd, showAddChannel } from './add-channel.tsx';
import { removeChannel, showChannel } from './channel.tsx';

/** Who is asked, and where. */
export const channelsPage: UiPage = {
  path: 'channels',
  title: 'Channels',
  scope: 'approvals',
  // Removals are told by no topic of their own.
  topics: ['any'],
  show,
  act,
};

function show(visit: Visit): Promise<Shown> {
  if (visit.id !== null) return showChannel(visit, visit.id);
  const kind = kindToAdd(visit);
  return kind === null ? showList(visit) : Promise.resolve(showAddChannel(visit, kind));
}

function act(visit: Visit, body: string): Promise<Acted> {
  if (visit.id !== null) return removeChannel(visit, visit.id, body);
  const kind = kindToAdd(visit);
  return kind === null
    ? Promise.resolve({ to: visit.at('channels') })
    : addChannel(visit, kind, body);
}

async function showList(visit: Visit): Promise<Shown> {
  const channels = await channelsOf(visit);
  const { server } = visit.inbox;
  const content = (
    <>
      <Heading title="Channels" lead="The people whom agents can ask, and how they are reached.">
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
        <Nothing>Nobody is asked yet.</Nothing>
      ) : (
        <Rows label="Channels">
          {channels.map((channel) => (
            <ChannelRow visit={visit} channel={channel} />
          ))}
        </Rows>
      )}
    </>
  );
  return { title: 'Channels', content };
}

function ChannelRow({
  visit,
  channel,
}: {
  readonly visit: Visit;
  readonly channel: Channel;
}): JSX.Element {
  const { id, kind, label, address, status, owner, last_used_at: last } = channel;
  const { text, tone } = CHANNEL_STATES[status];
  return (
    <Row href={visit.at('channels', id)}>
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
            last used <Age at={last} now={visit.now} />
          </>
        )}
      </span>
    </Row>
  );
}
