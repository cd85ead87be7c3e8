import { expect, it } from 'vitest';
import { gistLine } from '../../../../shared/rules/inbox/gist.ts';

const type = 'request.resolved';

it('says of a decision what was asked and how it ended, rather than ids', () => {
  const payload = {
    request_id: 'req_1',
    kind: 'approval',
    status: 'approved',
    summary: 'Merge #7',
  };
  expect(gistLine({ channel: 'service', type, payload })).toBe('approved  Merge #7');
  const answered = { request_id: 'req_2', status: 'answered', question: 'Where?', decision: 'eu' };
  expect(gistLine({ channel: 'service', type, payload: answered })).toBe('answered  Where?  eu');
});

it("takes a stranger's event of the same name for what it is", () => {
  const payload = { order: 'A-1', status: 'approved' };
  expect(gistLine({ channel: 'webhook', type, payload })).toBe('A-1  approved');
});
