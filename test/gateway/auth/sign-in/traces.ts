import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The files under a folder that hold a text, by their paths in it. */
export function filesHolding(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => {
    const whole = join(folder, path);
    return statSync(whole).isFile() && readFileSync(whole).includes(text);
  });
}
