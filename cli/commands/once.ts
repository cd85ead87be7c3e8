import { ownEvent } from '../approvals/about-event.ts';
import type { CommandContext, Declaration } from '../command.ts';
import { CliError, usageError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { textArgument, textOption } from '../input/option-values.ts';
import { runStep } from '../work/step.ts';
import { KeptOutput } from '../work/kept-output.ts';

export const declaration: Declaration = {
  summary: 'Run a step of your work once per event.',
  description:
    'Runs the command and keeps what it printed, up to 64 KB, for 30 days under the event. The next time, svc prints that again instead of running the command, so a script that runs from the top does each finished step once. svc keeps only what a command printed that exited 0; any other exit code passes through. If two run at once, the first to finish counts, and both print its output. A command that a crash cut short, or whose output was not stored yet, runs again. Standard input goes to the command. The output is kept in the key once/EVENT/NAME: to run the step again, delete the key.',
  args: [
    { name: 'name', required: true, summary: "The step's name: letters, digits, . _ and -" },
    {
      name: 'command',
      required: true,
      rest: true,
      summary: 'The command and its arguments, after `--`',
    },
  ],
  options: [
    {
      flag: 'event',
      value: 'EVENT',
      summary: 'The event, `evt_…` (default SVC_EVENT_ID)',
      stored: 'claimed',
    },
    { flag: 'key', value: 'KEY', summary: 'Any name in place of an event, such as a date' },
  ],
  examples: [
    'once review -- ./review.sh > review.txt',
    'once charge --key order-1042 -- ./charge.sh 1042',
    "once label -- sh -c 'gh pr edit 7 --add-label reviewed'",
  ],
  exits: [
    ['0', 'the command exited 0, now or before'],
    ['1', 'it printed more than 64 KB; svc kept nothing'],
    ['other', "the command's own"],
  ],
  seeAlso: ['inbox work', 'kv get', 'kv delete', 'help environment'],
};

const NAME = /^[\w.-]{1,100}$/;

/** `svc once`: runs the command and keeps its output, or prints the output kept earlier. */
export async function run(context: CommandContext): Promise<number> {
  const name = textArgument(context, 'name') ?? '';
  if (!NAME.test(name)) {
    throw usageError(
      `"${name}" can't be a step's name.`,
      'Use up to 100 letters, digits, . _ and -',
    );
  }
  const kept = new KeptOutput(context, `once/${scopeOf(context)}/${name}`);
  const before = await kept.read();
  if (before !== null) return print(context, before);
  const words = context.args['command'];
  const { code, output, isWhole } = await runStep(Array.isArray(words) ? words : [], context);
  if (code === 0) return print(context, await kept.keep(whole(output, isWhole)));
  context.output.bytes(output);
  return code;
}

/** Prints only what was kept, so that the next run prints the same. */
function print({ output }: CommandContext, bytes: Buffer): number {
  output.bytes(bytes);
  return EXIT.done;
}

function whole(output: Buffer, isWhole: boolean): Buffer {
  if (isWhole) return output;
  throw new CliError({
    code: 'OUTPUT_TOO_LARGE',
    message: 'The command printed more than 64 KB; svc kept nothing, so it runs again.',
    hint: 'Let it store the output with svc file put, and print the path.',
    exit: EXIT.refused,
  });
}

function scopeOf(context: CommandContext): string {
  const [key, event] = [textOption(context, 'key'), textOption(context, 'event')];
  if (key !== undefined && event !== undefined) {
    throw usageError("--key and --event don't go together.");
  }
  const scope = key ?? event ?? ownEvent(context).event;
  if (scope) return scope;
  throw usageError(
    'svc once needs an event.',
    'svc inbox work sets SVC_EVENT_ID. Elsewhere: --event evt_… or --key NAME',
  );
}
