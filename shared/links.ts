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
