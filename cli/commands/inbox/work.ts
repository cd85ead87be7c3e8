import { SOURCE, TYPE } from '../../work/options.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { CommandContext, Declaration } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { usageError } from '../../errors.ts';
import {
  integerOption,
  requiredText,
  switchOption,
  textOption,
} from '../../input/option-values.ts';
import { checkSource } from '../../work/source-check.ts';
import { workEvent, type WorkResult, type WorkOptions } from '../../work/work-event.ts';
import { WorkView } from '../../work/work-view.ts';
import { claimLoop, type ClaimLoop } from '../../../clients/typescript/core/claim-loop.ts';

export const declaration: Declaration = {
  summary: 'Run a command for each event.',
  description:
    'Claims events in turn and runs your command with the event as JSON on standard input, plus SVC_EVENT_ID, SVC_EVENT_TYPE, SVC_EVENT_SOURCE and SVC_LEASE_ID in the environment. svc extends the lease while the command runs. Exit 0 acks the event, with standard output as its result; 6 leaves an event alone that the command parked (svc ask … --park, svc inbox park); 75 returns it to be retried; 65 makes it dead at once; anything else returns it too, as does 6 without a park, and the fifth failure makes it dead. When what it waits for has ended, your command runs again from the top, with SVC_RESUMED=1, SVC_DECISION, SVC_REQUEST_ID, and `resumed` in the JSON; steps that must not run twice go through svc once. Ctrl-C waits for running commands; a second Ctrl-C stops them and returns their events, which counts as no failure.',
  args: [],
  options: [
    { flag: 'exec', value: 'CMD', summary: 'The command, run with `sh -c` (required).' },
    SOURCE,
    TYPE,
    { flag: 'mine', summary: "Leave out answers to other keys' questions." },
    {
      flag: 'concurrency',
      value: 'N',
      summary: 'How many commands run at once (1 to 64, default 1).',
    },
    {
      flag: 'lease-seconds',
      value: 'N',
      summary: 'How long each claim lasts, in seconds (30 to 3600, default 300).',
    },
    { flag: 'once', summary: 'Stop after one event; exit 1 if its command failed.' },
    { flag: 'max', value: 'N', summary: 'Stop after this many events.' },
    { flag: 'drain', summary: 'Stop when no events are pending.' },
  ],
  examples: [
    "inbox work --exec './handle.sh'",
    "inbox work --type 'invoice.*' --exec 'node handle.mjs' --concurrency 4",
    "inbox work --source github --exec 'jq -r .payload.action' --drain",
    `inbox work --exec 'svc ask approval deploy "Deploy v2" --park && ./deploy.sh'`,
  ],
  seeAlso: ['ask approval', 'inbox park', 'once', 'help environment', 'help exit-codes'],
};

const CONCURRENCY_MAX = 64;

export interface Work extends Omit<ClaimLoop, 'run' | 'onStopping'>, WorkOptions {
  readonly onFinished: (finished: WorkResult) => void;
}

/** Runs a command for each event in the inbox. */
export async function run(context: CommandContext): Promise<number> {
  const { env, output, signal } = context;
  const command = requiredText(context, 'exec', "For example: svc inbox work --exec './handle.sh'");
  await refuseMissingProgram(command, env);
  const single = switchOption(context, 'once');
  const stop = secondInterrupt(signal);
  const finished: WorkResult[] = [];
  const view = new WorkView(output);
  void checkSource(context);
  try {
    await work({
      client: context.client(),
      command,
      env,
      leaseSeconds: integerOption(context, 'lease-seconds', { min: 30, max: 3600 }) ?? 300,
      source: textOption(context, 'source'),
      type: textOption(context, 'type'),
      mine: switchOption(context, 'mine'),
      concurrency: integerOption(context, 'concurrency', { min: 1, max: CONCURRENCY_MAX }) ?? 1,
      max: single ? 1 : (integerOption(context, 'max', { min: 1, max: 999_999_999 }) ?? Infinity),
      drain: switchOption(context, 'drain'),
      signal,
      kill: stop.signal,
      note: (text) => output.note(text),
      onPrinted: (event, line) => view.printed(event, line),
      onFinished: (event) => {
        if (single) finished.push(event);
        view.finished(event);
      },
    });
  } finally {
    stop.release();
  }
  if (signal.aborted) return EXIT.interrupted;
  return single && finished.some(({ outcome }) => outcome !== 'acked' && outcome !== 'parked')
    ? EXIT.refused
    : EXIT.done;
}

export function work(options: Work): Promise<void> {
  return claimLoop({
    ...options,
    run: async (event, lease) => options.onFinished(await workEvent(options, event, lease)),
    onStopping: (running) =>
      options.note(
        `Waiting for ${running} running. Press Ctrl-C again to stop them and return their events.`,
      ),
  });
}

/** A misspelled command would fail every event five times and make the whole queue dead. */
async function refuseMissingProgram(command: string, env: NodeJS.ProcessEnv): Promise<void> {
  const program = /^[\w./-]+(?=\s|$)/.exec(command)?.[0];
  if (program === undefined) return;
  const check = spawn('sh', ['-c', 'command -v -- "$1"', 'sh', program], { env, stdio: 'ignore' });
  await once(check, 'close');
  if (check.exitCode === 0) return;
  throw usageError(`The command \`${program}\` doesn't exist or isn't executable.`);
}

/** Aborted by the Ctrl-C or SIGTERM after the one that stopped the work. */
function secondInterrupt(first: AbortSignal): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const arm = (): void => {
    // Only after the current signal is handled, or it would count as the second one too.
    setImmediate(() => {
      process.on('SIGINT', abort);
      process.on('SIGTERM', abort);
    });
  };
  if (first.aborted) arm();
  else first.addEventListener('abort', arm, { once: true });
  return {
    signal: controller.signal,
    release: () => {
      first.removeEventListener('abort', arm);
      process.off('SIGINT', abort);
      process.off('SIGTERM', abort);
    },
  };
}
