import { hash } from 'node:crypto';
import { closeSync } from 'node:fs';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { Vault } from '../../../shared/kernel/context.ts';
import { invalid, ServiceError } from '../../../shared/lib/errors.ts';
import { parseToken, projectIdFromBody } from '../../../shared/lib/ids.ts';
import { fileLinkText, isSigned, pictureLinkText, readSeal } from '../../../shared/kernel/links.ts';
import { isStillHere } from '../../../shared/operations/access/actor.ts';
import { findFile } from '../../../shared/operations/file/find.ts';
import { monthOf } from '../../../shared/rules/mail/month.ts';
import type { FileRow } from '../../../shared/store/tables/disk/files.ts';
import type { Repositories } from '../../../shared/store/repositories.ts';
import { attachmentHeaders } from '../../lib/attachment.ts';
import { isMissing, type OpenBlob } from '../../blobs/blob-store.ts';
import { askedRange, type AskedRange } from './byte-range.ts';
import { FileBody, StreamBody } from '../../lib/file-body.ts';
import { S3BlobStore } from '../../blobs/s3-blob-store.ts';
import type { Project } from '../../projects/project.ts';
import type { Projects } from '../../projects/projects.ts';
import { pluralize } from '../../../shared/lib/pluralize.ts';

/** The part of a file that a request wants, in its headers' words. */
export interface DownloadOptions {
  /** Headers only. */
  readonly head: boolean;
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
}

export interface FileAnswer {
  readonly status: 200 | 206 | 302 | 416;
  readonly headers: Record<string, string>;
  readonly body: FileBody | StreamBody | Uint8Array | string | null;
}

const REDIRECT_SECONDS = 60;

/** Sends files to anyone with a link, as downloads that no browser runs, within the project's monthly limit. */
export class Downloads {
  readonly #projects: Projects;
  readonly #vault: Vault;
  readonly #clock: Clock;

  constructor(parts: { projects: Projects; vault: Vault; clock: Clock }) {
    this.#projects = parts.projects;
    this.#vault = parts.vault;
    this.#clock = parts.clock;
  }

  /**
   * Opens a public link. NOT_FOUND if the link or its key has expired, the key was revoked, or the file was replaced
   * or deleted; QUOTA_EXCEEDED if the month has no room for the bytes.
   */
  async byToken(token: string, wanted: DownloadOptions): Promise<FileAnswer> {
    const parsed = parseToken(token);
    const project = parsed && (await this.#projects.find(parsed.projectId));
    const now = this.#clock.now();
    const file = await project?.store.read((store) =>
      findLinked(store, hash('sha256', token), now),
    );
    if (!project || !file) throw new ServiceError('NOT_FOUND');
    return this.#send(project, file, wanted);
  }

  /** Opens a signed link: project, path, version, expiry and signature, as in its URL. Same errors. */
  async bySignature(parts: readonly string[], wanted: DownloadOptions): Promise<FileAnswer> {
    const link = readLink(parts);
    const now = this.#clock.now();
    if (!link || now >= link.expiresAtMs) throw new ServiceError('NOT_FOUND');
    const isLinkTo = (signedText: typeof fileLinkText): boolean =>
      isSigned(this.#vault, signedText(link.projectId, link, link), link.signature);
    const isFile = isLinkTo(fileLinkText);
    if (!isFile && !isLinkTo(pictureLinkText)) throw new ServiceError('NOT_FOUND');
    const project = await this.#projects.find(link.projectId);
    const file = await project?.store.read(async (store) =>
      (await isStillHere(store, link.holder, now)) ? findVersion(store, link, now) : null,
    );
    if (!project || !file) throw new ServiceError('NOT_FOUND');
    if (!isFile && !wanted.head && project.blobs instanceof S3BlobStore) {
      return this.#passOn(project, project.blobs, file);
    }
    return this.#send(project, file, wanted);
  }

  async #send(project: Project, file: FileRow, wanted: DownloadOptions): Promise<FileAnswer> {
    const sizeBytes = file.size_bytes;
    const headers = headersOf(file);
    if (wanted.head) {
      (await found(project.blobs.open(file.digest))).destroy();
      return {
        status: 200,
        headers: { ...headers, 'Content-Length': String(sizeBytes) },
        body: null,
      };
    }
    const range = rangeOf(wanted, file);
    const { blobs } = project;
    if (blobs instanceof S3BlobStore) return this.#redirect(project, blobs, { file, range });
    if (range === 'unsatisfiable') return notSatisfiable(headers, sizeBytes);
    const isWhole = range === 'whole';
    const { start, end } = isWhole ? { start: 0, end: sizeBytes - 1 } : range;
    const opened = await found(blobs.openFile(file.digest, { isWhole }));
    const body = await this.#body(project, opened, { start, sizeBytes: end - start + 1 });
    return {
      status: isWhole ? 200 : 206,
      headers: {
        ...headers,
        'Content-Length': String(end - start + 1),
        ...(!isWhole && { 'Content-Range': `bytes ${start}-${end}/${sizeBytes}` }),
      },
      body,
    };
  }

  /** Redirects to the bucket, with a URL that lives just long enough to follow it. The bucket handles ranges itself. */
  async #redirect(
    project: Project,
    blobs: S3BlobStore,
    { file, range }: { readonly file: FileRow; readonly range: AskedRange },
  ): Promise<FileAnswer> {
    const part = typeof range === 'object' ? range.end - range.start + 1 : file.size_bytes;
    const bytes = range === 'unsatisfiable' ? 0 : part;
    const month = monthOf(this.#clock.now());
    await found(blobs.check(file.digest));
    await project.transfer.take(month, bytes);
    const location = await blobs.presignGet(file.digest, {
      fileName: file.path,
      contentType: file.content_type,
      expiresInSeconds: REDIRECT_SECONDS,
    });
    const headers = {
      Location: location,
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
    };
    return { status: 302, headers, body: null };
  }

  /** Passes a picture from the bucket on, piece by piece: pages show pictures of this gateway only. */
  async #passOn({ transfer }: Project, blobs: S3BlobStore, file: FileRow): Promise<FileAnswer> {
    const sizeBytes = file.size_bytes;
    const month = monthOf(this.#clock.now());
    await transfer.take(month, sizeBytes);
    const onEnd = (sentBytes: number): void => transfer.giveBack(month, sizeBytes - sentBytes);
    const stream = await found(blobs.open(file.digest)).catch((error: unknown) => {
      onEnd(0);
      throw error;
    });
    return {
      status: 200,
      headers: {
        ...attachmentHeaders(file.path, file.content_type),
        'Content-Length': String(sizeBytes),
      },
      body: new StreamBody(stream, onEnd),
    };
  }

  /** Returns a part of a file, after it has counted the bytes against the month. */
  async #body(
    { transfer }: Project,
    { file, check }: OpenBlob,
    part: { readonly start: number; readonly sizeBytes: number },
  ): Promise<FileBody> {
    const { sizeBytes } = part;
    const month = monthOf(this.#clock.now());
    try {
      await transfer.take(month, sizeBytes);
    } catch (error) {
      closeSync(file);
      throw error;
    }
    return new FileBody(file, { ...part, check }, (sentBytes) =>
      transfer.giveBack(month, sizeBytes - sentBytes),
    );
  }
}

interface SignedLink {
  readonly projectId: string;
  readonly path: string;
  readonly version: number;
  readonly expiresAtMs: number;
  readonly holder: string;
  readonly signature: string;
}

const NUMBER = /^[1-9]\d{0,14}$/;

/** Null for a malformed link. Each link has exactly one spelling. */
function readLink(parts: readonly string[]): SignedLink | null {
  const [body = '', encoded = '', version = '', expires = '', seal = ''] = parts;
  const path = Buffer.from(encoded, 'base64url').toString('utf8');
  if (Buffer.from(path).toString('base64url') !== encoded) return null;
  if (!NUMBER.test(version) || !NUMBER.test(expires)) return null;
  try {
    const projectId = projectIdFromBody(body);
    const terms = { expiresAtMs: Number(expires), ...readSeal(seal) };
    return { projectId, path, version: Number(version), ...terms };
  } catch {
    return null;
  }
}

async function findLinked(
  store: Repositories,
  tokenHash: string,
  now: number,
): Promise<FileRow | null> {
  const link = await store.fileLinks.findByTokenHash(tokenHash);
  if (!link || link.expires_at <= now) return null;
  if (!(await isStillHere(store, link.key_id, now))) return null;
  return findVersion(store, link, now);
}

async function findVersion(
  store: Repositories,
  { path, version }: { readonly path: string; readonly version: number },
  now: number,
): Promise<FileRow | null> {
  const file = await findFile({ store, now }, path);
  return file?.version === version ? file : null;
}

async function found<T>(opening: Promise<T>): Promise<T> {
  return opening.catch((error: unknown) => {
    // The file was deleted after the row was read.
    throw isMissing(error) ? new ServiceError('NOT_FOUND') : error;
  });
}

function rangeOf({ range, ifRange }: DownloadOptions, file: FileRow): AskedRange {
  if (ifRange !== undefined && ifRange !== etagOf(file)) return 'whole';
  return askedRange(range, file.size_bytes);
}

function etagOf({ version }: FileRow): string {
  return `"${version}"`;
}

function headersOf(file: FileRow): Record<string, string> {
  return {
    ...attachmentHeaders(file.path, file.content_type),
    'Accept-Ranges': 'bytes',
    ETag: etagOf(file),
  };
}

/** No error code stands for 416: the error is a validation error, and the status is 416. */
function notSatisfiable(headers: Record<string, string>, sizeBytes: number): FileAnswer {
  const message = `The file has ${pluralize(sizeBytes, 'byte')}.`;
  return {
    status: 416,
    headers: {
      ...headers,
      'Content-Type': 'application/json',
      'Content-Range': `bytes */${sizeBytes}`,
    },
    body: JSON.stringify(invalid({ path: 'Range', message }).body()),
  };
}
