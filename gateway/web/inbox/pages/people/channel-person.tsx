import type { JSX } from 'hono/jsx/jsx-runtime';
import type { Channel } from './channel-queries.ts';
import { Choice } from '../../../ui/fields.tsx';
import type { Act } from '../../../ui/item.tsx';
import { Form } from '../../../ui/parts.tsx';
import type { PageContext } from '../../page-context.ts';

const NOBODY = 'nobody';

/** Owners alone, as for letting a channel in; on a machine where no owner's address is set, anybody who uses it. */
function mayNamePerson({ access }: PageContext): boolean {
  return access.deciding === 'anybody' || access.member?.role === 'owner';
}

/** Whose a channel is, as far as anybody said. */
export function personText(
  { id, kind, person_of: personOf }: Channel,
  channels: readonly Channel[],
): string {
  if (personOf === id) return 'A person with no other channel';
  const other = channels.find((one) => one.id === personOf);
  if (other) return `The same person as ${other.label}`;
  return kind === 'email' ? 'Whoever reads this mailbox' : 'Nobody said';
}

/** Lets an owner say whose a channel is; nothing for others, and for a channel that nobody is asked through. */
export function PersonForm({
  context,
  channel,
  channels,
}: {
  readonly context: PageContext;
  readonly channel: Channel;
  readonly channels: readonly Channel[];
}): JSX.Element | null {
  if (channel.status !== 'active' || !mayNamePerson(context)) return null;
  const { id, kind, person_of: personOf } = channel;
  const others = channels.filter((one) => one.id !== id && one.status === 'active');
  const isKnown = personOf === id || others.some((one) => one.id === personOf);
  return (
    <Form context={context}>
      <Choice
        name="person"
        label="Whose channel it is"
        value={isKnown && personOf !== null ? personOf : NOBODY}
        choices={[
          [NOBODY, kind === 'email' ? 'Whoever reads this mailbox' : 'I can’t say'],
          ...(kind === 'telegram' ? [[id, 'A person with no other channel'] as const] : []),
          ...others.map((one) => [one.id, `The same person as ${named(one)}`] as const),
        ]}
        hint={
          kind === 'telegram'
            ? 'Where several people must approve, each counts once. A chat that could belong to any of them doesn’t count as another person.'
            : 'Where several people must approve, each counts once.'
        }
      />
      <button class="btn small" name="act" value="person">
        Save
      </button>
    </Form>
  );
}

/** Several channels may have one label. */
function named({ label, kind, address }: Channel): string {
  return `${label} (${address ?? (kind === 'telegram' ? 'Telegram' : 'email')})`;
}

export const personAct: Act<Channel> = {
  name: 'person',
  text: 'Save',
  isPlaced: true,
  takes: ['person'],
  run: async (context, { id: channelId }, { value }) => {
    const { access, inbox } = context;
    if (access.channelId === null || !mayNamePerson(context)) {
      return { problem: 'Only an owner says whose a channel is.' };
    }
    const chosen = value('person');
    const personOf = chosen === undefined || chosen === NOBODY ? null : chosen;
    const said = { channelId, personOf, by: access.channelId };
    const isSaid = await inbox.requests.sayWhose(access.project, said);
    return isSaid
      ? { flash: { text: 'Saved.' } }
      : { problem: 'One of these channels isn’t active any more. Nothing was changed.' };
  },
};
