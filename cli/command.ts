import type { Client } from './client.ts';
import type { Output } from './view/output.ts';
import type { OperationShape } from './operation-shape.ts';
import type { Home } from '../daemon/home.ts';
import type { Tries } from './retry/tries.ts';
import type { Stored } from './stored-names.ts';

/** One `--flag`. `value` names its argument in help; without it the flag is a switch. */
export interface OptionSpec {
  readonly flag: string;
  /** One letter that means the same, such as `H` for `-H`. */
  readonly short?: string;
  /** In square brackets the value may be left out, which means the first of `choices`. */
  readonly value?: string;
  readonly summary: string;
  /** Offered by completion, and the only values accepted. */
  readonly choices?: readonly string[];
  /** Offered by completion: what is stored of it. */
  readonly stored?: Stored;
  readonly repeatable?: boolean;
}

export interface ArgumentSpec {
  readonly name: string;
  readonly required: boolean;
  /** It takes all the words that are left, behind `--`. */
  readonly rest?: boolean;
  readonly summary: string;
  /** Offered by completion; whether there are others is for the command to say. */
  readonly choices?: readonly string[];
  /** Offered by completion: what is stored of it. */
  readonly stored?: Stored;
}

/** What a command says of itself; its name is the path of its file below `commands/`. */
export interface Declaration {
  readonly summary: string;
  readonly description?: string;
  readonly args: readonly ArgumentSpec[];
  readonly options: readonly OptionSpec[];
  /** It changes something, so it also takes `--idempotency-key` and `--retry-for`. */
  readonly writes?: boolean;
  /** Exit codes that say more here than everywhere, with what they say. */
  readonly exits?: readonly (readonly [string, string])[];
  /** Complete lines without the leading `svc`. */
  readonly examples: readonly string[];
  /** Commands and pages to go on to, as they follow `svc`, other than those of the same noun. */
  readonly seeAlso?: readonly string[];
  /** Its place in help among those of its noun, which else are sorted by name. */
  readonly order?: number;
}

/** What the command of an operation has beyond, or other than, what the interface says of it. */
export interface Additions extends Partial<Declaration> {
  readonly moreOptions?: readonly OptionSpec[];
  readonly moreExamples?: readonly string[];
  /** Of which stored names the value of a field is one. */
  readonly stored?: Readonly<Record<string, Stored>>;
}

/** A file below `commands/`. The file of an operation declares only what differs from what the operation says. */
export interface CommandFile {
  readonly declaration?: Declaration | Additions;
  readonly run?: (context: CommandContext, shape: OperationShape) => Promise<number | void>;
}

/** A command by its name. Help, parsing and completion read it; the code behind is loaded when it runs. */
export interface CommandSpec extends Declaration {
  /** `['inbox', 'work']` is `svc inbox work`. */
  readonly words: readonly string[];
  readonly load: () => Promise<CommandModule>;
}

export interface CommandModule {
  /** Returns the exit code; 0 when it returns nothing. */
  run(context: CommandContext): Promise<number | void>;
}

/** What a running command has at hand. Values are texts as typed; a switch is `true`; a repeatable flag is a list. */
export interface CommandContext {
  readonly args: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly output: Output;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
  /** The one way to the daemon or gateway. Made on first use. */
  readonly client: () => Client;
  /** The tries of a command that writes, and the key they share. */
  readonly tries: Tries;
}
