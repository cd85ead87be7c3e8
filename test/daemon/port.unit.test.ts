import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rememberedPort, rememberPort } from '../../daemon/port.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

let folder: ReturnType<typeof temporaryFolder>;
let file: string;

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'settings.json');
});
afterEach(() => folder.remove());

describe('the port of later starts', () => {
  it('is none until one is chosen, and then the last one', () => {
    expect(rememberedPort(file)).toBeNull();
    rememberPort(file, 5001);
    rememberPort(file, 5002);
    expect(rememberedPort(file)).toBe(5002);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it.each(['', 'no JSON', '{}', '{"port":0}', '{"port":65536}', '{"port":"5001"}', '{"port":1.5}'])(
    'is not guessed from a damaged file: %s',
    (text) => {
      writeFileSync(file, text);
      expect(() => rememberedPort(file)).toThrow(
        `${file} has no port. Choose one: svc up --port N`,
      );
    },
  );
});
