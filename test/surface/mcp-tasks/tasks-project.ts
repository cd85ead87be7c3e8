import type { Task } from './task.ts';

/** What agents do with people, rules, mail and the disk. */
export const PROJECT_TASKS: readonly Task[] = [
  {
    name: 'ask, stop at pending, go on later',
    goal: 'Delete the backup of May, if a person approves.',
    steps: [
      {
        tool: 'ask_approval',
        because: { in: 'instructions', says: 'before anything that cannot be undone' },
        args: {
          action: { own: 'backup.delete' },
          summary: { own: 'Delete the backup of May' },
          wait_seconds: { listed: 0 },
        },
        answer: { status: 'pending', request_id: '…' },
      },
      {
        tool: 'state_save',
        because: { in: 'answer', says: 'Save your state with state_save' },
        args: {
          task_id: { own: 'delete-may' },
          state: { object: { asked: { read: 'request_id' } } },
        },
        answer: { version: 1 },
        meanwhile: 'the owner approves',
      },
      {
        tool: 'request_status',
        because: { in: 'answer', of: 0, says: 'then call request_status with this request_id' },
        args: { request_id: { read: 'request_id', of: 0 } },
        answer: { status: 'approved' },
      },
    ],
  },
  {
    name: 'ask a person a question',
    goal: 'Find out from a person whether to order the red or the blue one.',
    steps: [
      {
        tool: 'ask_human',
        because: { in: 'instructions', says: 'ask_human when you need an answer' },
        args: { question: { own: 'The red or the blue one?' }, wait_seconds: { listed: 0 } },
        answer: { status: 'pending' },
        meanwhile: 'the owner answers',
      },
      {
        tool: 'request_status',
        because: { in: 'answer', says: 'then call request_status with this request_id' },
        args: { request_id: { read: 'request_id' } },
        answer: { status: 'answered', decision: 'The blue one.' },
      },
    ],
  },
  {
    name: 'set a policy from the schema alone',
    goal: 'Propose that refunds up to 50 need no person any more, and people are told. Nothing else changes.',
    steps: [
      {
        tool: 'policy_get',
        because: { in: 'tool', says: 'edit this document and propose it with policy_set' },
        args: {},
        answer: { version: 0 },
      },
      {
        tool: 'policy_set',
        because: { in: 'tool', says: '`auto_approve_notify`: approved, and people are told' },
        args: {
          policy: {
            object: {
              rules: {
                list: [
                  {
                    object: {
                      effect: { listed: 'auto_approve_notify' },
                      action: { own: 'refund.*' },
                      amount_lte: { goal: 50 },
                    },
                  },
                ],
              },
            },
          },
          note: { own: 'Small refunds need nobody.' },
          wait_seconds: { listed: 0 },
        },
        answer: { status: 'pending' },
        meanwhile: 'the owner approves',
      },
      {
        tool: 'request_status',
        because: { in: 'tool', says: "Check a request's status" },
        args: { request_id: { read: 'request_id' } },
        answer: { status: 'approved' },
      },
    ],
  },
  {
    name: 'mend a policy that is refused',
    goal: 'Propose that mail to example.com goes out without a person.',
    steps: [
      {
        tool: 'policy_set',
        because: { in: 'tool', says: 'Propose a new policy' },
        args: {
          policy: {
            object: {
              rules: {
                list: [
                  {
                    object: {
                      effect: { listed: 'allow' },
                      tool: { listed: 'email_send' },
                      recipient_domains: { list: [{ own: 'https://example.com' }] },
                    },
                  },
                ],
              },
            },
          },
          wait_seconds: { listed: 0 },
        },
        refused: 'POLICY_INVALID',
      },
      {
        tool: 'policy_set',
        because: { in: 'answer', says: 'rules[0].recipient_domains[0]: ' },
        args: {
          policy: {
            object: {
              rules: {
                list: [
                  {
                    object: {
                      effect: { listed: 'allow' },
                      tool: { listed: 'email_send' },
                      recipient_domains: { list: [{ goal: 'example.com' }] },
                    },
                  },
                ],
              },
            },
          },
          wait_seconds: { listed: 0 },
        },
        answer: { status: 'pending' },
      },
    ],
  },
  {
    name: 'send mail that policy denies',
    goal: 'Write to bob@stranger.example that the order A-1001 is on its way.',
    given: ['the policy denies mail to strangers'],
    steps: [
      {
        tool: 'email_send',
        because: { in: 'instructions', says: 'email_send writes from the address of the project' },
        args: {
          to: { list: [{ goal: 'bob@stranger.example' }] },
          subject: { own: 'Your order' },
          text: { own: 'It is on its way.' },
          reply_to_inbox: { listed: false },
        },
        refused: 'POLICY_DENIED',
      },
      {
        tool: 'policy_get',
        because: { in: 'answer', says: 'See the rule `no-strangers` with policy_get' },
        args: {},
        answer: { 'rules.0.id': 'no-strangers' },
      },
      {
        tool: 'ask_human',
        because: { in: 'instructions', says: 'ask_human when you need an answer' },
        args: {
          question: { own: 'The policy denies mail to stranger.example. What shall I do?' },
          wait_seconds: { listed: 0 },
        },
        answer: { status: 'pending' },
      },
    ],
  },
  {
    name: 'store a state and resume',
    goal: 'Go on with the task import-orders where the last run stopped.',
    steps: [
      {
        tool: 'state_load',
        because: { in: 'instructions', says: 'state_load when you start' },
        args: { task_id: { goal: 'import-orders' } },
      },
      {
        tool: 'state_save',
        because: { in: 'tool', says: 'Call it before you stop' },
        args: {
          task_id: { goal: 'import-orders' },
          state: { own: { page: 3 } },
          note: { own: 'Page 3 of 9.' },
        },
        answer: { version: 1 },
      },
      {
        tool: 'state_load',
        because: { in: 'instructions', says: 'state_load when you start' },
        args: { task_id: { goal: 'import-orders' } },
        answer: { 'state.page': 3, version: 1 },
      },
      {
        tool: 'state_save',
        because: { in: 'tool', says: 'Write only if this is the current version' },
        args: {
          task_id: { goal: 'import-orders' },
          state: { own: { page: 4 } },
          if_version: { read: 'version' },
        },
        answer: { version: 2 },
      },
    ],
  },
  {
    name: 'lose a race for a key',
    goal: 'Add one to the number under the key orders/seen. Other agents do the same.',
    given: ['orders are counted'],
    steps: [
      {
        tool: 'kv_get',
        because: { in: 'tool', says: "Read a key's value" },
        args: { key: { goal: 'orders/seen' } },
        answer: { value: 7, version: 1 },
        meanwhile: 'another agent counts',
      },
      {
        tool: 'kv_set',
        because: { in: 'tool', says: "With if_version, two agents can't overwrite each other" },
        args: { key: { goal: 'orders/seen' }, value: { own: 8 }, if_version: { read: 'version' } },
        refused: 'PRECONDITION_FAILED',
      },
      {
        tool: 'kv_get',
        because: { in: 'answer', says: 'Version 2 is there now' },
        args: { key: { goal: 'orders/seen' } },
        answer: { value: 8, version: 2 },
      },
      {
        tool: 'kv_set',
        because: { in: 'tool', says: "With if_version, two agents can't overwrite each other" },
        args: { key: { goal: 'orders/seen' }, value: { own: 9 }, if_version: { read: 'version' } },
        answer: { version: 3 },
      },
    ],
  },
  {
    name: 'share a file with approval',
    goal: 'Save the text "done" as reports/may.txt and get a link to it that works without a key.',
    steps: [
      {
        tool: 'file_put',
        because: { in: 'tool', says: 'Up to 1 MB: pass `content_base64`' },
        args: { path: { goal: 'reports/may.txt' }, content_base64: { own: 'ZG9uZQ==' } },
        answer: { version: 1 },
      },
      {
        tool: 'file_url',
        because: { in: 'tool', says: 'Create a public download link' },
        args: { path: { read: 'path' }, wait_seconds: { listed: 0 } },
        answer: { status: 'pending', request_id: '…' },
        meanwhile: 'the owner approves',
      },
      {
        tool: 'file_url',
        because: { in: 'tool', says: 'call again with the same path and expires_in, and approval' },
        args: { path: { goal: 'reports/may.txt' }, approval: { read: 'request_id' } },
        answer: { url: '…' },
      },
    ],
  },
  {
    name: 'meet a write tool with a key that only reads',
    goal: 'Store 1 under the key seen.',
    scopes: ['disk:read'],
    steps: [
      {
        tool: 'kv_set',
        because: { in: 'goal', says: 'Store 1 under the key' },
        args: { key: { goal: 'seen' }, value: { goal: 1 } },
        slip: true,
        refused: 'SCOPE_MISSING',
      },
      {
        tool: 'whoami',
        because: { in: 'answer', of: 0, says: 'Create a key with the scope `disk`' },
        args: {},
        answer: { 'scopes.0': 'disk:read' },
      },
    ],
  },
];
