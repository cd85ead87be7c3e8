import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/gateway.ts';
import { linkToken } from '../helpers/outbox.ts';
import { visit } from '../helpers/page-visitor.ts';

/** What somebody types, from nothing to an event that a person approved. */
const COMMANDS = [
  'svc up --port 0',
  'svc source add github --verification github',
  'svc trigger github.pull_request.opened',
  `svc inbox work --max 1 --exec 'svc ask approval pr.merge "Merge it" --wait 2m && echo merged'`,
];

const place = temporaryFolder();
const env = {
  ...process.env,
  SVC_HOME: place.path,
  SVC_API_KEY: undefined,
  SVC_GATEWAY: undefined,
};

afterAll(async () => {
  await typed('svc down');
  place.remove();
});

function typed(line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('sh', ['-c', line], { env }, (error, out, err) => {
      if (error) reject(new Error(`${line}: ${err}`));
      else resolve(out);
    });
  });
}

it('takes at most four commands from nothing to the first approved event', async ({ annotate }) => {
  expect(COMMANDS.length).toBeLessThan(5);
  const began = performance.now();
  const base = (JSON.parse(await typed(COMMANDS[0] ?? '')) as { base_url: string }).base_url;
  for (const line of COMMANDS.slice(1, -1)) await typed(line);
  const work = spawn('sh', ['-c', COMMANDS.at(-1) ?? ''], { env, stdio: 'ignore' });
  const ended = once(work, 'close');
  const link = `${base}/a/${await linkToken(`${place.path}/data`)}`;
  expect(await visit(link, { button: 'Approve' })).toMatch(/approved/i);
  expect(await ended).toEqual([0, null]);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  await annotate(`${COMMANDS.length} commands, ${seconds} s`);
  const done = JSON.parse(await typed('svc inbox list --status done --source github')) as {
    items: { id: string }[];
  };
  expect(done.items).toHaveLength(1);
  const event = await typed(`svc inbox get ${done.items[0]?.id}`);
  expect(event).toContain('merged');
});
