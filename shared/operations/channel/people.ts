import type { ApprovalContext } from '../../kernel/context.ts';
import { likelyPerson } from '../../rules/mail/mail-address.ts';
import type { ChannelRow } from '../../store/tables/people/channels.ts';
import { channelAad } from './view.ts';

/** Which channels of a project are one person's: those of one mailbox, and those that an owner said are. */
export class People {
  /** By channel: the first channel of the same person. */
  readonly #firsts = new Map<string, string>();
  readonly #known = new Set<string>();

  private constructor(
    channels: readonly ChannelRow[],
    mailboxOf: (channel: ChannelRow) => string | null,
  ) {
    const mailboxes = new Map<string, string>();
    for (const { id } of channels) this.#firsts.set(id, id);
    for (const channel of channels) {
      const { id, person_of: personOf } = channel;
      const mailbox = mailboxOf(channel);
      if (mailbox !== null) this.#join(mailboxes.get(mailbox) ?? id, id);
      if (mailbox !== null && !mailboxes.has(mailbox)) mailboxes.set(mailbox, id);
      if (personOf !== null) this.#join(personOf, id);
    }
    for (const channel of channels) {
      if (channel.kind === 'email' || channel.person_of === channel.id) {
        this.#known.add(this.#firstOf(channel.id));
      }
    }
  }

  static async of({
    store,
    project,
    vault,
  }: Pick<ApprovalContext, 'store' | 'project' | 'vault'>): Promise<People> {
    return new People(await store.channels.list(), ({ id, kind, address }) => {
      if (kind !== 'email' || !address) return null;
      const plain = vault.open(channelAad(project.id, id), address);
      return likelyPerson(Buffer.from(plain).toString('utf8'));
    });
  }

  /** Whether two channels are surely one person's. */
  isOne(channelId: string, other: string): boolean {
    return this.#firstOf(channelId) === this.#firstOf(other);
  }

  /**
   * Of these channels, the first of each person who is surely not one of the others. A chat whose person nobody has named
   * may be anybody's, so it stands for a person only where there is no other channel.
   */
  distinct(channelIds: readonly string[]): string[] {
    const firsts = new Map<string, string>();
    for (const id of channelIds) {
      const first = this.#firstOf(id);
      if (this.#known.has(first) && !firsts.has(first)) firsts.set(first, id);
    }
    return firsts.size > 0 ? [...firsts.values()] : channelIds.slice(0, 1);
  }

  #firstOf(channelId: string): string {
    return this.#firsts.get(channelId) ?? channelId;
  }

  /** Nothing if one of them is gone, because then we no longer know whose it was. */
  #join(one: string, other: string): void {
    if (!this.#firsts.has(one)) return;
    const [kept, dropped] = [this.#firstOf(one), this.#firstOf(other)];
    for (const [id, first] of this.#firsts) if (first === dropped) this.#firsts.set(id, kept);
  }
}
