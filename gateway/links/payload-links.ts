import type { Clock } from '../../shared/clock.ts';
import type { Vault } from '../../shared/context.ts';
import { ServiceError } from '../../shared/errors.ts';
import { projectIdFromBody } from '../../shared/ids.ts';
import { isSigned, payloadLinkText } from '../../shared/links.ts';
import { isMissing } from '../blobs/blob-store.ts';
import type { Projects } from '../projects.ts';

/** The stored body behind a payload link. */
interface LinkedPayload {
  readonly bytes: Uint8Array;
  readonly eventId: string;
}

/** Serves the bodies that were too large for an answer, by signed links with an end. */
export class PayloadLinks {
  readonly #projects: Projects;
  readonly #vault: Vault;
  readonly #clock: Clock;

  constructor(parts: { projects: Projects; vault: Vault; clock: Clock }) {
    this.#projects = parts.projects;
    this.#vault = parts.vault;
    this.#clock = parts.clock;
  }

  /** NOT_FOUND for anything but a genuine link in its time to a payload that is still kept. */
  async open(parts: readonly string[]): Promise<LinkedPayload> {
    const [body = '', eventId = '', expires = '', signature = ''] = parts;
    const expiresAtMs = /^\d{1,15}$/.test(expires) ? Number(expires) : 0;
    const projectId = projectIdOf(body);
    const text = payloadLinkText(projectId, eventId, expiresAtMs);
    if (!isSigned(this.#vault, text, signature) || this.#clock.now() >= expiresAtMs) {
      throw new ServiceError('NOT_FOUND');
    }
    const project = await this.#projects.find(projectId);
    const row = await project?.store.read((store) => store.events.findWhole(eventId));
    if (!project || !row?.blob) throw new ServiceError('NOT_FOUND');
    const bytes = await project.blobs.read(row.blob).catch((error: unknown) => {
      // Its time was up between the row and the file.
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
