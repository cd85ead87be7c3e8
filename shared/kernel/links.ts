import { timingSafeEqual } from 'node:crypto';
import { isoTime } from '../lib/clock.ts';
import type { ServerInfo, Vault } from './context.ts';
import { projectBody } from '../lib/ids.ts';
import { PAYLOAD_LINK_SECONDS } from '../lib/limits.ts';
import { mailParts } from '../rules/mail-parts.ts';
import type { EventRow } from '../store/events.ts';

/** Attachments never change, so each has only one version. */
export const ATTACHMENT_VERSION = 1;

/** The base of links to strangers' content. */
export function contentBase({ contentUrl, urls }: ServerInfo): string {
  return contentUrl ?? urls.api;
}

/** The text a payload link signs. Its purpose comes first, so that no signature fits another kind of link. */
export function payloadLinkText(projectId: string, eventId: string, expiresAtMs: number): string {
  return `GET|payload|1|${projectId}|${eventId}|${expiresAtMs}`;
}

/** The text that a link to a mail's HTML signs. */
export function mailHtmlText(projectId: string, eventId: string, expiresAtMs: number): string {
  return `GET|mail|1|${projectId}|${eventId}|${expiresAtMs}`;
}

/** Links to an event's larger parts, valid for an hour and without a key. */
export interface EventLinks {
  /** The stored body, if it's too large for the event. */
  readonly url: string | null;
  /** A mail's HTML, on a page that runs and loads nothing. */
  readonly htmlUrl: string | null;
  /** A mail's attachment, by its name. */
  readonly linkTo: (name: string) => { readonly url?: string; readonly url_expires_at?: string };
}

/** For readers that can't sign links. */
export const NO_LINKS: EventLinks = { url: null, htmlUrl: null, linkTo: () => ({}) };

/** The links of an event that is shown in full. */
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
  expiresAtMs: number,
): string {
  return `GET|file|1|${projectId}|${path}|${version}|${expiresAtMs}`;
}

/** The text that a link to a picture signs. A page shows it, so its bytes come from the gateway, wherever they are kept. */
export function pictureLinkText(
  projectId: string,
  { path, version }: FileVersion,
  expiresAtMs: number,
): string {
  return `GET|picture|1|${projectId}|${path}|${version}|${expiresAtMs}`;
}

/**
 * A link to one version of a file, without a key. It's valid until a given time, and only while that version exists.
 */
export function fileDownloadLink(
  context: { readonly vault: Vault; readonly server: ServerInfo },
  projectId: string,
  file: FileVersion,
  expiresAtMs: number,
  signedText = fileLinkText,
): string {
  const signature = context.vault.sign(signedText(projectId, file, expiresAtMs));
  const path = Buffer.from(file.path).toString('base64url');
  return `${contentBase(context.server)}/d/${projectBody(projectId)}/${path}/${file.version}/${expiresAtMs}/${signature}`;
}

/** Whether the vault signed this text. Takes the same time for any signature, so timing reveals nothing. */
export function isSigned(vault: Vault, text: string, signature: string): boolean {
  const given = Buffer.from(signature);
  const wanted = Buffer.from(vault.sign(text));
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
