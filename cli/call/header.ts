import { validateHeaderName, validateHeaderValue } from 'node:http';

/** Whether Node would send this header; Node throws for characters that could split the request. */
export function isSendable(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
