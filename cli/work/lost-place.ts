import { isObject } from '../../shared/lib/guards.ts';
import { CallError } from '../errors.ts';

/** Said when the events to continue after are gone. */
export const LOST_PLACE = "The gateway's history changed, as after a restore";

/** Returns 'lost' if the event to continue after no longer exists; throws anything else. */
export function lostPlace(error: unknown): 'lost' {
  const fields = error instanceof CallError ? error.details?.['fields'] : null;
  if (Array.isArray(fields) && fields.some(isAfter)) return 'lost';
  throw error;
}

function isAfter(field: unknown): boolean {
  return isObject(field) && field['path'] === 'after';
}
