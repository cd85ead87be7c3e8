import { describe, expect, it } from 'vitest';
import { reworded, withNames, withRoutes } from '../../../shared/api/names.ts';
import { operations } from '../../../shared/operations/index.ts';

const routes = withRoutes(operations);
const names = withNames(operations);

describe('the words of REST', () => {
  it.each([
    ['see route_attempts.', 'see GET /v1/routes/{id}/attempts.'],
    ['Save it with file_put, then', 'Save it with PUT /v1/files/{path}, then'],
    ['Enable it: route_enable', 'Enable it: POST /v1/routes/{id}/enable'],
  ])('name a route where a tool is named, and the reverse: %s', (tool, route) => {
    expect(routes(tool)).toBe(route);
    expect(names(route)).toBe(tool);
  });

  it.each(['The operation `inbox_ack`.', 'Wait details.retry_after.', 'lease_id is missing.'])(
    'leave values and fields alone: %s',
    (text) => {
      expect(routes(text)).toBe(text);
    },
  );

  it('name the first operation of a shared route', () => {
    expect(routes('ask_human')).toBe('POST /v1/requests');
    expect(names('POST /v1/requests')).toBe('ask_approval');
    expect(names('GET /v1/nothing')).toBe('GET /v1/nothing');
  });
});

describe('the words of an answer', () => {
  it('are changed in its hints, and nowhere in what others wrote', () => {
    const payload = { hint: 'file_put' };
    const answer = {
      request_id: 'req_1',
      hint: 'Call request_status.',
      items: [{ id: 'evt_1', hint: 'See key_list.', payload }, { id: 'evt_2' }, 'file_put'],
      event: { id: 'evt_3', payload },
    };
    expect(reworded(answer, routes)).toEqual({
      ...answer,
      hint: 'Call GET /v1/requests/{id}.',
      items: [
        { ...(answer.items[0] as object), hint: 'See GET /v1/keys.' },
        { id: 'evt_2' },
        'file_put',
      ],
    });
    expect(reworded(reworded(answer, routes), names)).toEqual(answer);
    for (const other of [null, 'file_put', ['file_put'], { hint: null }, { value: 'file_put' }]) {
      expect(reworded(other, routes)).toBe(other);
    }
  });
});
