import { randomBytes } from 'node:crypto';
import { cpSync, rmSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DamageRegister } from '../../shared/store/sums/damage.ts';
import { filesUnder } from '../helpers/files.ts';
import { flipBitAt } from '../helpers/flipped.ts';
import { foundProject } from '../helpers/founding.ts';
import { Random } from '../fault/power-cut/random.ts';
import { installPackage } from './installed.ts';
import { HostedGateway } from './hosted-gateway.ts';
import { Machine } from './machine.ts';

/** Half of them while it's stopped. */
const PLACES = Number(process.env['SVC_FLIPPED_PLACES'] ?? 80);
/** Flipped together. */
const BATCH = 40;
const BLOBS_IN_BATCH = 24;
const IN_CONTROL = 8;
const COUNT = 40;
const PAGE = 4096;

const installed = await installPackage();
const random = new Random(11);

interface Place {
  readonly file: string;
  readonly offset: number;
  /** As a check names it. */
  readonly named: string;
}

function textOf(length: number): string {
  return randomBytes(length / 2).toString('hex');
}

function flip(all: readonly Place[]): string[] {
  for (const { file, offset } of all) flipBitAt(file, offset);
  return all.map(({ named }) => named).toSorted();
}

describe.runIf(installed)(`${PLACES} flipped bytes under the installed package`, () => {
  let machine: Machine;
  let gateway: HostedGateway | null = null;
  let data: string;
  let good: string;
  let project: { readonly id: string; readonly apiKey: string };
  /** What each path must be answered with, as a part of the answer. */
  const truth = new Map<string, string>();
  let backups = 0;

  beforeAll(async () => {
    machine = new Machine(installed, { SVC_SIGN_UP: 'open', SVC_RATE_LIMIT: '0' });
    const first = await start();
    data = first.dataFolder;
    good = join(machine.home, 'good');
    project = await foundProject({ url: first.url, folder: data }, { slug: 'drill' });
    await seed();
    await stop();
    cpSync(data, good, { recursive: true });
  });
  afterAll(async () => {
    await machine.remove();
  });

  async function start(): Promise<HostedGateway> {
    gateway = await HostedGateway.start(machine);
    return gateway;
  }

  async function stop(): Promise<void> {
    await gateway?.process.end();
    gateway = null;
  }

  async function call(method: string, path: string, body?: string): Promise<Response> {
    const headers = { authorization: `Bearer ${project.apiKey}` };
    const type = path.startsWith('/v1/files') ? 'application/octet-stream' : 'application/json';
    return fetch(`${gateway?.url}${path}`, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body }),
    });
  }

  async function put(path: string, body: string, part: string): Promise<void> {
    const response = await call('PUT', path, body);
    expect([path, response.status, await response.text()]).toMatchObject([path, 200, {}]);
    truth.set(path, part);
  }

  async function seed(): Promise<void> {
    const made = await call(
      'POST',
      '/v1/sources',
      JSON.stringify({ name: 'shop', type: 'webhook' }),
    );
    const { url } = (await made.json()) as { url: string };
    for (let n = 0; n < COUNT; n += 1) {
      const text = textOf(1500);
      await put(`/v1/kv/key-${n}`, JSON.stringify(`value ${n} ${text}`), `value ${n} ${text}`);
      await put(`/v1/state/job-${n}`, JSON.stringify({ state: text }), text);
      const bytes = `file ${n} ${textOf(3000)}`;
      await put(`/v1/files/f/${n}`, bytes, Buffer.from(bytes).toString('base64'));
      const told = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ n, paid: text }),
      });
      const { event_id: id } = (await told.json()) as { event_id: string };
      truth.set(`/v1/inbox/events/${id}`, text);
    }
  }

  /** Reads everything; returns how many were refused, and what was answered with something else than was written. */
  async function readAll(): Promise<{ readonly refused: number; readonly wrong: string[] }> {
    let refused = 0;
    const wrong: string[] = [];
    for (const [path, part] of truth) {
      const response = await call('GET', path).catch(() => null);
      const text = (await response?.text().catch(() => '')) ?? '';
      if (response?.status !== 200) refused += 1;
      else if (!text.includes(part)) wrong.push(path);
    }
    return { refused, wrong };
  }

  /** Bytes of different blobs and pages. */
  function places(count: number): Place[] {
    const blobs = random.shuffled(filesUnder(data).filter((path) => path.includes('/blobs/')));
    const chosen = blobs.slice(0, Math.min(BLOBS_IN_BATCH, count)).map((file) => ({
      file,
      offset: random.below(statSync(file).size),
      named: `${relative(data, file)} blob`,
    }));
    const database = join(data, 'projects', project.id, 'project.db');
    return [...chosen, ...pagesOf(database, count - chosen.length)];
  }

  function pagesOf(file: string, count: number): Place[] {
    const pages = Array.from({ length: statSync(file).size / PAGE - 1 }, (_, index) => index + 2);
    return random
      .shuffled(pages)
      .slice(0, count)
      .map((page) => ({
        file,
        offset: (page - 1) * PAGE + random.below(PAGE),
        named: `${relative(data, file)} page ${page}`,
      }));
  }

  async function check(): Promise<{ readonly code: number | null; readonly named: string[] }> {
    const { code, out } = await machine.run(['gateway', 'check', '--data', data, '--json']);
    const { damage } = JSON.parse(out) as { damage: { file: string; what: string }[] };
    return { code, named: damage.map(({ file, what }) => `${file} ${what}`) };
  }

  async function backUp(): Promise<number | null> {
    backups += 1;
    const folder = join(machine.home, `backup-${backups}`);
    return (await machine.run(['gateway', 'backup', folder, '--data', data])).code;
  }

  function restoreGood(): void {
    rmSync(data, { recursive: true, force: true });
    cpSync(good, data, { recursive: true });
  }

  it('finds nothing before the first', async () => {
    expect(await check()).toEqual({ code: 0, named: [] });
    expect(await backUp()).toBe(0);
  });

  it.each(Array.from({ length: PLACES / 2 / BATCH }, (_, batch) => batch))(
    'while it is stopped, batch %i: each is named, no backup is green, nothing is served as right',
    async () => {
      restoreGood();
      const expected = flip(places(BATCH));
      const { code, named } = await check();
      expect(code).toBe(1);
      expect(named).toEqual(expect.arrayContaining(expected));
      expect(await backUp()).toBe(1);
      // It may refuse to start; then it serves nothing.
      await start().catch(() => null);
      const { refused, wrong } = await readAll();
      expect(wrong).toEqual([]);
      expect(refused).toBeGreaterThan(0);
      await stop();
    },
  );

  it('in the control database: each is named, and nothing else is served as right', async () => {
    restoreGood();
    const expected = flip(pagesOf(join(data, 'control.db'), IN_CONTROL));
    expect((await check()).named).toEqual(expect.arrayContaining(expected));
    expect(await backUp()).toBe(1);
    await start().catch(() => null);
    expect((await readAll()).wrong).toEqual([]);
    await stop();
  });

  it.each(Array.from({ length: PLACES / 2 / BATCH }, (_, batch) => batch))(
    'while it runs, batch %i: nothing is served as right, and one scrub names each',
    async () => {
      restoreGood();
      await start();
      const expected = flip(places(BATCH));
      expect((await readAll()).wrong).toEqual([]);
      // What the gateway starts once a day.
      const scrub = resolve(dirname(machine.command), '../svc-agents/dist/scrub.js');
      const ran = machine.startProgram(process.execPath, [scrub, data]);
      expect(await ran.ended).toMatchObject({ code: 0 });
      const named = new DamageRegister(data).list().map(({ file, what }) => `${file} ${what}`);
      expect(named).toEqual(expect.arrayContaining(expected));
      expect((await readAll()).wrong).toEqual([]);
      expect((await check()).code).toBe(1);
      expect(await backUp()).toBe(1);
      await stop();
    },
  );
});
