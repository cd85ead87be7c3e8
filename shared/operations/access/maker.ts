import * as z from 'zod';
import type { ServerInfo } from '../../kernel/context.ts';
import type { KeyRecord } from '../../store/tables/access/keys.ts';
import type { Repositories } from '../../store/repositories.ts';
import { memberNamed } from './actor.ts';

/** The two fields that say who made something. */
export const makerFields = {
  created_by: z
    .string()
    .nullable()
    .describe('Who made it: a `key_…`, or the person by `mbr_…`, `chn_…` or `acc_…`.'),
  maker: z.string().describe('The same for people: a key’s name, a masked address, or `unknown`.'),
};

/** A key that has expired is ended too, some time after it. */
export function howKeyEnded({
  revoked_at: revoked,
  expires_at: expires,
}: Pick<KeyRecord, 'revoked_at' | 'expires_at'>): 'expired' | 'revoked' {
  return expires !== null && (revoked === null || expires <= revoked) ? 'expired' : 'revoked';
}

type MakerStore = Pick<Repositories, 'keys' | 'members'>;

/**
 * Names makers as people know them. Rows of earlier releases name none: `unknown`, and on a machine where nobody signs in
 * its first key is `this machine`'s. Looks each up once, so make one for each list.
 */
export class MakerNames {
  readonly #store: MakerStore;
  readonly #server: Pick<ServerInfo, 'signsIn'>;
  readonly #known = new Map<string, string>();

  constructor({ store, server }: { store: MakerStore; server: Pick<ServerInfo, 'signsIn'> }) {
    this.#store = store;
    this.#server = server;
  }

  async of(maker: string | null): Promise<string> {
    if (maker === null) return 'unknown';
    const known = this.#known.get(maker);
    if (known !== undefined) return known;
    const name = await this.#look(maker);
    this.#known.set(maker, name);
    return name;
  }

  /** The maker of a key: the first key of a machine has none. */
  async ofKey(maker: string | null): Promise<string> {
    return maker === null && this.#server.signsIn !== true ? 'this machine' : this.of(maker);
  }

  async #look(maker: string): Promise<string> {
    const { keys, members } = this.#store;
    if (maker.startsWith('key_')) {
      const key = await keys.find(maker);
      if (!key) return 'unknown';
      const name = key.client === null ? `key ${key.name}` : `app ${key.client}`;
      return key.revoked_at === null ? name : `${name} (${howKeyEnded(key)})`;
    }
    const member = await memberNamed(members, maker);
    if (!member) return 'a former member';
    return member.masked ?? member.role;
  }
}
