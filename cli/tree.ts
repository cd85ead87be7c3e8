import type { CommandFile, CommandModule, CommandSpec, Declaration } from './command.ts';
import type { OperationShape } from './call/operation-shape.ts';
import { operationSpec } from './call/operation-spec.ts';
import { declarations } from './shapes/declarations.ts';
import { operationShapes } from './shapes/operations.ts';

/** Every command: operations first, then commands with only a file. */
export function allCommands(): readonly CommandSpec[] {
  const declared = new Map(declarations);
  const operations = operationShapes.map((shape) => {
    const path = shape.words.join('/');
    const declaration = declared.get(path);
    declared.delete(path);
    return operationSpec(shape, declaration ?? {}, () =>
      operationModule(shape, declaration && path),
    );
  });
  const own = [...declared].map(([path, declaration]) => ({
    ...(declaration as Declaration),
    words: path.split('/'),
    load: async () => (await fileOf(path)) as CommandModule,
  }));
  return [...operations, ...own];
}

/** An operation's module: its file's `run`, or the default call and view. */
async function operationModule(shape: OperationShape, path?: string): Promise<CommandModule> {
  const { run } = path === undefined ? {} : await fileOf(path);
  if (run) return { run: (context) => run(context, shape) };
  const { runOperation } = await import('./call/operation-command.ts');
  return { run: (context) => runOperation(shape, context) };
}

async function fileOf(path: string): Promise<CommandFile> {
  return (await import(/* @vite-ignore */ `./commands/${path}.ts`)) as CommandFile;
}
