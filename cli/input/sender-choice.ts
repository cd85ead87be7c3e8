import { sendersFor, type Verification } from '../../shared/senders/registry.ts';
import type { Asker } from './asker.ts';

const SHOWN_MAX = 12;

/** Asks who sends to a new source, with a search over the senders that svc knows. An empty answer is `none`. */
export async function chosenSender(asker: Asker): Promise<Verification> {
  asker.show([
    'Who sends? Type a name or its beginning, such as slack. Press Enter for a sender that signs nothing.',
  ]);
  for (;;) {
    const text = await asker.ask('Sender:');
    if (text === '') return 'none';
    const found = sendersFor(text);
    const exact = found.find(({ name }) => name === text.toLowerCase());
    const only = exact ?? (found.length === 1 ? found[0] : undefined);
    if (only) return only.name;
    asker.show(found.length === 0 ? NOBODY : linesOf(found));
  }
}

const NOBODY = [
  'svc knows no such sender. If it signs what it sends, standard_webhooks or hmac_sha256 may fit.',
];

function linesOf(found: ReturnType<typeof sendersFor>): string[] {
  const width = Math.max(...found.map(({ name }) => name.length));
  const lines = found.map(({ name, title }) => `  ${name.padEnd(width)}  ${title}`);
  const rest = lines.length - SHOWN_MAX;
  return rest > 0 ? [...lines.slice(0, SHOWN_MAX), `  and ${rest} more: type more letters`] : lines;
}
