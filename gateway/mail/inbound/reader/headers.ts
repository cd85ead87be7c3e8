import { addressParser, decodeWords, type Header } from 'postal-mime';
import { comparableAddress, isMailAddress } from '../../../../shared/rules/mail-address.ts';
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

/** Servers that deliver a mail add these at the top of its header. */
const TRACE_FIELDS = ['x-original-to', 'delivered-to', 'envelope-to', 'x-envelope-to', 'x-rcpt-to'];

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
      subject: cleanLine(decodeWords(this.first('subject')), SUBJECT_MAX_CHARS),
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

  /** The topmost of each trace field, from the top: a sender's own fields can only come below. */
  deliveredTo(): string[] {
    const topmost = new Map<string, string>();
    for (const { key, value } of this.#headers) {
      if (TRACE_FIELDS.includes(key) && !topmost.has(key)) topmost.set(key, value);
    }
    const addresses = [...topmost.values()].map((value) => value.trim().replace(/^<(.*)>$/, '$1'));
    return unique(addresses.filter(isMailAddress));
  }

  addressedTo(): string[] {
    const named = ['to', 'cc', 'bcc', 'resent-to'].flatMap((field) => this.#addresses(field));
    return unique(named.map(({ address }) => address).filter(isMailAddress)).slice(
      0,
      ADDRESSED_MAX,
    );
  }

  /** RFC 3834 section 5, and older conventions. */
  isAutoSubmitted(): boolean {
    const keyword = (field: string) =>
      /^[a-z_-]*/i.exec(this.first(field).trim())?.[0].toLowerCase();
    const submitted = keyword('auto-submitted') ?? '';
    return (
      (submitted !== '' && submitted !== 'no') ||
      ['bulk', 'list', 'junk', 'auto_reply'].includes(keyword('precedence') ?? '') ||
      ['list-id', 'x-autoreply', 'x-autorespond'].some((field) => this.#all(field).length > 0) ||
      this.first('return-path').trim() === '<>' ||
      /^multipart\/report\b/i.test(this.first('content-type').trim())
    );
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
