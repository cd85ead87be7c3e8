import type { Additions } from '../../command.ts';
import { RAW_OPTION, showingValue } from '../../disk/raw-value.ts';

export const declaration: Additions = { moreOptions: [RAW_OPTION] };

export const run = showingValue('state');
