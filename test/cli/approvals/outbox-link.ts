import { expect } from 'vitest';
import type { Harness } from '../../surface/harness.ts';
import { fieldsOf, parsedLine } from '../tools/fakes.ts';

const PATIENCE = { timeout: 60_000 };

/** The link of the message about it, as the owner of a daemon finds it in the outbox. */
export async function linkAbout(daemon: Harness, words: string): Promise<string> {
  const find = async (): Promise<string> => {
    const items: unknown = parsedLine((await daemon.svc('outbox', 'list')).out)['items'];
    for (const { id, subject } of (Array.isArray(items) ? items : []).map(fieldsOf)) {
      const text = async () => parsedLine((await daemon.svc('outbox', 'show', String(id))).out);
      const isIt =
        String(subject).includes(words) || String((await text())['text']).includes(words);
      if (isIt) return /^https?:\/\/\S+$/m.exec(String((await text())['text']))?.[0] ?? '';
    }
    return '';
  };
  let link = '';
  await expect.poll(async () => (link = await find()), PATIENCE).not.toBe('');
  return link;
}
