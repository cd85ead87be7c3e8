import { finished } from 'node:stream/promises';
import { DkimVerifier, type DkimResult, type HeaderRows } from 'mailauth/lib/dkim/dkim-verifier.js';
import { dmarc } from 'mailauth/lib/dmarc/index.js';
import { getAlignment } from 'mailauth/lib/tools.js';
import { domainOf } from '../../../../shared/rules/mail/mail-address.ts';
import type { MailAuthentication, UnsignedPart } from '../read-mail.ts';
import type { TxtRecords, TxtResolver } from './dns.ts';
import { keyRefusal, readSignature, type Refusal, type Signature } from './signature-tags.ts';
import { unverified } from './unread.ts';

const RSA_MIN_BITS = 1024;
/** Each signature costs a DNS question, and RFC 6376 section 6.1 lets a verifier set a limit. */
const SIGNATURES_MAX = 8;
/**
 * Fields that a mail has only once (RFC 5322 section 3.6, RFC 2045 section 3). A second one added to a signed mail would
 * show readers something that nobody signed (RFC 6376 section 8.15).
 */
const ONCE = [
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'date',
  'subject',
  'message-id',
  'in-reply-to',
  'references',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
];

/** The fields that decide what the parts of a payload say. */
const PARTS: readonly (readonly [field: string, part: UnsignedPart])[] = [
  ['message-id', 'message_id'],
  ['to', 'to'],
  ['cc', 'cc'],
  ['reply-to', 'reply_to'],
  ['subject', 'subject'],
  ['date', 'date'],
  ['in-reply-to', 'in_reply_to'],
  ['references', 'references'],
  ['content-type', 'content_type'],
  ['content-transfer-encoding', 'content_type'],
];

type DkimVerdict = MailAuthentication['dkim'];
type DmarcVerdict = MailAuthentication['dmarc'];

/** The verdict that says most about a mail comes first; only a signature that counts gives `pass`. */
const BY_WEIGHT: readonly DkimVerdict[] = [
  'pass',
  'temperror',
  'policy',
  'fail',
  'neutral',
  'permerror',
  'none',
];

interface SignatureResult {
  readonly domain: string;
  readonly verdict: DkimVerdict;
  /** The fields it covers. */
  readonly fields: readonly string[];
}

interface CheckedMail {
  readonly signatures: readonly SignatureResult[];
  /** The fields the mail has. */
  readonly fields: ReadonlySet<string>;
}

/** `froms` is the number of addresses in From; `address` is null unless there is exactly one. */
interface Claim {
  readonly address: string | null;
  readonly froms: number;
  readonly now: number;
}

/**
 * Checks the signatures of a mail (RFC 6376, RFC 8463) and the policy of its sender's domain (RFC 7489). Ignores headers
 * that claim a result. If the DNS doesn't answer in time, the result is a temporary error; it never throws.
 */
export async function verifyMail(
  bytes: Buffer,
  { address, froms, now }: Claim,
  records: TxtRecords,
): Promise<MailAuthentication> {
  const { resolver, end } = records.forOneMail();
  try {
    const { signatures: checked, fields } = await checkSignatures(bytes, now, resolver);
    const verdict = BY_WEIGHT.find((one) => checked.some((by) => by.verdict === one)) ?? 'none';
    if (address === null) {
      return unverified(verdict, froms > 1 ? 'permerror' : 'none');
    }
    const domain = domainOf(address);
    const passed = checked.filter((one) => one.verdict === 'pass');
    const aligned = passed.filter((one) => isAligned(domain, one.domain));
    const waiting = checked.some(
      (one) => one.verdict === 'temperror' && isAligned(domain, one.domain),
    );
    const { policy, counting } = await applyPolicy(address, aligned, resolver);
    return {
      dkim: verdict,
      dmarc: policy === 'fail' && waiting ? 'temperror' : policy,
      spf: 'none',
      from_domain: domain,
      aligned: aligned.length > 0,
      unsigned: policy === 'pass' ? unsignedParts(fields, counting) : null,
    };
  } finally {
    end();
  }
}

async function checkSignatures(
  bytes: Buffer,
  now: number,
  resolver: TxtResolver,
): Promise<CheckedMail> {
  const verifier = new Verifier(now, resolver);
  try {
    // In one piece: mailauth would scan a long line again for every piece of it.
    verifier.end(withCrLf(bytes));
    await finished(verifier);
  } catch {
    return { signatures: [{ domain: '', verdict: 'permerror', fields: [] }], fields: new Set() };
  }
  return { signatures: verifier.checked(), fields: verifier.fields };
}

/** Shows mailauth only the signatures that may count, and the whole header to check them against. */
class Verifier extends DkimVerifier {
  readonly #now: number;
  readonly #accepted: Signature[] = [];
  readonly #refused: Refusal[] = [];
  #fields: ReadonlySet<string> = new Set();

  constructor(now: number, resolver: TxtResolver) {
    super({ resolver, minBitLength: RSA_MIN_BITS, curTime: new Date(now) });
    this.#now = now;
  }

  /** The fields of the header, in lower case. */
  get fields(): ReadonlySet<string> {
    return this.#fields;
  }

  override async messageHeaders(headers: HeaderRows): Promise<void> {
    const signed = headers.parsed.filter(({ key }) => key === 'dkim-signature');
    this.#fields = new Set(headers.parsed.map(({ key }) => key ?? ''));
    const doubtful = isDoubtful(headers);
    const shown = signed.slice(0, SIGNATURES_MAX).filter(({ line }) => {
      const read = doubtful ? 'policy' : readSignature(line.toString('latin1'), this.#now);
      if (typeof read === 'string') this.#refused.push(read);
      else this.#accepted.push(read);
      return typeof read !== 'string';
    });
    await super.messageHeaders({ ...headers, parsed: shown });
    this.headers = headers;
  }

  checked(): readonly SignatureResult[] {
    const refused = this.#refused.map((verdict) => ({ domain: '', verdict, fields: [] }));
    const accepted = this.#accepted.map((signature, index) => ({
      domain: signature.domain,
      verdict: verdictOn(signature, this.results[index]),
      fields: signature.fields,
    }));
    return [...accepted, ...refused];
  }
}

/** A repeated field, or a line end that other programs may see elsewhere. */
function isDoubtful({ parsed, original }: HeaderRows): boolean {
  const keys = parsed.map(({ key }) => key ?? '').filter((key) => ONCE.includes(key));
  const text = original.toString('latin1');
  return new Set(keys).size < keys.length || /\r(?!\n)|\0/.test(text) || /^\s/.test(text);
}

function verdictOn(signature: Signature, result: DkimResult | undefined): DkimVerdict {
  // mailauth read the same field differently.
  if (result?.signature !== signature.value) return 'permerror';
  if (result.signingDomain?.toLowerCase() !== signature.domain) return 'permerror';
  if (result.status.result !== 'pass') return result.status.result;
  return keyRefusal(result.rr ?? '', signature) ?? 'pass';
}

interface PolicyResult {
  readonly policy: DmarcVerdict;
  /** The signatures that the policy accepts. */
  readonly counting: readonly SignatureResult[];
}

/** mailauth ignores `adkim=s`, so we use its result only to see whether there is a policy. */
async function applyPolicy(
  address: string,
  aligned: readonly SignatureResult[],
  resolver: TxtResolver,
): Promise<PolicyResult> {
  const found = await dmarc({ headerFrom: address, spfDomains: [], dkimDomains: [], resolver });
  if (found === false || found.status.result === 'none') return { policy: 'none', counting: [] };
  if (found.status.result === 'temperror') return { policy: 'temperror', counting: [] };
  const strict = /(?:^|;)\s*adkim\s*=\s*s\s*(?:;|$)/i.test(found.rr ?? '');
  const counting = aligned.filter((one) => !strict || one.domain === domainOf(address));
  return { policy: counting.length > 0 ? 'pass' : 'fail', counting };
}

/** What each signature alone would leave to anybody is safe if another one covers it. */
function unsignedParts(
  fields: ReadonlySet<string>,
  counting: readonly SignatureResult[],
): readonly UnsignedPart[] {
  const isOpen = ([field]: (typeof PARTS)[number]): boolean =>
    fields.has(field) && !counting.some((one) => one.fields.includes(field));
  return [...new Set(PARTS.filter(isOpen).map(([, part]) => part))];
}

function isAligned(domain: string, signer: string): boolean {
  return signer !== '' && getAlignment(domain, [signer]) !== false;
}

/** Signatures cover lines that end in CR LF. mailauth adds missing ones too, but one line at a time. */
function withCrLf(bytes: Buffer): Buffer {
  const bare: number[] = [];
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) {
    if (bytes[at - 1] !== 0x0d) bare.push(at);
  }
  if (bare.length === 0) return bytes;
  const whole = Buffer.allocUnsafe(bytes.length + bare.length);
  let [from, to] = [0, 0];
  for (const at of bare) {
    to += bytes.copy(whole, to, from, at);
    whole[to] = 0x0d;
    to += 1;
    from = at;
  }
  bytes.copy(whole, to, from);
  return whole;
}
