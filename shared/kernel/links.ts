import { timingSafeEqual } from 'node:crypto';
import { isoTime } from '../lib/clock.ts';
import type { ServerInfo, Vault } from './context.ts';
import { projectBody } from '../lib/ids.ts';
import { PAYLOAD_LINK_SECONDS } from '../lib/limits.ts';
import { mailParts } from '../rules/mail/mail-parts.ts';
import type { EventRow } from '../store/tables/inbox/events.ts';

/** Attachments never change, so each has only one version. */
export const ATTACHMENT_VERSION = 1;

/** The base of links to strangers' content. */
export function contentBase({ contentUrl, urls }: ServerInfo): string {
  return contentUrl ?? urls.api;
}

/** What a link opens until when (milliseconds), and for whom: it ends with the key, the route or the person it was given to. */
interface LinkTerms {
  readonly expiresAtMs: number;
  /** `key_…`, `rte_…`, or the `chn_…` or `mbr_…` of a session. */
  readonly holder: string;
}

function termsText({ expiresAtMs, holder }: LinkTerms): string {
  return `${expiresAtMs}|${holder}`;
}

/** The text a payload link signs. Its purpose comes first, so that no signature fits another kind of link. */
export function payloadLinkText(projectId: string, eventId: string, terms: LinkTerms): string {
  return `GET|payload|2|${projectId}|${eventId}|${termsText(terms)}`;
}

/** The text that a link to a mail's HTML signs. */
export function mailHtmlText(projectId: string, eventId: string, terms: LinkTerms): string {
  return `GET|mail|2|${projectId}|${eventId}|${termsText(terms)}`;
}

/** The last part of a link: its holder and the signature. */
function sealed(vault: Vault, text: string, { holder }: LinkTerms): string {
  return `${holder}.${vault.sign(text)}`;
}

/** Whom a link was given to, and its signature; a link of an earlier release names nobody, and opens nothing any more. */
export function readSeal(seal: string): { readonly holder: string; readonly signature: string } {
  const [holder = '', signature = ''] = seal.split('.');
  return { holder, signature };
}

/** Links to an event's larger parts, valid for an hour and without a key. */
export interface EventLinks {
  /** The stored body, if it's too large for the event. */
  readonly url: string | null;
  /** A webhook's body of any size, as it came. */
  readonly bodyUrl: string | null;
  /** A mail's HTML, on a page that runs and loads nothing. */
  readonly htmlUrl: string | null;
  /** A mail's attachment, by its name. */
  readonly linkTo: (name: string) => { readonly url?: string; readonly url_expires_at?: string };
}

/** For readers that can't sign links. */
export const NO_LINKS: EventLinks = { url: null, bodyUrl: null, htmlUrl: null, linkTo: () => ({}) };

/** The links of an event that is shown in full. */
export function eventLinks(
  context: { readonly vault: Vault; readonly server: ServerInfo },
  projectId: string,
  event: Pick<EventRow, 'id' | 'kind' | 'blob' | 'channel' | 'headers'>,
  { holder, now }: { readonly holder: string; readonly now: number },
): EventLinks {
  const terms = { holder, expiresAtMs: now + PAYLOAD_LINK_SECONDS * 1000 };
  const link = (kind: 'l' | 'm', signedText: typeof payloadLinkText): string => {
    const end = sealed(context.vault, signedText(projectId, event.id, terms), terms);
    return `${contentBase(context.server)}/${kind}/${projectBody(projectId)}/${event.id}/${terms.expiresAtMs}/${end}`;
  };
  const isHtml = event.channel === 'email' && mailParts(event.headers).html;
  const isBody = event.channel === 'webhook' && event.kind !== null;
  return {
    url: event.blob === null ? null : link('l', payloadLinkText),
    bodyUrl: isBody ? link('l', payloadLinkText) : null,
    htmlUrl: isHtml ? link('m', mailHtmlText) : null,
    linkTo: (name) => {
      const file = { path: `${event.id}/${name}`, version: ATTACHMENT_VERSION };
      const url = fileDownloadLink(context, projectId, file, terms);
      return { url, url_expires_at: isoTime(terms.expiresAtMs) };
    },
  };
}

/** A part of a mail that this machine keeps: all of it, its HTML, or a file by its number. */
export interface KeptMailPart {
  readonly messageId: string;
  readonly part: 'mail' | 'html' | number;
}

/** The text that a link to a part of a kept mail signs. */
export function keptMailText(
  projectId: string,
  { messageId, part }: KeptMailPart,
  expiresAtMs: number,
): string {
  return `GET|kept|1|${projectId}|${messageId}|${part}|${expiresAtMs}`;
}

/** A link to a part of a kept mail, without a key. Its address is like that of other HTML or of a file. */
export function keptMailLink(
  context: { readonly vault: Vault; readonly server: ServerInfo },
  projectId: string,
  kept: KeptMailPart,
  expiresAtMs: number,
): string {
  const { messageId, part } = kept;
  const signature = context.vault.sign(keptMailText(projectId, kept, expiresAtMs));
  const file = Buffer.from(`${messageId}/${part}`).toString('base64url');
  const place =
    part === 'html'
      ? `m/${projectBody(projectId)}/${messageId}`
      : `d/${projectBody(projectId)}/${file}/${ATTACHMENT_VERSION}`;
  return `${contentBase(context.server)}/${place}/${expiresAtMs}/${signature}`;
}

interface FileVersion {
  readonly path: string;
  readonly version: number;
}

/** The text that a link to a file version signs. A path may contain `|`, but the numbers after it can't. */
export function fileLinkText(
  projectId: string,
  { path, version }: FileVersion,
  terms: LinkTerms,
): string {
  return `GET|file|2|${projectId}|${path}|${version}|${termsText(terms)}`;
}

/** The text that a link to a picture signs. A page shows it, so its bytes come from the gateway, wherever they are kept. */
export function pictureLinkText(
  projectId: string,
  { path, version }: FileVersion,
  terms: LinkTerms,
): string {
  return `GET|picture|2|${projectId}|${path}|${version}|${termsText(terms)}`;
}

/**
 * A link to one version of a file, without a key. It's valid until a given time, and only while that version and its holder
 * exist.
 */
export function fileDownloadLink(
  context: { readonly vault: Vault; readonly server: ServerInfo },
  projectId: string,
  file: FileVersion,
  terms: LinkTerms,
  signedText = fileLinkText,
): string {
  const end = sealed(context.vault, signedText(projectId, file, terms), terms);
  const path = Buffer.from(file.path).toString('base64url');
  return `${contentBase(context.server)}/d/${projectBody(projectId)}/${path}/${file.version}/${terms.expiresAtMs}/${end}`;
}

/** Whether the vault signed this text. Takes the same time for any signature, so timing reveals nothing. */
export function isSigned(vault: Vault, text: string, signature: string): boolean {
  const given = Buffer.from(signature);
  const wanted = Buffer.from(vault.sign(text));
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
