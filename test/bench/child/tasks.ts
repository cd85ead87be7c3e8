/** What an agent does with its inbox, as the bench of long histories measures it. */
export const TASKS = [
  'claim + ack',
  'wait',
  'wait, type prefix',
  'list',
  'list, type prefix',
  'list, source',
  'list, source and type prefix',
] as const;

export type Task = (typeof TASKS)[number];
