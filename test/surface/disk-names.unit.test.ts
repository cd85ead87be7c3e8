import { describe, expect, it } from 'vitest';
import { operations } from '../../shared/operations/index.ts';

/** Fields that hold names on the disk, in every operation. */
const NAMES = ['attachments', 'key', 'keys', 'path', 'prefix', 'task_id'];

describe('names on the disk', () => {
  it('are declared by every operation with the scope disk, so that limited keys are held to theirs', () => {
    const silent = operations.filter(({ scope, disk }) => scope === 'disk' && !disk);
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  it('are declared wherever a field holds one', () => {
    const fields = operations.flatMap(({ name, input, disk }) =>
      Object.keys(input.shape)
        .filter((field) => NAMES.includes(field) && field !== disk?.field)
        .map((field) => `${name}.${field}`),
    );
    expect(fields).toEqual([]);
  });

  it('are these', () => {
    const declared = operations.flatMap(({ name, disk }) =>
      disk ? [`${name} ${disk.field}: ${disk.kind}${disk.isPrefix ? ' prefix' : ''}`] : [],
    );
    expect(declared.toSorted()).toEqual([
      'email_send attachments: path',
      'file_delete path: path',
      'file_get path: path',
      'file_list prefix: path prefix',
      'file_put path: path',
      'file_url path: path',
      'kv_delete key: key',
      'kv_get key: key',
      'kv_incr key: key',
      'kv_list prefix: key prefix',
      'kv_mget keys: key',
      'kv_set key: key',
      'kv_touch key: key',
      'state_history task_id: task',
      'state_load task_id: task',
      'state_save task_id: task',
    ]);
  });
});
