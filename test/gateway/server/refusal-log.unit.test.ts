import { pino } from 'pino';
import { expect, it } from 'vitest';
import { RefusalLog } from '../../../gateway/server/refusal-log.ts';

it('many refusals are one line in ten seconds for each door and reason, with their number', () => {
  const lines: Record<string, unknown>[] = [];
  let now = 0;
  const write = (line: string): void => void lines.push(JSON.parse(line) as never);
  const log = new RefusalLog(pino({ base: null, timestamp: false }, { write }), () => now);
  const holder = { address: '192.0.2.1', project: 'prj_a', key: null };
  for (; now < 9999; now += 1) log.note({ at: 'webhook', reason: 'project', holder });
  log.note({ at: 'webhook', reason: 'door', holder: {} });
  expect(lines).toEqual([
    {
      level: 30,
      at: 'webhook',
      reason: 'project',
      count: 1,
      client: '192.0.2.1',
      project: 'prj_a',
      msg: 'turned away',
    },
    { level: 40, at: 'webhook', reason: 'door', count: 1, msg: 'turned away' },
  ]);
  now = 10_000;
  log.note({ at: 'webhook', reason: 'project', holder });
  expect(lines.at(-1)).toMatchObject({ reason: 'project', count: 9999 });
});
