import type { Client } from '../call/client.ts';
import { decidingChannels, type Names, type RequestState } from './decision.ts';

/** Labels of channels, read on first use and again for an unknown id. A removed channel has no label. */
export class ChannelNames {
  readonly #client: Client;
  readonly #signal: AbortSignal;
  readonly #names = new Map<string, string>();
  readonly #unknown = new Set<string>();

  constructor(client: Client, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /** The labels of the channels that decided these requests. */
  async of(...requests: readonly RequestState[]): Promise<Names> {
    return this.ofIds(requests.flatMap(decidingChannels));
  }

  async ofIds(ids: readonly string[]): Promise<Names> {
    const fresh = ids.filter((id) => !this.#names.has(id) && !this.#unknown.has(id));
    if (fresh.length > 0) await this.#read();
    for (const id of fresh) if (!this.#names.has(id)) this.#unknown.add(id);
    return this.#names;
  }

  /** Names are a courtesy: if this fails, ids are shown. */
  async #read(): Promise<void> {
    try {
      const { items } = await this.#client.call('channel_list', {}, { signal: this.#signal });
      for (const { id, label } of items) this.#names.set(id, label);
    } catch (error) {
      if (this.#signal.aborted) throw error;
    }
  }
}
