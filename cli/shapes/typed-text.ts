import { operations } from '../../shared/operations/index.ts';

/** What the user types for an operation's or field's name; undefined if the command line doesn't have it. */
type TypedName = (name: string) => string | undefined;

const COMMANDS: ReadonlyMap<string, string> = new Map(
  operations.map(({ name, cli }) => [name, `svc ${cli.usage.replace(/ [<[].*/, '')}`]),
);

/** An API name. In backquotes it's a value, and after a dot it's part of an answer; those stay unchanged. */
const NAME = /(?<![\w`.])[a-z]+(?:_[a-z]+)+(?![\w`]|\.\w)/g;

/** An operation's text for help: replaces tool names with commands and field names with flags. */
export function typedText(text: string, typedField: TypedName): string {
  return text.replace(NAME, (name) => COMMANDS.get(name) ?? typedField(name) ?? name);
}
