import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { nameIn } from '../cli/read-line.ts';
import { draw } from './drawing.ts';
import { Screen } from './screen.ts';

const tour = readFileSync('docs/tour.svg', 'utf8');

it('the tour is a picture: nothing in it runs, or is fetched', () => {
  expect(tour).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /);
  expect(tour).not.toMatch(/<script|<foreignObject|\bon[a-z]+=|href|url\(|@import/);
  expect(tour).toContain('prefers-color-scheme: dark');
  expect(tour).not.toMatch(/svc_live_[0-9A-Za-z]|\/w\/[0-9A-Za-z]{8}/);
});

it('the commands of the tour are there, and none of them failed', () => {
  const lines = [...tour.matchAll(/<tspan [^>]*class="bold">(svc [^<]*)</g)];
  const words = lines.map(([, line = '']) => line.slice('svc '.length).split(' '));
  expect(words.length).toBeGreaterThan(4);
  expect(words.filter((one) => nameIn(one) === null)).toEqual([]);
  expect(tour).not.toMatch(/error|failed|USAGE|INTERNAL/);
});

it('draws what a terminal shows', () => {
  const pieces = new Screen().write('spin\r\u001b[K\u001b[32m✓\u001b[0m <b>\r\n').pieces();
  const picture = draw([{ command: 'svc up', lines: pieces }], 'A tour');
  expect(picture).toContain('class="c32">✓</tspan>');
  expect(picture).toContain('> &lt;b&gt;</tspan>');
  expect(picture).not.toContain('spin');
});
