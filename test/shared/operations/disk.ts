import { hash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { newId, newToken } from '../../../shared/lib/ids.ts';
import type { Repositories } from '../../../shared/store/repositories.ts';
import type { Project } from '../../../gateway/projects/project.ts';
import type { TestGateway } from '../../helpers/gateway.ts';
import { writerOf } from '../../helpers/writers.ts';

/** The disk of a gateway's project, whose rows a test makes itself. */
export class TestDisk {
  readonly gateway: TestGateway;
  readonly project: Project;
  readonly #now: () => number;

  private constructor(gateway: TestGateway, project: Project, now: () => number) {
    this.gateway = gateway;
    this.project = project;
    this.#now = now;
  }

  static async of(gateway: TestGateway, now: () => number): Promise<TestDisk> {
    const project = await gateway.gateway.projects.find(gateway.projectId);
    if (!project) throw new Error('There is no project.');
    return new TestDisk(gateway, project, now);
  }

  read<T>(fn: (store: Repositories) => Promise<T>): Promise<T> {
    return this.project.store.read(fn);
  }

  write<T>(fn: (store: Repositories) => Promise<T>): Promise<T> {
    return writerOf(this.project).write(fn);
  }

  /** An open upload of 15 minutes. */
  async openUpload(
    upload: { size?: number; type?: string; path?: string; ms?: number } = {},
  ): Promise<{ id: string; url: string }> {
    const { size = 0, type = 'text/plain', path = 'a.txt', ms = 900_000 } = upload;
    const token = newToken(this.gateway.projectId);
    const now = this.#now();
    const id = newId('upl', now);
    await this.write(async (store) => {
      const row = {
        id,
        path,
        size_bytes: size,
        content_type: type,
        digest: null,
        expires_at: now + ms,
        key_id: null,
      };
      await store.uploads.insert(row, hash('sha256', token));
      await store.disk.add('upload_bytes', size);
    });
    return { id, url: `${this.gateway.url}/u/${token}` };
  }

  /** Makes the upload a file, and returns its version. */
  async complete(uploadId: string): Promise<number> {
    return this.write(async (store) => {
      const upload = await store.uploads.find(uploadId);
      if (!upload?.digest) throw new Error('The bytes are not there.');
      const { path, digest, size_bytes, content_type } = upload;
      const version = await store.disk.nextVersion();
      const updated_at = new Date(this.#now()).toISOString();
      await store.uploads.delete(uploadId);
      await store.files.put({ path, digest, size_bytes, content_type, version, updated_at });
      return version;
    });
  }

  /** A file with these bytes; returns its version. */
  async addFile(
    path: string,
    bytes: Uint8Array | string,
    content_type = 'text/plain',
  ): Promise<number> {
    const content = Buffer.from(bytes);
    const { digest, release } = await this.project.blobs.put(content);
    const version = await this.write(async (store) => {
      const next = await store.disk.nextVersion();
      const updated_at = new Date(this.#now()).toISOString();
      const size_bytes = content.length;
      await store.files.put({ path, digest, size_bytes, content_type, version: next, updated_at });
      await store.blobs.addReference(digest, size_bytes);
      return next;
    });
    release();
    return version;
  }

  /** A public link of an hour to a version of a file. */
  async addLink(
    path: string,
    version: number,
    link: { keyId?: string; ms?: number } = {},
  ): Promise<string> {
    const token = newToken(this.gateway.projectId);
    const now = this.#now();
    const key_id = link.keyId ?? (await this.adminKeyId());
    const expires_at = now + (link.ms ?? 3_600_000);
    await this.write((store) =>
      store.fileLinks.insert(
        { id: newId('lnk', now), path, version, key_id, request_id: null, expires_at },
        hash('sha256', token),
      ),
    );
    return `${this.gateway.url}/f/${token}`;
  }

  async adminKeyId(): Promise<string> {
    const [key] = await this.read((store) => store.keys.page('', 1));
    return key?.id ?? '';
  }

  /** The files of all blobs, and of bytes that are coming in. */
  blobFiles(): string[] {
    const folder = join(this.gateway.folder, 'projects', this.gateway.projectId, 'blobs');
    if (!existsSync(folder)) return [];
    return readdirSync(folder).flatMap((part) => readdirSync(join(folder, part)));
  }
}
