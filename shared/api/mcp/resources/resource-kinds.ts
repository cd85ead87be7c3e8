import { isUtf8 } from 'node:buffer';
import { ServiceError } from '../../../lib/errors.ts';
import { stringifyExact } from '../../../lib/json/exact-json.ts';
import { LIST_MAX } from '../../../lib/limits.ts';
import type { Operation } from '../../../kernel/operation.ts';
import { fileGet } from '../../../operations/file/get.ts';
import { fileList } from '../../../operations/file/list.ts';
import { inboxGet } from '../../../operations/inbox/get.ts';
import { inboxList } from '../../../operations/inbox/list.ts';
import { kvGet } from '../../../operations/kv/get.ts';
import { kvList } from '../../../operations/kv/list.ts';
import { isReservedPath } from '../../../rules/disk/disk-name.ts';
import type { Scope } from '../../../lib/scopes.ts';
import { ask, askList, namesBeginning } from './asked.ts';
import { fenceAnswer, fenceText, UNTRUSTED_META } from '../untrusted.ts';
import type {
  CallSite,
  Completion,
  Resource,
  ResourceContents,
  ResourceTemplate,
  Topic,
} from '../tables.ts';
import { uriOf } from './uri.ts';

/** Contents without their URI. */
type Contents = Omit<ResourceContents, 'uri'>;

/** One kind of resource: lists and reads it with operations, which check the key as usual. */
export interface ResourceKind {
  readonly scheme: string;
  readonly scope: Scope;
  /** The operation that reads it. A connection without that tool has no such resources. */
  readonly reader: Operation;
  readonly topic: Topic;
  readonly template: ResourceTemplate;
  list(
    cursor: string | undefined,
    limit: number,
    site: CallSite,
  ): Promise<{ readonly resources: readonly Resource[]; readonly next: string | null }>;
  read(name: string, site: CallSite): Promise<Contents | null>;
  /** See `ResourceTable`. */
  mark(name: string, site: CallSite): Promise<string | null>;
  /** The variable in the template; `complete` suggests names for it. */
  readonly variable: string;
  complete(value: string, site: CallSite): Promise<Completion>;
}

/** The version of the item with exactly this name, which sorts first among all names with this prefix. */
async function versionOf(
  operation: Operation,
  field: 'path' | 'key',
  name: string,
  site: CallSite,
): Promise<string | null> {
  const { items } = await askList(operation, { prefix: name, limit: 1 }, site);
  return items[0]?.[field] === name ? String(items[0]['version']) : null;
}

const files: ResourceKind = {
  scheme: 'disk',
  scope: 'disk',
  reader: fileGet,
  topic: 'disk',
  template: {
    uriTemplate: 'disk://{+path}',
    name: 'file',
    title: 'File of the disk',
    description: 'A file by its path, up to 1 MB; file_list and file_get know larger ones, too.',
  },
  async list(cursor, limit, site) {
    const { items, next } = await askList(fileList, { cursor, limit }, site);
    const resources = items.map((file) => ({
      uri: uriOf({ scheme: 'disk', name: String(file['path']) }),
      name: String(file['path']),
      mimeType: String(file['content_type']),
      size: Number(file['size_bytes']),
      annotations: { lastModified: String(file['updated_at']) },
    }));
    return { resources, next };
  },
  async read(path, site) {
    const file = await ask(fileGet, { path }, site);
    if (!file) return null;
    const content = file['content_base64'];
    if (typeof content !== 'string') {
      throw new ServiceError('PAYLOAD_TOO_LARGE', {
        hint: 'Files over 1 MB are downloaded: file_get answers a link.',
      });
    }
    return fileContents(path, String(file['content_type']), content);
  },
  mark: (path, site) => versionOf(fileList, 'path', path, site),
  variable: 'path',
  complete: (value, site) => namesBeginning(value, { operation: fileList, field: 'path' }, site),
};

const TEXT_TYPE =
  /^(?:text\/|application\/(?:(?:[\w.-]+\+)?(?:json|xml|yaml)|(?:x-)?(?:javascript|ndjson|sh|toml|yaml))\s*(?:;|$))/i;

/**
 * Returns text if the type says so and the bytes are UTF-8. The sender of a mail wrote its attachments, so they are
 * fenced.
 */
function fileContents(path: string, mimeType: string, base64: string): Contents {
  const bytes = Buffer.from(base64, 'base64');
  const trust = isReservedPath(path) && { _meta: UNTRUSTED_META };
  if (!TEXT_TYPE.test(mimeType) || !isUtf8(bytes)) return { mimeType, blob: base64, ...trust };
  const text = bytes.toString('utf8');
  return trust ? { mimeType: 'text/plain', text: fenceText(text), ...trust } : { mimeType, text };
}

const keys: ResourceKind = {
  scheme: 'kv',
  scope: 'disk',
  reader: kvGet,
  topic: 'disk',
  template: {
    uriTemplate: 'kv://{+key}',
    name: 'value',
    title: 'Value of a key',
    description: 'The value of a key as JSON.',
    mimeType: 'application/json',
  },
  async list(cursor, limit, site) {
    const { items, next } = await askList(kvList, { cursor, limit }, site);
    const resources = items.map((entry) => ({
      uri: uriOf({ scheme: 'kv', name: String(entry['key']) }),
      name: String(entry['key']),
      mimeType: 'application/json',
      size: Number(entry['size_bytes']),
      annotations: { lastModified: String(entry['updated_at']) },
    }));
    return { resources, next };
  },
  async read(key, site) {
    const entry = await ask(kvGet, { key }, site);
    return entry && { mimeType: 'application/json', text: stringifyExact(entry['value']) };
  },
  mark: (key, site) => versionOf(kvList, 'key', key, site),
  variable: 'key',
  complete: (value, site) => namesBeginning(value, { operation: kvList, field: 'key' }, site),
};

const events: ResourceKind = {
  scheme: 'inbox',
  scope: 'inbox:read',
  reader: inboxGet,
  topic: 'inbox',
  template: {
    uriTemplate: 'inbox://{event_id}',
    name: 'event',
    title: 'Event of the inbox',
    description: 'An event in whatever state it is. The list has those that are pending.',
  },
  async list(cursor, limit, site) {
    const { items, next } = await askList(inboxList, { status: 'pending', cursor, limit }, site);
    const resources = items.map((event) => ({
      uri: uriOf({ scheme: 'inbox', name: String(event['id']) }),
      name: String(event['id']),
      // The sender wrote the event's type and subject, so keep them out of a list that people and models read.
      description: `Pending event of the source ${String(event['source'])}`,
      mimeType: 'text/plain',
      annotations: { lastModified: String(event['received_at']) },
    }));
    return { resources, next };
  },
  async read(id, site) {
    const event = await ask(inboxGet, { event_id: id }, site);
    if (!event) return null;
    const fenced = fenceAnswer('event', event);
    return fenced
      ? { mimeType: 'text/plain', text: fenced.text, _meta: UNTRUSTED_META }
      : { mimeType: 'application/json', text: stringifyExact(event) };
  },
  async mark(id, site) {
    const event = await ask(inboxGet, { event_id: id }, site);
    return event && JSON.stringify([event['status'], event['attempts'], event['payload_purged']]);
  },
  variable: 'event_id',
  async complete(value, site) {
    const pending = { status: 'pending', limit: LIST_MAX };
    const { items, next } = await askList(inboxList, pending, site);
    const ids = items.map((event) => String(event['id']));
    return { values: ids.filter((id) => id.startsWith(value)), hasMore: next !== null };
  },
};

/** In the order of the list. */
export const RESOURCE_KINDS: readonly ResourceKind[] = [files, keys, events];
