import type { Additions } from '../../command.ts';
import { WATCH_OPTION } from '../../input/flags.ts';
import { RAW_OPTION, showingValue } from '../../disk/raw-value.ts';

export const declaration: Additions = { moreOptions: [RAW_OPTION, WATCH_OPTION] };

export const run = showingValue<'state_load'>('state');
