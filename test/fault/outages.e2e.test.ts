import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join } from 'node:path';
import { temporaryFolder } from '../helpers/gateway.ts';
import { freePort } from '../helpers/programs.ts';
import { newProject, TeamGateway } from '../helpers/team.ts';
import {
  Drill,
  type Away,
  type Back,
  type Drilled,
  type DrillWanted,
  type Said,
} from './outages/drill.ts';

/** With the times of the product, all at once: more than 20 s of silence end a stream, any break ends it at once. */
const OUTAGES: readonly Pick<DrillWanted, 'name' | 'outageMs' | 'kind' | 'writes'>[] = [
  { name: 'short', outageMs: 2_500, kind: 'broken', writes: true },
  { name: 'ten', outageMs: 10_000, kind: 'broken', writes: true },
  { name: 'fifteen', outageMs: 15_000, kind: 'broken', writes: true },
  { name: 'twenty', outageMs: 20_000, kind: 'broken', writes: true },
  { name: 'reader', outageMs: 15_000, kind: 'broken', writes: false },
  { name: 'silent', outageMs: 10_000, kind: 'silent', writes: true },
];

const folder = temporaryFolder();
const dataFolder = join(folder.path, 'gateway');
const drills: Drill[] = [];
let gateway: TeamGateway;
let drilled: readonly (Drilled & { readonly name: string; readonly writes: boolean })[] = [];

beforeAll(async () => {
  const project = await newProject(dataFolder, 'team');
  gateway = await TeamGateway.start({ dataFolder, listen: `127.0.0.1:${await freePort()}` });
  const { url } = gateway;
  for (const one of OUTAGES) {
    drills.push(await Drill.open({ ...one, folder: folder.path, gateway: url, project }));
  }
  drilled = await Promise.all(
    OUTAGES.map(async ({ name, writes }, index) => {
      const seen = await drills[index]?.run();
      if (!seen) throw new Error('There is no drill.');
      return { ...seen, name, writes };
    }),
  );
});
afterAll(async () => {
  for (const drill of drills) await drill.close();
  await gateway.end();
  folder.remove();
});

/** What every outage that has it showed, by its name. */
function shown<T>(pick: (seen: Drilled) => T | null): [string, T][] {
  return drilled.flatMap((seen) => {
    const found = pick(seen);
    return found === null ? [] : [[seen.name, found] as [string, T]];
  });
}

function same(value: unknown): [string, unknown][] {
  return OUTAGES.map(({ name }) => [name, value]);
}

const away = <T>(pick: (seen: Away, lineUrl: string) => T): [string, T][] =>
  shown((seen) => seen.away && pick(seen.away, seen.lineUrl));
const said = <T>(pick: (seen: Said, lineUrl: string) => T): [string, T][] =>
  shown((seen) => seen.said && pick(seen.said, seen.lineUrl));
const back = <T>(pick: (seen: Back, seen2: Drilled) => T): [string, T][] =>
  shown((seen) => pick(seen.back, seen));

const BROKEN = OUTAGES.filter(({ kind }) => kind === 'broken').map(({ name }) => name);
const LONG = BROKEN.filter((name) => name !== 'short');

function of(names: readonly string[], value: unknown): [string, unknown][] {
  return names.map((name) => [name, value]);
}

function codeOf({ body }: { readonly body: Record<string, unknown> }): string | undefined {
  return (body['error'] as { code: string } | undefined)?.code;
}

const STALE = /^The gateway didn't answer: this is what the copy on this machine knew \d+ s ago\.$/;

describe('while the gateway is away', () => {
  it('reads are answered from the copy, and marked', () => {
    const seen = away(({ read: { status, headers, body } }) => ({
      status,
      value: body['value'],
      stale: headers.get('x-service-stale'),
      age: Number(headers.get('x-service-replica-age')) >= 0,
    }));
    expect(seen).toEqual(of(BROKEN, { status: 200, value: { n: 0 }, stale: 'true', age: true }));
  });

  it('a command prints the answer, and says on standard error how old that is', () => {
    const seen = said(({ readCommand: { code, out, err } }) => {
      const { value } = JSON.parse(out) as { value: unknown };
      return { code, value, isSaid: STALE.test(err.trim()) };
    });
    expect(seen).toEqual(of(LONG, { code: 0, value: { n: 0 }, isSaid: true }));
  });

  it('a tool answers with a second text, which says how old that is', () => {
    const seen = said(({ readTool: [answer = '', note = ''] }) => ({
      value: (JSON.parse(answer) as { value: unknown }).value,
      isSaid: STALE.test(note),
    }));
    expect(seen).toEqual(of(LONG, { value: { n: 0 }, isSaid: true }));
  });

  it('what is in no copy is refused, and so is a key that the copy does not have', () => {
    const seen = away(({ usage, newKey }) => [codeOf(usage), codeOf(newKey)]);
    expect(seen).toEqual(of(BROKEN, ['UNAVAILABLE', 'UNAVAILABLE']));
  });

  it('a write is refused: the refusal names the gateway, and says that nothing was changed', () => {
    const seen = away(({ write: { status, body } }, lineUrl) => {
      const { code, hint } = body['error'] as { code: string; hint: string };
      return [status, code, hint.includes(lineUrl), hint.includes('Nothing changed')];
    });
    expect(seen).toEqual(of(BROKEN, [503, 'UNAVAILABLE', true, true]));
    const words = said(({ writeTool: [text = ''], writeCommand: { err } }, lineUrl) =>
      [text, err].map((one) => one.startsWith('UNAVAILABLE: ') && one.includes(lineUrl)),
    );
    expect(words).toEqual(of(LONG, [true, true]));
  });

  it('a command that writes ends with 7', () => {
    expect(said(({ writeCommand }) => writeCommand.code)).toEqual(of(LONG, 7));
  });

  it('a key that was revoked meanwhile reads the copy, and can do nothing else', () => {
    const seen = away(({ revokedRead, revokedWrite }) => [
      revokedRead.status,
      revokedRead.headers.get('x-service-stale'),
      revokedWrite.status,
    ]);
    expect(seen).toEqual(of(BROKEN, [200, 'true', 503]));
  });

  it('the status says so, since when and why', () => {
    const seen = said(({ replica: { state, reads, offline_since, detail } }) => ({
      state,
      reads,
      isDated: Date.parse(String(offline_since)) > 0,
      detail,
    }));
    const detail = "The gateway can't be reached: ECONNREFUSED.";
    expect(seen).toEqual(of(LONG, { state: 'offline', reads: 'stale', isDated: true, detail }));
  });

  it('on a silent line reads go on, and a write waits until it goes through', () => {
    const seen = shown(({ silent }) => silent && [silent.read.status, silent.write.status]);
    expect(seen).toEqual([['silent', [200, 200]]]);
  });
});

describe('when it is back', () => {
  it('the first write goes through', () => {
    const seen = drilled.filter(({ writes }) => writes).map(({ back: { write } }) => write?.status);
    expect(seen).toEqual([200, 200, 200, 200, 200]);
  });

  it('every later read without the mark has what was written, however long the outage was', () => {
    const seen = back(({ write, own }) => {
      const unmarked = own.filter(({ headers }) => !headers.has('x-service-stale'));
      const old = unmarked.filter(({ body }) => (body['value'] as { n: number }).n !== 1);
      return write ? old.length : 0;
    });
    expect(seen).toEqual(same(0));
  });

  it('a read without the mark has what others wrote meanwhile', () => {
    const seen = drilled
      .filter(({ writes }) => writes)
      .map(({ back: { theirs } }) => [theirs.status, theirs.body['value']]);
    expect(seen).toEqual(Array.from({ length: 5 }, () => [200, { n: 1 }]));
  });

  it('a key that was revoked meanwhile is refused as soon as reads lose the mark', () => {
    const seen = drilled
      .filter(({ writes }) => writes)
      .map(({ back: { revoked } }) => codeOf(revoked));
    expect(seen).toEqual(Array.from({ length: 5 }, () => 'KEY_REVOKED'));
  });

  it('a member that only reads hears of all that', () => {
    const [reader] = drilled.filter(({ writes }) => !writes);
    expect(reader?.back.own.at(-1)?.headers.get('x-service-stale')).toBeNull();
  });

  it('a wait that went through the outage has what arrived meanwhile', () => {
    const seen = back(({ waited }, { awaited }) => {
      const { id } = waited.body['event'] as { id: string };
      return [waited.status, id === awaited];
    });
    expect(seen).toEqual(same([200, true]));
  });

  it('a command with --retry-for is done', () => {
    expect(shown(({ retried }) => retried).map(([name, { code }]) => [name, code])).toEqual(
      of(LONG, 0),
    );
  });

  it('svc inbox work closes what it had in work, as one attempt, and takes what came meanwhile', () => {
    const seen = shown(({ events: { before, meanwhile } }) =>
      [before, meanwhile].map(({ status, attempts }) => [status, attempts]),
    );
    expect(seen).toEqual(
      same([
        ['done', 0],
        ['done', 0],
      ]),
    );
  });
});
