import type { Additions } from '../../command.ts';
import { WATCH_OPTION } from '../../input/flags.ts';

export const declaration: Additions = { moreOptions: [WATCH_OPTION] };
