import type { Clock } from '../../../shared/lib/clock.ts';
import type { Vault } from '../../../shared/kernel/context.ts';
import { ServiceError } from '../../../shared/lib/errors.ts';
import { projectIdFromBody } from '../../../shared/lib/ids.ts';
import { isSigned, mailHtmlText, payloadLinkText, readSeal } from '../../../shared/kernel/links.ts';
import { isStillHere } from '../../../shared/operations/access/actor.ts';
import { HTML_NAME } from '../../../shared/store/tables/inbox/event-files.ts';
import type { Repositories } from '../../../shared/store/repositories.ts';
import { isMissing } from '../../blobs/blob-store.ts';
import type { Projects } from '../../projects/projects.ts';

/** The stored body behind a payload link. */
interface LinkedPayload {
  readonly bytes: Uint8Array;
  readonly eventId: string;
}

/** Where a linked body is: among the blobs, or in its row. */
type BodyLocation = { readonly digest: string } | { readonly bytes: Uint8Array };

/** Serves the bodies of webhooks, and the HTML of mails, by signed links that expire. */
export class PayloadLinks {
  readonly #projects: Projects;
  readonly #vault: Vault;
  readonly #clock: Clock;

  constructor(parts: { projects: Projects; vault: Vault; clock: Clock }) {
    this.#projects = parts.projects;
    this.#vault = parts.vault;
    this.#clock = parts.clock;
  }

  /** NOT_FOUND unless the link is genuine and unexpired, and its payload and whom it was given to are still there. */
  open(parts: readonly string[]): Promise<LinkedPayload> {
    return this.#open(parts, payloadLinkText, async (store, eventId, now) => {
      const row = await store.events.findWhole(eventId, now);
      if (row?.blob) return { digest: row.blob };
      return row?.body ? { bytes: row.body } : null;
    });
  }

  /** Like `open`, for the HTML of a mail. */
  openHtml(parts: readonly string[]): Promise<LinkedPayload> {
    return this.#open(parts, mailHtmlText, async (store, eventId, now) => {
      const file = await store.eventFiles.find(eventId, HTML_NAME, now);
      return file ? { digest: file.digest } : null;
    });
  }

  async #open(
    parts: readonly string[],
    signedText: typeof payloadLinkText,
    find: (store: Repositories, eventId: string, now: number) => Promise<BodyLocation | null>,
  ): Promise<LinkedPayload> {
    const [body = '', eventId = '', expires = '', seal = ''] = parts;
    const { holder, signature } = readSeal(seal);
    const expiresAtMs = /^\d{1,15}$/.test(expires) ? Number(expires) : 0;
    const projectId = projectIdOf(body);
    const text = signedText(projectId, eventId, { expiresAtMs, holder });
    const now = this.#clock.now();
    if (!isSigned(this.#vault, text, signature) || now >= expiresAtMs) {
      throw new ServiceError('NOT_FOUND');
    }
    const project = await this.#projects.find(projectId);
    const stored = await project?.store.read(async (store) =>
      (await isStillHere(store, holder, now)) ? find(store, eventId, now) : null,
    );
    if (!project || !stored) throw new ServiceError('NOT_FOUND');
    if ('bytes' in stored) return { bytes: stored.bytes, eventId };
    const bytes = await project.blobs.read(stored.digest).catch((error: unknown) => {
      // The payload expired after the row was read.
      throw isMissing(error) ? new ServiceError('NOT_FOUND') : error;
    });
    return { bytes, eventId };
  }
}

function projectIdOf(body: string): string {
  try {
    return projectIdFromBody(body);
  } catch {
    throw new ServiceError('NOT_FOUND');
  }
}
