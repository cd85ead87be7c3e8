import { addressParser, decodeWords, type Header } from 'postal-mime';
import { comparableAddress, isMailAddress } from '../../../../shared/rules/mail/mail-address.ts';
import type { MailAddress, MailPayload } from '../read-mail.ts';
import { withoutInnerComments } from './address-comments.ts';
import { onlyAddress, signableDomain } from './sender-address.ts';
import { cleanLine } from './texts.ts';

const SUBJECT_MAX_CHARS = 2000;
const NAME_MAX_CHARS = 500;
const ADDRESS_MAX_CHARS = 500;
const ADDRESSES_MAX = 500;
const ADDRESSED_MAX = 200;
const IDS_MAX = 500;
/** The maximum length of a line in a mail (RFC 5322 section 2.1.1). */
const ID_MAX_CHARS = 998;
const DATE_MAX_CHARS = 100;

/** Servers that deliver a mail or send it on name its recipients in these, at the top of its header. */
const TRACE_FIELDS: readonly string[] = [
  'x-original-to',
  'delivered-to',
  'envelope-to',
  'x-envelope-to',
  'x-rcpt-to',
  'x-delivered-to',
  'x-resolved-to',
  'x-forwarded-to',
  'x-forwarded-for',
  'x-gm-original-to',
  'x-real-to',
  'x-apparently-to',
  'apparently-to',
  'original-recipient',
  'x-original-recipient',
  'x-originally-to',
  'x-orig-to',
  'x-receiver',
  'x-recipient',
  'x-envelope-recipient',
  'x-envelope-receiver',
  'x-mdrcpt-to',
  'x-mdaemon-deliver-to',
  'x-actual-recipient',
  'x-simplelogin-envelope-to',
  'x-ms-exchange-organization-originalenveloperecipients',
  'x-ms-exchange-forwardingloop',
  'x-ms-exchange-inbox-rules-loop',
];
/** Where the first of these stands, the sender's own header begins. */
const OWN_FIELDS: readonly string[] = [
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'bcc',
  'subject',
  'date',
  'message-id',
  'in-reply-to',
  'references',
  'mime-version',
  'content-type',
];
const TRACES_MAX = 100;

/** Facts from the header of a mail. */
export type HeaderFacts = Pick<
  MailPayload,
  | 'message_id'
  | 'from'
  | 'to'
  | 'cc'
  | 'reply_to'
  | 'subject'
  | 'date'
  | 'in_reply_to'
  | 'references'
>;

export class MailHeader {
  readonly #headers: readonly Header[];

  constructor(headers: readonly Header[]) {
    this.#headers = headers;
  }

  facts(): HeaderFacts {
    return {
      message_id: this.#ids('message-id')[0] ?? null,
      from: this.#addresses('from')[0] ?? null,
      to: this.#addresses('to').slice(0, ADDRESSES_MAX),
      cc: this.#addresses('cc').slice(0, ADDRESSES_MAX),
      reply_to: this.#addresses('reply-to').slice(0, ADDRESSES_MAX),
      subject: this.subject(),
      date: isoDate(this.first('date')),
      in_reply_to: this.#ids('in-reply-to')[0] ?? null,
      // The last ones are the nearest (RFC 5322 section 3.6.4).
      references: this.#ids('references').slice(-IDS_MAX),
    };
  }

  /**
   * The domain of From in ASCII, as `a@domain`, and how many addresses From has: only a single one can be checked. The
   * address is null if another reader could see another sender than the payload names.
   */
  claim(): { readonly address: string | null; readonly froms: number } {
    const fields = this.#all('from');
    const addresses = this.#addresses('from');
    const froms = Math.max(fields.length, addresses.length);
    const only = onlyAddress(fields[0] ?? '');
    const isSure = froms === 1 && only === addresses[0]?.address;
    const domain = isSure && only !== null ? signableDomain(only) : null;
    return { address: domain === null ? null : `a@${domain}`, froms };
  }

  /**
   * What servers wrote about the recipients above the sender's own header, from the top, each field's addresses together:
   * the topmost of each trace field, and every `Received: … for`. Below these, anybody may have written them.
   */
  deliveredTo(): string[][] {
    const own = this.#headers.findIndex(({ key }) => OWN_FIELDS.includes(key));
    const traces = this.#headers.slice(0, own === -1 ? undefined : own);
    const seen = new Set<string>();
    const values: string[] = [];
    for (const { key, value } of traces) {
      if (key === 'received') values.push(receivedFor(value));
      else if (TRACE_FIELDS.includes(key) && !seen.has(key)) values.push(value);
      seen.add(key);
    }
    const named = values.map((value) => unique(plainAddresses(value)).slice(0, ADDRESSED_MAX));
    return named.filter((addresses) => addresses.length > 0).slice(0, TRACES_MAX);
  }

  addressedTo(): string[] {
    const named = ['to', 'cc', 'bcc', 'resent-to'].flatMap((field) => this.#addresses(field));
    return unique(named.map(({ address }) => address).filter(isMailAddress)).slice(
      0,
      ADDRESSED_MAX,
    );
  }

  /** The addresses in From and Sender; some servers write only their name there. */
  writers(): string[] {
    const named = ['from', 'sender'].flatMap((field) => this.#addresses(field));
    return named.map(({ address, name }) => (address === '' ? name : address));
  }

  subject(): string {
    return cleanLine(decodeWords(this.first('subject')), SUBJECT_MAX_CHARS);
  }

  /** The type of a multipart/report (RFC 6522), in lower case; null for any other mail. */
  reportType(): string | null {
    const contentType = this.first('content-type').trim();
    if (!/^multipart\/report\b/i.test(contentType)) return null;
    return /;\s*report-type\s*=\s*"?([\w-]+)/i.exec(contentType)?.[1]?.toLowerCase() ?? null;
  }

  /** The topmost value of a field; empty if the field is missing. */
  first(field: string): string {
    return this.#headers.find(({ key }) => key === field)?.value ?? '';
  }

  #all(field: string): string[] {
    return this.#headers.filter(({ key }) => key === field).map(({ value }) => value);
  }

  #addresses(field: string): MailAddress[] {
    return this.#all(field)
      .flatMap((value) => addressParser(withoutInnerComments(value), { flatten: true }))
      .map(({ address = '', name }) => ({
        address: cleanLine(address, ADDRESS_MAX_CHARS),
        name: cleanLine(name, NAME_MAX_CHARS),
      }))
      .filter(({ address, name }) => address !== '' || name !== '');
  }

  #ids(field: string): string[] {
    return this.#all(field).flatMap(messageIds);
  }
}

/** The recipient in `from … by … for <ana@x.example>; …`, but not one in a comment. */
function receivedFor(value: string): string {
  return /\sfor\s+(\S{1,500})/i.exec(value.replaceAll(/\([^()]*\)/g, ' '))?.[1] ?? '';
}

/** The plain addresses in a field, whatever stands between them: `<ana@x.example>, rfc822;bo@x.example`. */
export function plainAddresses(value: string): string[] {
  return value.split(/[\s<>,;:"()]+/).filter(isMailAddress);
}

/** The ids in a text, with their angle brackets (RFC 5322 section 3.6.4). */
export function messageIds(text: string): string[] {
  const found = text.match(/<[^<>\s]+>/g) ?? [];
  return found
    .filter((id) => id.length <= ID_MAX_CHARS)
    .map((id) => cleanLine(id, ID_MAX_CHARS))
    .filter((id) => !/\s/.test(id));
}

function isoDate(value: string): string | null {
  const date = new Date(value.slice(0, DATE_MAX_CHARS));
  // Years over four digits have a format that few programs can read.
  return Number.isNaN(date.getTime()) || !/^\d/.test(date.toISOString())
    ? null
    : date.toISOString();
}

function unique(addresses: readonly string[]): string[] {
  return [...new Map(addresses.map((one) => [comparableAddress(one), one])).values()];
}
