import { resolveHome, type Home } from '../daemon/home.ts';
import { StartRefusal } from '../shared/host/start-refusal.ts';
import type { Client } from './call/client.ts';
import type { CommandContext, CommandSpec } from './command.ts';
import { EXIT } from './exit.ts';
import { WATCH_OPTION } from './input/flags.ts';
import type { JqSink } from './jq/filter.ts';
import type { LostOutput } from './lost-output.ts';
import { asCliError, CliError, usageError } from './errors.ts';
import { isDumb, TerminalOutput, wantsColor, type Sink } from './view/output.ts';
import { typedCommands, typedProblem } from './view/typed-names.ts';
import { ownCommand } from './program-path.ts';
import { HelpRequest, programOf, type ReadLine } from './program.ts';
import { allCommands } from './tree.ts';

interface Streams {
  readonly stdout: Sink;
  readonly stderr: Sink;
}

/** What a run needs from its process. */
export interface RunEnvironment extends Streams {
  readonly env: NodeJS.ProcessEnv;
  /** The script that Node runs, for the commands that svc suggests (default: `svc`). */
  readonly script?: string | undefined;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
  /** Where commands say what to undo if nobody can read what they print. */
  readonly lost?: Pick<LostOutput, 'undo'>;
}

/** Runs one command line and returns its exit code. */
export async function run(argv: readonly string[], around: RunEnvironment): Promise<number> {
  const jq = await jqFor(argv, around);
  const stdout = jq ?? around.stdout;
  const output = outputFor(argv, { ...around, stdout });
  try {
    const code = await dispatch(argv, { ...around, jq }, output);
    jq?.end();
    return code;
  } catch (thrown) {
    if (around.signal.aborted) return EXIT.interrupted;
    const error = asCliError(thrown);
    if (error instanceof CliError) {
      output.failure(error);
      return error.exit;
    }
    const refused = await unwritable(error);
    if (refused === null) return bug(error, output);
    output.failure(refused);
    return refused.exit;
  }
}

/** Reads `--json` before the command is known, so that a wrong command line is refused in the right format. */
function outputFor(
  argv: readonly string[],
  { env, stdout, stderr, script }: RunEnvironment,
): TerminalOutput {
  const flags = new Set(flagsIn(argv));
  return new TerminalOutput({
    stdout,
    stderr,
    json: flags.has('--json'),
    quiet: flags.has('--quiet'),
    color: wantsColor(stdout, env, flags.has('--no-color')),
    animated: !isDumb(env),
    ...(script !== undefined && {
      typed: (text) =>
        typedCommands(text, allCommands(), () => ownCommand({ script, env, cwd: process.cwd() })),
    }),
  });
}

/** Standard output with --jq; its expression is known when the line is parsed. */
async function jqFor(argv: readonly string[], { stdout }: Streams): Promise<JqSink | null> {
  if (!flagsIn(argv).some((word) => word === '--jq' || word.startsWith('--jq='))) return null;
  const { JqSink } = await import('./jq/filter.ts');
  return new JqSink(stdout);
}

/** The words before `--`. */
function flagsIn(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end === -1 ? argv : argv.slice(0, end);
}

interface RunContext extends RunEnvironment {
  readonly jq: JqSink | null;
}

async function dispatch(
  argv: readonly string[],
  around: RunContext,
  output: TerminalOutput,
): Promise<number> {
  const commands = allCommands();
  let code: number = EXIT.done;
  const program = programOf(commands, async (command, line) => {
    const isWatched = line.options[WATCH_OPTION.flag] !== undefined;
    code = await (isWatched
      ? watched(argv, command, line, around)
      : perform(command, line, around, output));
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof HelpRequest)) throw error;
    const { pageAbout } = await import('./view/help/help.ts');
    const page = pageAbout(error, commands, around.stdout.columns);
    if (page === null) return dispatch([...error.words, '--help'], around, output);
    output.page(page);
    return EXIT.done;
  }
}

async function perform(
  command: CommandSpec,
  line: ReadLine,
  around: RunContext,
  output: TerminalOutput,
): Promise<number> {
  const { jq } = line.options;
  if (typeof jq === 'string') await around.jq?.use(jq);
  output.tellProblems((path, message) => typedProblem(path, message, command));
  const module = await command.load();
  const context = await contextOf(command, line, around, output);
  let hasCalled = false;
  const client = (): Client => {
    hasCalled = true;
    return context.client();
  };
  try {
    const code = await module.run({ ...context, client });
    return code ?? (around.signal.aborted ? EXIT.interrupted : EXIT.done);
  } catch (error) {
    const isAnswers = hasCalled && error instanceof TypeError;
    throw context.tries.told(isAnswers ? unreadable(error) : asCliError(error));
  } finally {
    if (around.signal.aborted) context.tries.tellOpen();
  }
}

/** Runs the command again and again, each time with an output of its own. */
async function watched(
  argv: readonly string[],
  command: CommandSpec,
  line: ReadLine,
  around: RunContext,
): Promise<number> {
  const { watch } = await import('./watch.ts');
  const once = async (streams: Streams): Promise<void> => {
    const jq = await jqFor(argv, streams);
    const to = { ...around, ...streams, jq };
    await perform(command, line, to, outputFor(argv, { ...to, stdout: jq ?? to.stdout }));
    jq?.end();
  };
  return watch({ ...around, argv, options: line.options, output: outputFor(argv, around), once });
}

async function contextOf(
  command: CommandSpec,
  line: ReadLine,
  { env, signal, lost }: RunEnvironment,
  output: TerminalOutput,
): Promise<CommandContext> {
  const home = trustedHome(env);
  const { HttpClient } = await import('./call/client.ts');
  const { PersistentClient } = await import('./retry/persistent-client.ts');
  const { triesOf } = await import('./retry/write-options.ts');
  const warn = (text: string): void => output.note(text);
  let made: Client | undefined;
  const client = (): Client => {
    made ??= new HttpClient({ home, env, profile: profileOf(line.options), warn });
    return made;
  };
  const tries = triesOf(line, { output, signal, hasGateway: () => client().gateway !== null });
  const persistent = command.writes ? new PersistentClient(client, tries) : null;
  const undo = (work: () => Promise<unknown>): void => lost?.undo(work);
  const around = { home, env, output, signal, tries, undoIfLost: undo };
  return { ...line, ...around, client: () => persistent ?? client() };
}

function trustedHome(env: NodeJS.ProcessEnv): Home {
  try {
    return resolveHome(env);
  } catch (error) {
    throw error instanceof StartRefusal ? usageError(error.message) : error;
  }
}

function profileOf({ profile }: CommandContext['options']): string | undefined {
  return typeof profile === 'string' ? profile : undefined;
}

/** A disk without room, say; commands know better what they do with the files that a user names. */
async function unwritable(error: unknown): Promise<CliError | null> {
  const { troubleOf } = await import('../shared/host/start-trouble.ts');
  const trouble = troubleOf(error);
  if (trouble === null) return null;
  const { text, cure } = trouble;
  return new CliError({ code: 'LOCAL_FILE', message: `${text}.`, hint: cure, exit: EXIT.refused });
}

/** An answer of another form than this release knows. */
function unreadable({ message }: TypeError): CliError {
  return new CliError({
    code: 'ANSWER_INVALID',
    message: `svc can't read the server's answer: ${message}.`,
    hint: "Is the server of another release? This shows both: svc status. If it isn't, this is a bug of svc.",
    exit: EXIT.refused,
  });
}

/** Any other error is our own bug, and only then does a stack trace help. */
function bug(error: unknown, output: TerminalOutput): number {
  const message = error instanceof Error ? error.message : String(error);
  output.failure(
    new CliError({
      code: 'INTERNAL',
      message,
      hint: 'This is a fault of svc.',
      exit: EXIT.refused,
    }),
  );
  if (error instanceof Error) output.trace(error.stack ?? '');
  return EXIT.refused;
}
