import { senderOf, VERIFICATIONS } from '../../shared/senders/registry.ts';
import type { Sender } from '../../shared/senders/sender.ts';

const HEAD = ['`--verification`', 'sender', 'how it proves itself', 'id', 'asks before'];

/** The senders as a table for docs/sources.md. */
export function senderTable(): string[][] {
  return [
    HEAD,
    ...VERIFICATIONS.map((name) => {
      const sender = senderOf(name);
      return [`\`${name}\``, sender.title, proofText(sender), idText(sender), askText(sender)];
    }),
  ];
}

function placeText(place: string): string {
  const [kind, ...name] = place.split(':');
  return kind === 'body' ? `\`${name.join(':')}\` in the body` : `\`${name.join(':')}\``;
}

function proofText({ name, proof }: Sender): string {
  if (proof.kind === 'none') return 'nothing: not verified';
  if (proof.kind === 'shared_secret') return `a secret in ${placeText(proof.at)}`;
  const scheme = proof.kind === 'mac' ? `HMAC-${proof.hash.replace('sha', 'SHA')}` : 'public key';
  const where =
    name === 'hmac_sha256'
      ? '`x-signature`, or `--signature-header`'
      : placeText(proof.signature[0] ?? '');
  const age = proof.time ? `, at most ${proof.time.toleranceSeconds} s old` : '';
  return `${scheme} in ${where}${age}`;
}

function idText({ id }: Sender): string {
  if (id === 'any') return 'any known header';
  const ways = id.map((way) => placeText([way].flat()[0] ?? ''));
  return ways.join(', else ') || 'none: the body';
}

function askText({ handshake }: Sender): string {
  return handshake ? `${handshake.method}, ${placeText(handshake.challenge)}` : '';
}
