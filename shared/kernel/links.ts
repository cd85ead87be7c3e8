import { timingSafeEqual } from 'node:crypto';
import { isoTime } from '../lib/clock.ts';
import type { ServerInfo, Vault } from './context.ts';
import { projectBody } from '../lib/ids.ts';
import { PAYLOAD_LINK_SECONDS } from '../lib/limits.ts';
import { mailParts } from '../rules/mail-parts.ts';
import type { EventRow } from '../store/events.ts';

/** Attachments never change, so that each has one version. */
export const ATTACHMENT_VERSION = 1;

/** What links begin with that lead to what strangers wrote. */
export function contentBase({ contentUrl, urls }: ServerInfo): string {
  return contentUrl ?? urls.api;
}

/** What a payload link is signed over: its purpose first, so that no signature fits another kind of link. */
export function payloadLinkText(projectId: string, eventId: string, expiresAtMs: number): string {
  return `GET|payload|1|${projectId}|${eventId}|${expiresAtMs}`;
}

/** What a link to the HTML of a mail is signed over. */
export function mailHtmlText(projectId: string, eventId: string, expiresAtMs: number): string {
  return `GET|mail|1|${projectId}|${eventId}|${expiresAtMs}`;
}

/** Where what an event does not hold itself can be read for an hour, with no key needed. */
export interface EventLinks {
  /** The stored body, where that is too large. */
  readonly url: string | null;
  /** The HTML of a mail, on a page that runs and loads nothing. */
  readonly htmlUrl: string | null;
  /** An attachment of a mail, by its name. */
  readonly linkTo: (name: string) => { readonly url?: string; readonly url_expires_at?: string };
}

/** What a reader that cannot sign links shows in their place. */
export const NO_LINKS: EventLinks = { url: null, htmlUrl: null, linkTo: () => ({}) };

/** The links of an event that is shown whole. */
export function eventLinks(
  context: { readonly vault: Vault; readonly server: ServerInfo },
  projectId: string,
  event: Pick<EventRow, 'id' | 'blob' | 'channel' | 'headers'>,
  now: number,
): EventLinks {
  const expiresAt = now + PAYLOAD_LINK_SECONDS * 1000;
  const link = (kind: 'l' | 'm', signedText: typeof payloadLinkText): string => {
    const signature = context.vault.sign(signedText(projectId, event.id, expiresAt));
    return `${contentBase(context.server)}/${kind}/${projectBody(projectId)}/${event.id}/${expiresAt}/${signature}`;
  };
  const isHtml = event.channel === 'email' && mailParts(event.headers).html;
  return {
    url: event.blob === null ? null : link('l', payloadLinkText),
    htmlUrl: isHtml ? link('m', mailHtmlText) : null,
    linkTo: (name) => {
      const file = { path: `${event.id}/${name}`, version: ATTACHMENT_VERSION };
      const url = fileDownloadLink(context, projectId, file, expiresAt);
      return { url, url_expires_at: isoTime(expiresAt) };
    },
  };
}

/** One version of a file. */
interface FileVersion {
  readonly path: string;
  readonly version: number;
}

/** What a link to one version of a file is signed over. A path may hold `|`: the numbers after it hold none. */
export function fileLinkText(
  projectId: string,
  { path, version }: FileVersion,
  expiresAtMs: number,
): string {
  return `GET|file|1|${projectId}|${path}|${version}|${expiresAtMs}`;
}

/** A link to one version of a file, valid until a time and while that version stands, with no key needed. */
export function fileDownloadLink(
  context: { readonly vault: Vault; readonly server: ServerInfo },
  projectId: string,
  file: FileVersion,
  expiresAtMs: number,
): string {
  const signature = context.vault.sign(fileLinkText(projectId, file, expiresAtMs));
  const path = Buffer.from(file.path).toString('base64url');
  return `${contentBase(context.server)}/d/${projectBody(projectId)}/${path}/${file.version}/${expiresAtMs}/${signature}`;
}

/** Whether a signature is the vault's over this text. How long it takes tells nothing of the right one. */
export function isSigned(vault: Vault, text: string, signature: string): boolean {
  const given = Buffer.from(signature);
  const wanted = Buffer.from(vault.sign(text));
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
