import { dirname } from 'node:path';
import { dataPlaces, unwritable } from '../shared/host/writable.ts';
import type { Home } from './home.ts';

/** Why a daemon would start and refuse every write, and what mends it; null if all can be written. */
export function unwritableText({ dataFolder, logFile, daemonFile }: Home): string | null {
  const state = dirname(daemonFile);
  const trouble =
    unwritable(dataPlaces(dataFolder), dataFolder) ?? unwritable([state, logFile], state);
  return trouble && `${trouble.text}. ${trouble.cure}`;
}
