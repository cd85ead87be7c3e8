import { expect, it } from 'vitest';
import { ANSWERS } from '../../../../shared/api/openapi/examples.ts';
import { operations } from '../../../../shared/operations/index.ts';
import { Contract } from '../../../surface/contract.ts';
import { openApiText } from '../../../surface/files.ts';

const contract = new Contract(JSON.parse(openApiText()));
const statuses = new Map(operations.map(({ name, rest }) => [name, rest.status ?? 200]));

it.each(Object.entries(ANSWERS))('the example of %s is an answer it may give', (name, example) => {
  expect(statuses.has(name)).toBe(true);
  expect(contract.faults(name, statuses.get(name) ?? 0, example)).toEqual([]);
});

it('an example with a field of another type is found', () => {
  expect(contract.faults('kv_get', 200, { ...ANSWERS['kv_get'], version: 'one' })).not.toEqual([]);
});
