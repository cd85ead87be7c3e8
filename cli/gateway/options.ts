import type { ArgumentSpec, CommandContext, OptionSpec } from '../command.ts';
import { textOption } from '../input/option-values.ts';

/** Where the data and settings of a gateway are. */
export const DATA_OPTIONS: readonly OptionSpec[] = [
  { flag: 'data', value: 'FOLDER', summary: "The gateway's data folder (SVC_DATA)" },
  { flag: 'config', value: 'FILE', summary: 'Settings file (SVC_CONFIG)' },
];

export const PROJECT_ARGUMENT: ArgumentSpec = {
  name: 'name',
  required: true,
  summary: "The project's slug or id",
};

/** Where the data are. */
export function dataOptions(context: CommandContext): string[] {
  const config = textOption(context, 'config');
  const data = textOption(context, 'data');
  return [
    ...(config === undefined ? [] : ['--config', config]),
    ...(data === undefined ? [] : ['--data', data]),
    ...(context.output.json ? ['--json'] : []),
  ];
}

/** The same, and what is named: the folder, behind the project where there is one. */
export function adminOptions(context: CommandContext, project?: string): string[] {
  return [
    ...dataOptions(context),
    '--',
    ...(project === undefined ? [] : [project]),
    String(context.args['dir']),
  ];
}
