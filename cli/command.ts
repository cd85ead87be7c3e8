import type { Client } from './call/client.ts';
import type { Output } from './view/output.ts';
import type { OperationShape } from './call/operation-shape.ts';
import type { Home } from '../daemon/home.ts';
import type { Tries } from './retry/tries.ts';
import type { CompletionSource } from './stored-names.ts';

/** One `--flag`. `value` names its argument in help; without it the flag is a switch. */
export interface OptionSpec {
  readonly flag: string;
  /** A one-letter form, such as `H` for `-H`. */
  readonly short?: string;
  /** In square brackets the value is optional and defaults to `standard`, or to the first of `choices`. */
  readonly value?: string;
  /** The value of the flag alone, if it takes a number or a span. */
  readonly standard?: string;
  /** An earlier name, which still works but isn't shown. */
  readonly former?: string;
  readonly summary: string;
  /** Completion offers these, and no other value is accepted. */
  readonly choices?: readonly string[];
  /** Completion offers stored names of this kind. */
  readonly stored?: CompletionSource;
  readonly repeatable?: boolean;
}

export interface ArgumentSpec {
  readonly name: string;
  readonly required: boolean;
  /** Takes all remaining words. */
  readonly rest?: boolean;
  readonly summary: string;
  /** Completion offers these; the command itself may accept others. */
  readonly choices?: readonly string[];
  /** Completion offers stored names of this kind. */
  readonly stored?: CompletionSource;
}

/** What a command declares. Its name is its file's path below `commands/`. */
export interface Declaration {
  readonly summary: string;
  readonly description?: string;
  readonly args: readonly ArgumentSpec[];
  readonly options: readonly OptionSpec[];
  /** The command changes something, so it also takes `--idempotency-key` and `--retry-for`. */
  readonly writes?: boolean;
  /** Exit codes with a special meaning here, and that meaning. */
  readonly exits?: readonly (readonly [string, string])[];
  /** Complete lines without the leading `svc`. */
  readonly examples: readonly string[];
  /** Related commands and pages, without the leading `svc`. Those of the same noun are added automatically. */
  readonly seeAlso?: readonly string[];
  /** Its position in help among its noun's commands (default: by name). */
  readonly order?: number;
}

/** What an operation's command adds to or changes in the operation's declaration. */
export interface Additions extends Partial<Declaration> {
  readonly moreOptions?: readonly OptionSpec[];
  readonly moreExamples?: readonly string[];
  /** Fields whose values are stored names, and of which kind. */
  readonly stored?: Readonly<Record<string, CompletionSource>>;
}

/** A file below `commands/`. An operation's file declares only what differs from the operation. */
export interface CommandFile {
  readonly declaration?: Declaration | Additions;
  readonly run?: (context: CommandContext, shape: OperationShape) => Promise<number | void>;
}

/** A complete command. Help, parsing and completion read it; its code is loaded only when it runs. */
export interface CommandSpec extends Declaration {
  /** `['inbox', 'work']` is `svc inbox work`. */
  readonly words: readonly string[];
  readonly load: () => Promise<CommandModule>;
}

export interface CommandModule {
  /** Returns the exit code; nothing means 0. */
  run(context: CommandContext): Promise<number | void>;
}

/** What a running command gets. Values are strings as typed, a switch is `true`, a repeatable flag is a list. */
export interface CommandContext {
  readonly args: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly output: Output;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
  /** The only way to the daemon or gateway, created on first use. */
  readonly client: () => Client;
  /** The tries of a command that writes, and the key they share. */
  readonly tries: Tries;
  /** Says what to undo if standard output can't be written, because then nobody sees what the command did. */
  readonly undoIfLost: (work: () => Promise<unknown>) => void;
}
