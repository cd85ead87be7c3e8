import { timingSafeEqual } from 'node:crypto';
import type { ServerInfo, Vault } from './context.ts';
import { projectBody } from './ids.ts';

/** What a payload link is signed over: its purpose first, so that no signature fits another kind of link. */
export function payloadLinkText(projectId: string, eventId: string, expiresAtMs: number): string {
  return `GET|payload|1|${projectId}|${eventId}|${expiresAtMs}`;
}

/** A link to the stored body of an event, valid until a time, with no key needed. */
export function payloadLink(
  context: { readonly vault: Vault; readonly server: ServerInfo },
  projectId: string,
  eventId: string,
  expiresAtMs: number,
): string {
  const signature = context.vault.sign(payloadLinkText(projectId, eventId, expiresAtMs));
  return `${context.server.urls.api}/l/${projectBody(projectId)}/${eventId}/${expiresAtMs}/${signature}`;
}

/** What a link to the HTML of a mail is signed over. */
export function mailHtmlText(projectId: string, eventId: string, expiresAtMs: number): string {
  return `GET|mail|1|${projectId}|${eventId}|${expiresAtMs}`;
}

/** A link to the HTML of a mail, on a page that runs and loads nothing, valid until a time, with no key needed. */
export function mailHtmlLink(
  context: { readonly vault: Vault; readonly server: ServerInfo },
  projectId: string,
  eventId: string,
  expiresAtMs: number,
): string {
  const signature = context.vault.sign(mailHtmlText(projectId, eventId, expiresAtMs));
  return `${context.server.urls.api}/m/${projectBody(projectId)}/${eventId}/${expiresAtMs}/${signature}`;
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
  return `${context.server.urls.api}/d/${projectBody(projectId)}/${path}/${file.version}/${expiresAtMs}/${signature}`;
}

/** Whether a signature is the vault's over this text. How long it takes tells nothing of the right one. */
export function isSigned(vault: Vault, text: string, signature: string): boolean {
  const given = Buffer.from(signature);
  const wanted = Buffer.from(vault.sign(text));
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
