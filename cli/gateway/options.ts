import type { ArgumentSpec, CommandContext, OptionSpec } from '../command.ts';
import { textOption } from '../input/option-values.ts';

/** Where a gateway's data and settings are. */
export const DATA_OPTIONS: readonly OptionSpec[] = [
  { flag: 'data', value: 'FOLDER', summary: "The gateway's data folder (SVC_DATA)" },
  { flag: 'config', value: 'FILE', summary: 'Settings file (SVC_CONFIG)' },
];

export const PROJECT_ARGUMENT: ArgumentSpec = {
  name: 'name',
  required: true,
  summary: "The project's slug or id",
};

/** The arguments for data, settings and --json. */
export function dataOptions(context: CommandContext): string[] {
  const config = textOption(context, 'config');
  const data = textOption(context, 'data');
  return [
    ...(config === undefined ? [] : ['--config', config]),
    ...(data === undefined ? [] : ['--data', data]),
    ...(context.output.json ? ['--json'] : []),
  ];
}

/** The same, then `--`, the project if given, and the folder. */
export function adminOptions(context: CommandContext, project?: string): string[] {
  return [
    ...dataOptions(context),
    '--',
    ...(project === undefined ? [] : [project]),
    String(context.args['dir']),
  ];
}
