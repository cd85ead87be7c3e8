import * as fc from 'fast-check';

type Json = Record<string, unknown>;

/** One call about one name on the disk. */
export interface DiskCall {
  readonly operation: string;
  readonly input: Json;
  readonly kind: 'key' | 'task' | 'path';
  readonly names: readonly string[];
}

const CONTENT = Buffer.from('content').toString('base64');

// Few pieces that overlap in many ways, so that random names and prefixes meet.
const PIECES = ['a', 'b', 'ab', '/', 'state/', 'é', '😀', '\uffee'];
const text = fc
  .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 4 })
  .map((pieces) => pieces.join(''));
/** Names that are keys, task ids and paths alike. */
export const diskName = text
  .map((one) => one.replaceAll(/\/+/g, '/').replaceAll(/^\/|\/$/g, ''))
  .filter((one) => one !== '');
export const someText = fc.oneof(fc.constant(''), text);
export const somePrefixes = fc.uniqueArray(text, { minLength: 1, maxLength: 10 });

const POINTED: readonly [
  kind: DiskCall['kind'],
  operation: string,
  input: (name: string) => Json,
][] = [
  ['key', 'kv_get', (key) => ({ key })],
  ['key', 'kv_set', (key) => ({ key, value: 1 })],
  ['key', 'kv_incr', (key) => ({ key })],
  ['key', 'kv_touch', (key) => ({ key })],
  ['key', 'kv_delete', (key) => ({ key })],
  ['task', 'state_load', (task_id) => ({ task_id })],
  ['task', 'state_save', (task_id) => ({ task_id, state: 1 })],
  ['task', 'state_history', (task_id) => ({ task_id })],
  ['path', 'file_get', (path) => ({ path })],
  ['path', 'file_put', (path) => ({ path, content_base64: CONTENT })],
  ['path', 'file_delete', (path) => ({ path })],
  ['path', 'file_url', (path) => ({ path, wait_seconds: 0 })],
];

export const diskCall: fc.Arbitrary<DiskCall> = fc.oneof(
  { weight: 12, arbitrary: fc.tuple(fc.constantFrom(...POINTED), diskName).map(pointed) },
  {
    weight: 1,
    arbitrary: fc.array(diskName, { minLength: 1, maxLength: 3 }).map((names): DiskCall => {
      return { operation: 'kv_mget', kind: 'key', names, input: { keys: names } };
    }),
  },
);

function pointed([[kind, operation, input], name]: readonly [
  (typeof POINTED)[number],
  string,
]): DiskCall {
  return { operation, kind, names: [name], input: input(name) };
}

/** The rule as the documentation states it. */
export function isCovered(
  prefixes: readonly string[],
  kind: DiskCall['kind'],
  name: string,
): boolean {
  const task = kind === 'task' ? name : /^state\/(.*)$/s.exec(name)?.[1];
  const names = [
    kind === 'task' ? `state/${name}` : name,
    ...(kind !== 'path' && task !== undefined ? [task] : []),
  ];
  return names.some((one) => prefixes.some((prefix) => one.startsWith(prefix)));
}
