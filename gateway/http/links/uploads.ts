import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { UPLOAD_WINDOW_BYTES } from '../../../shared/admission/limits.ts';
import { admittedOf, type Arrival } from '../../../shared/api/http.ts';
import { refuseEncoded } from '../../../shared/api/read-body.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { invalid, ServiceError, type FieldProblem } from '../../../shared/lib/errors.ts';
import { parseToken } from '../../../shared/lib/ids.ts';
import type { UploadRow } from '../../../shared/store/tables/disk/uploads.ts';
import type { Project } from '../../projects/project.ts';
import type { Projects } from '../../projects/projects.ts';

/** The answer to an upload. */
export interface UploadAnswer {
  readonly status: 'received';
  readonly size_bytes: number;
}

/** Receives the bytes of open uploads by the tokens in their URLs, from socket to disk, never whole in memory. */
export class Uploads {
  readonly #projects: Projects;
  readonly #clock: Clock;
  /** The last PUT that started for each upload. */
  readonly #turns = new Map<string, Promise<UploadAnswer>>();

  constructor(parts: { projects: Projects; clock: Clock }) {
    this.#projects = parts.projects;
    this.#clock = parts.clock;
  }

  /**
   * Handles one PUT to an upload URL; a repeat replaces the earlier bytes. NOT_FOUND if the token is unknown or
   * expires before the end; VALIDATION_FAILED if length or type differ from the declared ones.
   */
  async receive(token: string, arrival: Arrival): Promise<UploadAnswer> {
    const { incoming: request } = arrival;
    const { project, upload } = await this.#find(token);
    const admitted = admittedOf(arrival);
    admitted.proved('upload', project.info.id);
    refuseEncoded(request);
    refuseUndeclared(request, upload);
    const account = admitted.openBody();
    const refusal = account.take(UPLOAD_WINDOW_BYTES);
    if (refusal) throw refusal;
    // Its bytes may take minutes to come.
    admitted.stepAside();
    // PUTs run one after another, so that an upload never takes more space than its reservation and the bytes that it
    // replaces.
    const before = this.#turns.get(upload.id);
    const take = (): Promise<UploadAnswer> => this.#take(project, upload, request);
    const turn = before ? before.then(take, take) : take();
    this.#turns.set(upload.id, turn);
    try {
      return await turn;
    } finally {
      account.close();
      if (this.#turns.get(upload.id) === turn) this.#turns.delete(upload.id);
    }
  }

  async #find(token: string): Promise<{ project: Project; upload: UploadRow }> {
    const parsed = parseToken(token);
    const project = parsed && (await this.#projects.find(parsed.projectId));
    const upload = await project?.store.read((store) =>
      store.uploads.findByTokenHash(hash('sha256', token)),
    );
    if (!project || !upload || upload.expires_at <= this.#clock.now()) {
      throw new ServiceError('NOT_FOUND');
    }
    return { project, upload };
  }

  async #take(
    project: Project,
    upload: UploadRow,
    request: IncomingMessage,
  ): Promise<UploadAnswer> {
    const { id: uploadId, size_bytes } = upload;
    const { digest, release } = await project.blobs.putStream(
      this.#whileOpen(upload, request),
      size_bytes,
    );
    try {
      const now = this.#clock.now();
      await project.writes.run('uploadReceived', { uploadId, digest, now });
    } finally {
      release();
    }
    return { status: 'received', size_bytes };
  }

  /** Yields the body until the upload expires, so that it also refuses a sender who trickles bytes. */
  async *#whileOpen(upload: UploadRow, request: IncomingMessage): AsyncGenerator<Uint8Array> {
    // If the iterator destroyed the request, the gateway couldn't answer it.
    const body: AsyncIterable<Uint8Array> = request.iterator({ destroyOnReturn: false });
    for await (const chunk of body) {
      if (upload.expires_at <= this.#clock.now()) throw new ServiceError('NOT_FOUND');
      yield chunk;
    }
  }
}

/** VALIDATION_FAILED that names each header that differs from the upload's declaration. */
function refuseUndeclared(request: IncomingMessage, upload: UploadRow): void {
  const { size_bytes, content_type } = upload;
  const declared = { 'Content-Length': String(size_bytes), 'Content-Type': content_type.trim() };
  const problems: FieldProblem[] = [];
  for (const [header, value] of Object.entries(declared)) {
    if (request.headers[header.toLowerCase()] === value) continue;
    problems.push({ path: header, message: `Expected \`${value}\`, as the upload declared.` });
  }
  if (problems.length > 0) throw invalid(...problems);
}
