import { createHash, sign, type KeyObject } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** The signer. The public key is at `<selector>._domainkey.<domain>` in the DNS. */
export interface DkimSigner {
  readonly domain: string;
  readonly selector: string;
  /** RSA or Ed25519. */
  readonly key: KeyObject;
}

/**
 * Headers listed once more than they occur, so nobody can add one: no second sender or subject, and no Reply-To to a mail
 * without one (RFC 6376 section 8.15).
 */
const SEALED = ['From', 'To', 'Cc', 'Subject', 'Reply-To'];
/** Headers signed if present; servers on the way may add missing ones. */
const SIGNED = [
  'Date',
  'Message-ID',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
  'Auto-Submitted',
];
/** Mail is hashed in pieces of this size, so other work gets a turn in between. */
const PIECE_BYTES = 256 * 1024;
const LINE_END = '\r\n';
const HEADERS_END = LINE_END + LINE_END;

/**
 * Makes the DKIM-Signature line to put before a mail (RFC 6376; RFC 8463 for Ed25519), with `relaxed` header and body.
 * `raw` is the mail as it goes out: every line ends in CR LF, and no header repeats.
 */
export async function dkimSignature(
  raw: Buffer,
  { domain, selector, key }: DkimSigner,
  now: number,
): Promise<Buffer> {
  const end = raw.indexOf(HEADERS_END);
  const headers = headersOf(raw.toString('latin1', 0, end));
  const present = SIGNED.filter((name) => headers.has(name.toLowerCase()));
  const sealed = SEALED.flatMap((name) =>
    headers.has(name.toLowerCase()) ? [name, name] : [name],
  );
  const names = [...sealed, ...present];
  const isRsa = key.asymmetricKeyType === 'rsa';
  const unsigned = [
    `v=1; a=${isRsa ? 'rsa' : 'ed25519'}-sha256; c=relaxed/relaxed;`,
    `d=${domain}; s=${selector};`,
    `t=${Math.floor(now / 1000)};`,
    `h=${folded(names.join(':'), /.{1,70}(?::|$)/g)};`,
    `bh=${await bodyHash(raw.subarray(end + HEADERS_END.length))};`,
    'b=',
  ].join(`${LINE_END} `);
  // A name listed a second time matches no header and adds nothing.
  const lines = [...new Set(names)].flatMap((name) => headers.get(name.toLowerCase()) ?? []);
  const data = [...lines, relaxedHeader('DKIM-Signature', unsigned)].join(LINE_END);
  const signature = await signed(Buffer.from(data, 'latin1'), key);
  return Buffer.from(
    `DKIM-Signature: ${unsigned}${folded(signature, /.{1,72}/g)}${LINE_END}`,
    'latin1',
  );
}

/** Headers by lower-case name, in the form that is signed. */
function headersOf(block: string): Map<string, string> {
  const lines = block.replace(/\r\n(?=[ \t])/g, '').split(LINE_END);
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon).trim();
      return [name.toLowerCase(), relaxedHeader(name, line.slice(colon + 1))];
    }),
  );
}

/** RFC 6376 section 3.4.2. */
function relaxedHeader(name: string, value: string): string {
  return `${name.toLowerCase()}:${value
    .replaceAll(LINE_END, '')
    .replace(/[ \t]+/g, ' ')
    .trim()}`;
}

/** RFC 6376 sections 3.4.4 and 3.7. */
async function bodyHash(body: Buffer): Promise<string> {
  const hash = createHash('sha256');
  // Empty lines count only if more text follows.
  let emptyLines = 0;
  let isEmpty = true;
  for (let at = 0; at < body.length;) {
    const lineEnd = body.indexOf(LINE_END, at + PIECE_BYTES);
    const next = lineEnd < 0 ? body.length : lineEnd + LINE_END.length;
    const text = body
      .toString('latin1', at, next)
      .replace(/[ \t]+/g, ' ')
      .replaceAll(' \r\n', LINE_END);
    let length = text.length;
    while (text.endsWith(LINE_END, length)) length -= LINE_END.length;
    if (length > 0) {
      hash.update(LINE_END.repeat(emptyLines), 'latin1').update(text.slice(0, length), 'latin1');
      emptyLines = 0;
      isEmpty = false;
    }
    emptyLines += (text.length - length) / LINE_END.length;
    at = next;
    await nextTurn();
  }
  if (!isEmpty) hash.update(LINE_END, 'latin1');
  return hash.digest('base64');
}

/** Signs off the main thread. RSA takes the data, Ed25519 its hash (RFC 8463 section 3). */
function signed(data: Buffer, key: KeyObject): Promise<string> {
  const [algorithm, input] =
    key.asymmetricKeyType === 'rsa'
      ? ['sha256', data]
      : [null, createHash('sha256').update(data).digest()];
  return new Promise((resolve, reject) => {
    sign(algorithm, input, key, (error, signature) => {
      if (error) reject(error);
      else resolve(signature.toString('base64'));
    });
  });
}

/** Folding is allowed between names and inside base64. */
function folded(text: string, line: RegExp): string {
  return (text.match(line) ?? []).join(`${LINE_END}  `);
}
