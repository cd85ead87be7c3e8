import { validateHeaderName, validateHeaderValue } from 'node:http';

/** Whether Node would send this header; it throws for what could break the request apart. */
export function isSendable(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
