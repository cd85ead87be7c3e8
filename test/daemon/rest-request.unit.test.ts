import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { assert, asyncProperty, jsonValue, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { queryKinds, readInput } from '../../shared/api/rest/input.ts';
import { requestOf, type RestRequest } from '../../daemon/upstream/rest-request.ts';
import { piecesOf } from '../../shared/lib/bytes.ts';
import { operations } from '../../shared/operations/index.ts';
import { parseInput, type Operation } from '../../shared/kernel/operation.ts';
import { keyProblem } from '../../shared/rules/disk/disk-name.ts';
import { isObject } from '../../shared/lib/guards.ts';

function operationNamed(name: string): Operation {
  const operation = operations.find((one) => one.name === name);
  if (!operation) throw new Error(`There is no operation ${name}.`);
  return operation;
}

/** What the other side makes of a request. */
async function readBack(operation: Operation, request: RestRequest): Promise<unknown> {
  const incoming = new IncomingMessage(new Socket());
  Object.assign(incoming.headers, request.headers);
  const { body } = request;
  const pieces =
    typeof body === 'string' ? [Buffer.from(body)] : body === null ? [] : piecesOf(body);
  // As Node's client says it of any PUT and POST.
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  Object.assign(incoming.headers, { 'content-length': String(bytes) });
  const input = readInput(operation, queryKinds(operation), { incoming }, request.target);
  for (const piece of pieces) if (piece.length > 0) incoming.push(piece);
  incoming.push(null);
  return input;
}

/** Bytes count by their sum: in how many pieces they came is nobody's concern. */
function parsed(operation: Operation, input: unknown): unknown {
  const fields = parseInput(operation, input) as Record<string, unknown>;
  const { content_base64: content } = fields;
  if (!isObject(content)) return fields;
  const { sha256, sizeBytes } = content;
  return { ...fields, content_base64: { sha256, sizeBytes } };
}

/** An input, and what the other side makes of its request. */
async function bothSides(name: string, input: Record<string, unknown>) {
  const operation = operationNamed(name);
  const arrived = await readBack(operation, requestOf(operation, input));
  return { sent: parsed(operation, input), arrived: parsed(operation, arrived) };
}

describe('the request of an operation', () => {
  it.each(operations.map(({ name, example }) => [name, example] as const))(
    'brings the example of %s to the other side',
    async (name, example) => {
      const { sent, arrived } = await bothSides(name, example);
      expect(arrived).toEqual(sent);
    },
  );

  it.each([
    ['kv_get', { key: 'a/b c?d=e&f#g%2F+ü' }],
    ['kv_set', { key: 'k', value: '', ttl_seconds: 60 }],
    ['kv_set', { key: 'k', value: null, if_version: 0 }],
    ['kv_set', { key: 'k', value: { a: [1, 'x', { b: false }] }, if_version: 7 }],
    ['kv_set', { key: 'k', value: 1, if_exists: true }],
    ['kv_delete', { key: 'k', if_version: 7 }],
    ['kv_delete', { key: 'k', if_exists: true }],
    ['file_delete', { path: 'a/b', if_exists: true }],
    ['file_put', { path: 'a.bin', content_base64: 'AAE=', if_exists: true }],
    ['state_save', { task_id: 't', state: 1, if_exists: true }],
    ['file_delete', { path: 'a/b', if_version: 7 }],
    ['state_save', { task_id: 't/1', state: { step: 2 }, note: 'half', if_version: 3 }],
    ['file_put', { path: 'a.bin', content_base64: Buffer.from([0, 255, 10]) }],
    ['file_put', { path: 'a.bin', content_base64: '', content_type: 'text/plain; charset=utf-8' }],
    ['file_put', { path: 'a.bin', content_base64: 'AAE=', if_version: 0 }],
    ['file_put', { path: 'a.bin', upload: { size: 5, content_type: 'text/plain' } }],
    ['file_put', { path: 'a.bin', complete: 'upl_01j9z3k4m5n6p7q8r9s0t1v2w3', if_version: 2 }],
    ['inbox_list', { type: 'invoice.*', status: 'dead', limit: 3 }],
    ['inbox_wait', { timeout_seconds: 12 }],
    ['file_list', {}],
  ])('keeps what %s is given: %j', async (name, input) => {
    const { sent, arrived } = await bothSides(name, input);
    expect(arrived).toEqual(sent);
  });

  it('carries no value that was left out, which the gateway refuses by name', async () => {
    const set = operationNamed('kv_set');
    const request = requestOf(set, { key: 'kept', ttl_seconds: 60 });
    expect(request).toEqual({
      method: 'PUT',
      target: '/v1/kv/kept?ttl_seconds=60',
      headers: {},
      body: null,
    });
    await expect(readBack(set, request)).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
      details: { fields: [{ path: 'value' }] },
    });
  });

  it('takes pieces of bytes as they came', async () => {
    const pieces = [Buffer.from('ab'), Buffer.from('cd')];
    const { sent, arrived } = await bothSides('file_put', { path: 'a', content_base64: pieces });
    expect(arrived).toEqual(sent);
  });

  it('asks for versions by header, where a proxy sees them', () => {
    const set = operationNamed('kv_set');
    expect(requestOf(set, { key: 'k', value: 1, if_version: 3 })).toMatchObject({
      target: '/v1/kv/k',
      headers: { 'if-match': '"3"' },
      body: '1',
    });
    expect(requestOf(set, { key: 'k', value: 1, if_version: 0 }).headers).toMatchObject({
      'if-none-match': '*',
    });
    const remove = operationNamed('kv_delete');
    expect(requestOf(remove, { key: 'k', if_version: 3 })).toMatchObject({
      target: '/v1/kv/k',
      headers: { 'if-match': '"3"' },
    });
    // It can't be asked by a header; the other side refuses the field by its name.
    expect(requestOf(remove, { key: 'k', if_version: 0 })).toMatchObject({
      target: '/v1/kv/k?if_version=0',
      headers: {},
    });
  });

  it('tells the two operations of one route apart', () => {
    const [approval, human] = [operationNamed('ask_approval'), operationNamed('ask_human')];
    const asked = requestOf(human, human.example);
    expect(asked.target).toBe(requestOf(approval, approval.example).target);
    expect(asked.body).toContain('"question"');
  });

  it('carries any key there may be', async () => {
    const keys = string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
    const good = keys.filter((key) => keyProblem(key) === null);
    const property = asyncProperty(good, jsonValue(), async (key, value) => {
      const { sent, arrived } = await bothSides('kv_set', { key, value });
      expect(arrived).toEqual(sent);
    });
    await assert(property, { numRuns: 300 });
  });
});
