import type { Step, Task } from './task.ts';

const TAKE: Step = {
  tool: 'inbox_wait',
  because: { in: 'instructions', says: 'inbox_wait with claim takes the next event' },
  args: { claim: { listed: true } },
  answer: { 'event.status': 'claimed', 'event.lease_id': '…' },
};

/** What agents do with events. */
export const EVENT_TASKS: readonly Task[] = [
  {
    name: 'claim and finish an event',
    goal: 'Take the next event of the source shop, note its order, and finish it.',
    given: ['the shop sends an invoice'],
    steps: [
      { ...TAKE, args: { source: { goal: 'shop' }, claim: { listed: true } } },
      {
        tool: 'inbox_ack',
        because: { in: 'instructions', says: 'Do the work, then inbox_ack' },
        args: {
          event_id: { read: 'event.id' },
          lease_id: { read: 'event.lease_id' },
          result: { object: { order: { read: 'event.untrusted.payload.order' } } },
        },
        answer: { status: 'done' },
      },
    ],
  },
  {
    name: 'look around before claiming',
    goal: 'See what waits in the inbox. Take the invoice, and finish it.',
    given: ['the shop sends an invoice', 'a mail arrives'],
    steps: [
      {
        tool: 'inbox_list',
        because: { in: 'tool', says: '`brief` is enough to look around' },
        args: { brief: { listed: true } },
        answer: {
          'items.0.untrusted.gist': 'invoice.paid  A-1001  4900  EUR',
          'items.1.untrusted.gist': 'Ana Silva <ana@customer.example>  Where is my order?',
        },
      },
      {
        tool: 'inbox_claim',
        because: { in: 'tool', says: 'Claim a pending event and read it in full' },
        args: { event_id: { read: 'items.0.id' } },
        answer: { 'untrusted.payload.order': 'A-1001' },
      },
      {
        tool: 'inbox_ack',
        because: { in: 'tool', says: 'Finish a claimed event' },
        args: { event_id: { read: 'id' }, lease_id: { read: 'lease_id' } },
        answer: { status: 'done' },
      },
    ],
  },
  {
    name: 'recover from a lost lease',
    goal: 'Take the next event and finish it.',
    given: ['the shop sends an invoice'],
    steps: [
      { ...TAKE, meanwhile: 'the lease runs out' },
      {
        tool: 'inbox_ack',
        because: { in: 'instructions', says: 'Do the work, then inbox_ack' },
        args: { event_id: { read: 'event.id' }, lease_id: { read: 'event.lease_id' } },
        refused: 'LEASE_EXPIRED',
      },
      {
        tool: 'inbox_claim',
        because: { in: 'answer', says: 'Claim the event again, with inbox_claim' },
        args: { event_id: { read: 'event.id', of: 0 }, lease_seconds: { own: 900 } },
        answer: { status: 'claimed', lease_id: '…' },
      },
      {
        tool: 'inbox_ack',
        because: { in: 'instructions', says: 'Do the work, then inbox_ack' },
        args: { event_id: { read: 'id' }, lease_id: { read: 'lease_id' } },
        answer: { status: 'done' },
      },
    ],
  },
  {
    name: 'park an event on an approval',
    goal: 'Take the next event. If a person approves, refund the order, and finish the event.',
    given: ['the shop sends an invoice'],
    steps: [
      TAKE,
      {
        tool: 'ask_approval',
        because: { in: 'instructions', says: 'ask with event_id and park' },
        args: {
          action: { own: 'refund.order' },
          summary: { own: 'Refund order A-1001, 49 EUR' },
          bind: { object: { order: { read: 'event.untrusted.payload.order' } } },
          event_id: { read: 'event.id' },
          lease_id: { read: 'event.lease_id' },
          park: { listed: true },
        },
        answer: { status: 'pending', parked: true },
        meanwhile: 'the owner approves',
      },
      {
        tool: 'inbox_wait',
        because: { in: 'answer', says: 'claim this one again once it is pending' },
        args: { claim: { listed: true } },
        answer: { 'event.resumed.answers.0.status': 'approved' },
      },
      {
        tool: 'inbox_ack',
        because: { in: 'tool', says: 'The approval this act uses up' },
        args: {
          event_id: { read: 'event.id' },
          lease_id: { read: 'event.lease_id' },
          spends: { read: 'event.resumed.answers.0.request_id' },
          bind: { object: { order: { read: 'event.untrusted.payload.order' } } },
        },
        answer: { status: 'done' },
      },
    ],
  },
  {
    name: 'find why a webhook event is dead',
    goal: 'The webhook event {event} is dead. Find out why, and which agent gave it up.',
    given: ['the shop sends an invoice', 'an agent gives the event up'],
    steps: [
      {
        tool: 'inbox_list',
        because: { in: 'tool', says: 'Failed and dead events say why in reason' },
        args: { status: { listed: 'dead' }, brief: { listed: true } },
        answer: { 'items.0.untrusted.reason': 'The order A-1001 is unknown to the warehouse.' },
      },
      {
        tool: 'ledger_query',
        because: { in: 'instructions', says: 'ledger_query shows who did what and when' },
        args: { subject: { read: 'items.0.id' } },
        answer: { 'items.0.op': 'inbox_nack', 'items.0.key_id': '…' },
      },
    ],
  },
  {
    name: 'reply to a mail in its thread',
    goal: 'Take the next mail and answer: "It is on its way."',
    given: ['a mail arrives'],
    steps: [
      TAKE,
      {
        tool: 'email_send',
        because: { in: 'instructions', says: 'reply_to_event answers one in its thread' },
        args: {
          reply_to_event: { read: 'event.id' },
          text: { goal: 'It is on its way.' },
          wait_seconds: { listed: 0 },
        },
        answer: { status: 'pending', thread_id: '…', 'messages.0.to': 'ana@customer.example' },
        meanwhile: 'the owner approves',
      },
      {
        tool: 'inbox_ack',
        because: { in: 'instructions', says: 'Do the work, then inbox_ack' },
        args: {
          event_id: { read: 'event.id', of: 0 },
          lease_id: { read: 'event.lease_id', of: 0 },
        },
        answer: { status: 'done' },
      },
    ],
  },
  {
    name: 'read an attachment',
    goal: 'Take the next mail and read the file that comes with it.',
    given: ['a mail arrives'],
    steps: [
      TAKE,
      {
        tool: 'file_get',
        because: { in: 'tool', says: '`evt_…/name` is an attachment' },
        args: {
          path: {
            joined: [
              { read: 'event.id' },
              { own: '/' },
              { read: 'event.untrusted.attachments.0.name' },
            ],
          },
        },
        answer: {
          'untrusted.content_base64': Buffer.from('Invoice 17, 49 EUR\n').toString('base64'),
        },
      },
    ],
  },
  {
    name: 'recover from a misspelt argument',
    goal: 'Claim the event {event}.',
    given: ['the shop sends an invoice'],
    steps: [
      {
        tool: 'inbox_claim',
        because: { in: 'goal', says: 'Claim the event' },
        args: { event: { goal: '{event}' } },
        slip: true,
        refused: 'VALIDATION_FAILED',
      },
      {
        tool: 'inbox_claim',
        because: { in: 'answer', says: 'Did you mean `event_id`?' },
        args: { event_id: { goal: '{event}' } },
        answer: { status: 'claimed' },
      },
    ],
  },
];
