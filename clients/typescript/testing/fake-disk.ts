import { refused, type FakeCall, type FakeTime, type Fields } from './fake-call.ts';
import { page } from './fake-people.ts';

interface Entry {
  readonly key: string;
  readonly value: unknown;
  readonly version: number;
  readonly updated_at: string;
  readonly expires_at: string | null;
}

/** Keys, task states and files. */
export class FakeDisk {
  readonly #time: FakeTime;
  #keys = new Map<string, Entry>();
  readonly #files = new Map<string, Fields>();
  #version = 0;

  constructor(time: FakeTime) {
    this.#time = time;
  }

  routes(call: FakeCall): unknown {
    switch (call.parts[0]) {
      case 'kv':
        return this.#kv(call);
      case 'kv-incr':
        return this.#incr(call);
      case 'state':
        return this.#state(call);
      case 'files':
        return this.#file(call);
      default:
        return undefined;
    }
  }

  passTime(): void {
    const now = this.#time.iso();
    const isLive = ({ expires_at }: Entry): boolean => expires_at === null || expires_at > now;
    this.#keys = new Map([...this.#keys].filter(([, entry]) => isLive(entry)));
  }

  #kv({ method, parts, query, json }: FakeCall): unknown {
    const key = parts.slice(1).join('/');
    if (key === '') return page(listed(this.#keys, query));
    if (method === 'GET') return this.#keys.get(key) ?? null;
    if (method === 'PUT') return this.#set(key, given('value', json), query);
    check(this.#keys.get(key), query);
    return { deleted: this.#keys.delete(key) };
  }

  #incr({ body }: FakeCall): unknown {
    const key = String(body['key']);
    const before = Number(this.#keys.get(key)?.value ?? 0);
    return this.#set(key, before + Number(body['by'] ?? 1), body);
  }

  #state({ method, parts, body }: FakeCall): unknown {
    const task = parts.slice(1).join('/');
    const key = `state/${task}`;
    if (method === 'PUT') return this.#set(key, given('state', body['state']), body);
    const found = this.#keys.get(key);
    return found ? { task_id: task, state: found.value, version: found.version } : null;
  }

  #set(key: string, value: unknown, fields: Fields): Entry {
    const { ttl_seconds: ttl } = fields;
    check(this.#keys.get(key), fields);
    this.#version += 1;
    const expires_at =
      ttl === undefined ? null : this.#time.iso(this.#time.now() + Number(ttl) * 1000);
    const entry = {
      key,
      value,
      version: this.#version,
      updated_at: this.#time.iso(),
      expires_at,
    };
    this.#keys.set(key, entry);
    return entry;
  }

  #file({ method, parts: [, ...names], query, bytes, contentType }: FakeCall): unknown {
    const path = names.join('/');
    if (path === '') return page(listed(this.#files, query));
    if (method !== 'GET') check(this.#files.get(path), query);
    if (method === 'DELETE') return { deleted: this.#files.delete(path) };
    if (method === 'PUT') {
      if (bytes === undefined) return undefined;
      this.#version += 1;
      this.#files.set(path, {
        path,
        size_bytes: bytes.length,
        content_type: contentType ?? 'application/octet-stream',
        version: this.#version,
        content_base64: btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')),
      });
    }
    const found = this.#files.get(path);
    if (!found) throw refused(404, 'NOT_FOUND');
    return found;
  }
}

/** What the call must have. */
function given(path: string, value: unknown): unknown {
  if (value === undefined) throw refused(400, 'VALIDATION_FAILED', { fields: [{ path }] });
  return value;
}

/** The fields come from a query or a JSON body. */
function check(
  stored: { readonly version?: unknown } | undefined,
  { if_version: wanted, if_exists: exists }: Fields,
): void {
  const version = stored?.version ?? 0;
  const isWanted = wanted === undefined || version === Number(wanted);
  if (isWanted && (String(exists) !== 'true' || stored)) return;
  throw refused(412, 'PRECONDITION_FAILED', { version });
}

function listed<T>(kept: ReadonlyMap<string, T>, { prefix = '' }: FakeCall['query']): T[] {
  const names = [...kept.keys()].filter((name) => name.startsWith(prefix)).toSorted();
  return names.flatMap((name) => kept.get(name) ?? []);
}
