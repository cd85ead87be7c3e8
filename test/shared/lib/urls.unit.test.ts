import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parsedUrl } from '../../../shared/lib/urls.ts';

it('knows a host with ü, however often it is asked', () => {
  let refused = 0;
  for (let calls = 0; calls < 50_000; calls += 1)
    if (!parsedUrl('https://bücher.example/')) refused += 1;
  expect(refused).toBe(0);
});

it('tells what is no URL', () => {
  expect(['https://', 'a b', '/path', ''].filter((text) => parsedUrl(text))).toEqual([]);
  expect(parsedUrl('/path', 'https://a.example')?.href).toBe('https://a.example/path');
});

it('is asked everywhere in place of URL.canParse', () => {
  const files = ['cli', 'clients/typescript', 'daemon', 'gateway', 'shared'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  );
  const sources = files.filter((path) => /\.tsx?$/.test(path));
  expect(sources.length).toBeGreaterThan(900);
  expect(sources.filter((path) => readFileSync(path, 'utf8').includes('URL.canParse('))).toEqual(
    [],
  );
});
