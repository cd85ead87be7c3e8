import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPackage } from './installed.ts';
import { Machine } from './machine.ts';

const installed = await installPackage();

describe.runIf(installed)('the pages of the package, at the address of its daemon', () => {
  let machine: Machine;
  let url: string;

  beforeAll(async () => {
    machine = new Machine(installed);
    ({ base_url: url } = await machine.json<{ base_url: string }>('up', '--port', '0'));
  });
  afterAll(() => machine.remove());

  it('are all there, by the list that an agent begins with', async () => {
    const index = await (await fetch(`${url}/llms.txt`)).text();
    const links = [...index.matchAll(/\]\(([\w./-]+)\)/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(35);
    const found = await Promise.all(links.map(async (link) => [link, await statusOf(link)]));
    expect(found.filter(([, status]) => status !== 200)).toEqual([]);
  });

  async function statusOf(link: string): Promise<number> {
    return (await fetch(new URL(link, `${url}/`))).status;
  }
});
