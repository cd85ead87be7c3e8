import { operations } from '../../shared/operations/index.ts';

/** What is typed for an operation or a field that a text names; undefined where the command line has none. */
type TypedName = (name: string) => string | undefined;

const COMMANDS: ReadonlyMap<string, string> = new Map(
  operations.map(({ name, cli }) => [name, `svc ${cli.usage.replace(/ [<[].*/, '')}`]),
);

/** A name of the interface. Between backquotes it is a value, and behind a dot a part of an answer: those stay what they are. */
const NAME = /(?<![\w`.])[a-z]+(?:_[a-z]+)+(?![\w`]|\.\w)/g;

/** A text of an operation as its help has it: commands for the names of tools, flags for those of fields. */
export function typedText(text: string, typedField: TypedName): string {
  return text.replace(NAME, (name) => COMMANDS.get(name) ?? typedField(name) ?? name);
}
