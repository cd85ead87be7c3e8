import { describe, expect, it } from 'vitest';
import { lastingResolution, likeCalls } from '../../../shared/rules/requests/lasting.ts';

const asked = {
  kind: 'approval',
  options: [],
  action: 'tool.Bash',
  amount: null,
  risk: 'medium',
  bind: '{"command":"npm test","description":"Run the tests"}',
  approvals: 1,
  thread: 'shop on laptop, session 1',
} as const;

describe('the calls that an approval for an hour covers', () => {
  it.each([
    ['tool.Bash', '{"command":"npm test"}', 'this very command'],
    ['tool.apply_patch', '{"command":"*** Begin Patch"}', 'this very command'],
    [
      'tool.Edit',
      '{"file_path":"/home/ana/shop/src/a.ts","old_string":"a"}',
      'Edit of any file under /home/ana/shop/src',
    ],
    [
      'tool.NotebookEdit',
      '{"notebook_path":"/home/ana/a.ipynb"}',
      'NotebookEdit of any file under /home/ana',
    ],
    ['tool.mcp__github__merge', '{"pr":7}', 'every use of mcp__github__merge'],
    ['tool.mcp__drop', '{"input":{},"server":"db"}', 'every use of mcp__drop of db'],
  ])('%s with %s: %s', (action, bind, words) => {
    expect(likeCalls({ ...asked, action, bind })?.words).toBe(words);
  });

  it.each([
    ['of an action that is no tool', { action: 'payment.refund' }],
    ['of an action that is a pattern', { action: 'tool.*' }],
    ['without an action', { action: null }],
    ['with nothing bound', { bind: null }],
    ['with a high risk', { risk: 'high' }],
    ['that several people approve', { approvals: 2 }],
    ['with an amount', { amount: 5 }],
    ['of no session', { thread: null }],
    ['of a path that means another', { bind: '{"file_path":"/home/ana/../x"}' }],
    ['of a path that depends on the folder', { bind: '{"file_path":"a.ts"}' }],
    ['of a file in the root', { bind: '{"file_path":"/x"}' }],
  ])('are none for a call %s', (_name, change) => {
    const other = { ...asked, ...change };
    expect(likeCalls(other)).toBeNull();
    const choice = { verb: 'approve', lasts: true } as const;
    expect(lastingResolution(other, choice, 0)).toEqual({
      problem: 'This can’t be approved for more than once.',
    });
  });
});

it('every use of a tool is none that runs a command or changes a file, or of another server', () => {
  const like = likeCalls({ ...asked, bind: '{"server":"db","x":1}' });
  expect(like?.covers({ server: 'db', x: 2 })).toBe(true);
  for (const input of [{ server: 'db', command: 'rm x' }, { server: 'db', file_path: '/x' }, {}]) {
    expect(like?.covers(input)).toBe(false);
  }
});

describe('a choice that lasts', () => {
  it('holds for an hour, and the agent reads what for', () => {
    const choice = { verb: 'approve', lasts: true } as const;
    expect(lastingResolution(asked, choice, 0)).toEqual({
      status: 'approved',
      decision: null,
      comment: null,
      lastsUntil: 3_600_000,
      hint: 'Approved in this session until 1970-01-01T01:00:00.000Z: this very command.',
    });
  });

  it('stops a session for a day, whatever was asked', () => {
    const choice = { verb: 'deny', lasts: true, comment: 'enough' } as const;
    expect(lastingResolution({ ...asked, action: 'deploy' }, choice, 0)).toMatchObject({
      status: 'denied',
      comment: 'enough',
      lastsUntil: 86_400_000,
      hint: 'stopped: a person stopped this session. Whatever it asks until 1970-01-02T00:00:00.000Z is denied.',
    });
    expect(lastingResolution({ ...asked, thread: null }, choice, 0)).toEqual({
      problem: 'This request belongs to no session.',
    });
  });
});
