import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { commandBundle } from './helpers/command-bundle.ts';
import { filesUnder, houseOf, importsOf, offences, sources, sourcesIn } from './helpers/sources.ts';

/** From the top: a folder imports those below it. */
const FLOORS: Readonly<Record<'gateway' | 'shared', readonly (readonly string[])[]>> = {
  gateway: [
    ['main.ts'],
    ['server'],
    ['admin'],
    [
      'compose-ingress.ts',
      'compose-people.ts',
      'compose-messaging.ts',
      'compose.ts',
      'gateway.ts',
      'options.ts',
      'settings.ts',
    ],
    ['operator'],
    ['http'],
    ['web'],
    ['executor'],
    ['auth'],
    ['channels'],
    ['mail'],
    ['approvals'],
    ['callbacks'],
    ['replica'],
    ['scrub'],
    ['projects'],
    ['blobs'],
    ['cluster'],
    ['commit'],
    ['store'],
    ['lib'],
  ],
  shared: [
    ['api'],
    ['operations'],
    ['kernel'],
    ['store'],
    ['rules'],
    ['senders'],
    ['admission'],
    ['http'],
    ['host'],
    ['lib'],
  ],
};

function floorOf(path: string, house: 'gateway' | 'shared'): number {
  const floor = FLOORS[house].findIndex((rooms) => rooms.includes(path.split('/')[1] ?? ''));
  if (floor === -1) throw new Error(`${path} is on no floor of ${house}/.`);
  return floor;
}

describe('the directions of imports', () => {
  it('reads imports at all', () => {
    expect(importsOf('cli/a.ts', `import type { A } from './b.ts';`)).toEqual([
      { target: 'cli/b.ts', typeOnly: true },
    ]);
    expect(importsOf('cli/a.ts', `const a = await import('../daemon/b.ts');`)).toEqual([
      { target: 'daemon/b.ts', typeOnly: false },
    ]);
    expect(importsOf('cli/a.ts', `import { a, type B } from 'c';`)).toEqual([
      { target: 'c', typeOnly: false },
    ]);
    expect(sources.length).toBeGreaterThan(100);
    expect(sources.flatMap(({ imports }) => imports).length).toBeGreaterThan(400);
  });

  it('cli -> clients -> daemon -> shared, gateway -> shared', () => {
    const allowed: Record<string, readonly string[]> = {
      cli: ['cli', 'clients', 'daemon', 'shared'],
      clients: ['clients', 'daemon', 'shared'],
      daemon: ['daemon', 'shared'],
      gateway: ['gateway', 'shared'],
      shared: ['shared'],
    };
    const wrong = offences(sources, ({ target }, { path }) => {
      const house = houseOf(target);
      if (house === undefined) return target.startsWith('test/') || target.startsWith('..');
      if (path === 'daemon/local.ts' && house === 'gateway') return false;
      return !allowed[houseOf(path) ?? '']?.includes(house);
    });
    expect(wrong).toEqual([]);
  });

  it('a client takes from the daemon only where it keeps its files', () => {
    const taken = sourcesIn('clients').flatMap(({ imports }) =>
      imports.flatMap(({ target }) => (houseOf(target) === 'daemon' ? [target] : [])),
    );
    const places = ['daemon/credentials.ts', 'daemon/home.ts', 'daemon/record.ts'];
    expect(taken.filter((target) => !places.includes(target))).toEqual([]);
  });

  it('local mode is what embeds the gateway', () => {
    const embedding = offences(
      sourcesIn('cli', 'clients', 'daemon', 'shared'),
      ({ target }) => houseOf(target) === 'gateway',
    );
    expect(embedding).toEqual([
      'daemon/local.ts -> gateway/lib/data-mode.ts',
      'daemon/local.ts -> gateway/gateway.ts',
      'daemon/local.ts -> gateway/settings.ts',
    ]);
  });

  it.each(['gateway', 'shared'] as const)('down the floors of %s/', (house) => {
    const ups = offences(
      sourcesIn(house),
      ({ target }, { path }) =>
        target.startsWith(`${house}/`) && floorOf(target, house) < floorOf(path, house),
    );
    expect(ups).toEqual([]);
  });

  it('pages read a store, and check scopes and prefixes, by what they declare for the executor', () => {
    const byHand = sourcesIn('gateway/web').filter(
      ({ text, imports }) =>
        /\bstore\.read\(|\bmayCall\b|\bscopes\.includes\(/.test(text) ||
        (!text.includes('pageRead(') &&
          imports.some(({ target }) => target === 'shared/kernel/disk-limit.ts')),
    );
    expect(byHand.map(({ path }) => path)).toEqual(['gateway/web/inbox/page-read.ts']);
  });

  it('operations and rules load no store', () => {
    const wrong = offences(
      sourcesIn('shared/operations', 'shared/rules'),
      ({ target, typeOnly }) => target.startsWith('shared/store/') && !typeOnly,
    );
    expect(wrong).toEqual([]);
  });

  it('rules know neither operations nor bindings', () => {
    const wrong = offences(sourcesIn('shared/rules'), ({ target }) =>
      /^shared\/(operations|api)\//.test(target),
    );
    expect(wrong).toEqual([]);
  });

  it('operations and rules need zod and functions that compute', () => {
    // The buffer converts between bytes and text, the url between the spellings of a domain.
    const needed = new Set(['zod', 'node:crypto', 'node:buffer', 'node:url']);
    const wrong = offences(
      sourcesIn('shared/operations', 'shared/rules'),
      ({ target, typeOnly }) => houseOf(target) === undefined && !typeOnly && !needed.has(target),
    );
    expect(wrong).toEqual([]);
  });

  it('operations and rules read no clock, environment, timer or network', () => {
    const reads =
      /\bsystemClock\b|\bDate\.now\(|\bnew Date\(\)|\bperformance\b|\bMath\.random\b|\bset(?:Timeout|Interval|Immediate)\(|\bprocess\b|\bfetch\(/;
    const wrong = sourcesIn('shared/operations', 'shared/rules').filter(({ text }) =>
      reads.test(text),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it('what operations load, loads no store, clock, network or disk either', async () => {
    const { metafile } = await build({
      entryPoints: ['shared/operations/index.ts', ...filesUnder('shared/rules')],
      outdir: 'out',
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      external: ['@modelcontextprotocol/sdk/*'],
      write: false,
      metafile: true,
      logLevel: 'silent',
    });
    const inputs = Object.keys(metafile.inputs);
    expect(inputs.filter((path) => path.startsWith('shared/store/'))).toEqual([]);
    expect(inputs.filter((path) => !path.startsWith('shared/'))).toEqual([]);
    const outside = Object.values(metafile.inputs).flatMap(({ imports }) =>
      imports.filter(({ external }) => external).map(({ path }) => path),
    );
    // zlib for the checksum in keys.
    expect([...new Set(outside)].toSorted()).toEqual([
      'node:buffer',
      'node:crypto',
      'node:url',
      'node:zlib',
      'zod',
    ]);
  });
});

describe('other gateways', () => {
  /** The interface, and the members whose names say nothing else. */
  const NAMES =
    /\b(?:coordination|(?:Project)?Coordination|CoordinatedProjects?|exclusiveGateway|hasOthers|writesAlone|mayBeBehind|addExclusiveTask|newDeliveries|newPins|noteUncertain)\b/;

  it('are a matter of gateway/cluster: twelve files outside know of them', () => {
    const knowing = sourcesIn('gateway', 'shared').filter(
      ({ path, text, imports }) =>
        !path.startsWith('gateway/cluster/') &&
        (NAMES.test(text) || imports.some(({ target }) => target.startsWith('gateway/cluster/'))),
    );
    const paths = knowing.map(({ path }) => path);
    expect(paths).toContain('gateway/compose.ts');
    expect(paths.slice(12)).toEqual([]);
  });

  it('share a server that shared/store/remote alone knows', () => {
    const local = sourcesIn('shared/store').filter(
      ({ path }) => !path.startsWith('shared/store/remote/'),
    );
    const asking = offences(local, ({ target }) => target.startsWith('shared/store/remote/'));
    expect([...new Set(asking.map((line) => line.split(' -> ')[0]))]).toEqual([
      'shared/store/engine/open.ts',
    ]);
  });
});

describe('SQL', () => {
  const STATEMENT =
    /\b(?:SELECT\s[\s\S]{1,200}?\sFROM|INSERT\s+(?:OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|(?:CREATE|ALTER|DROP)\s+(?:UNIQUE\s+)?(?:TABLE|INDEX|TRIGGER|VIEW))\b/;

  it('is written in shared/store and gateway/store alone', () => {
    const elsewhere = sources.filter(({ path }) => !/^(?:shared|gateway)\/store\//.test(path));
    expect(elsewhere.filter(({ text }) => STATEMENT.test(text)).map(({ path }) => path)).toEqual(
      [],
    );
    expect(sourcesIn('shared/store').some(({ text }) => STATEMENT.test(text))).toBe(true);
  });

  it('is run by the stores, but for the check of a damaged database and the client of a sync server', () => {
    const drivers = offences(
      sources,
      ({ target, typeOnly }) => !typeOnly && /^libsql$|^@libsql\//.test(target),
    ).filter((line) => !/^(?:shared|gateway)\/store\//.test(line));
    expect(drivers).toEqual([
      'daemon/check.ts -> libsql',
      'daemon/replica/sync/sync-client.ts -> libsql',
    ]);
  });
});

describe('files', () => {
  const tests = filesUnder('test').map((path) => ({ path, text: readFileSync(path, 'utf8') }));

  it('of unit and integration tests start no process, and are never skipped', () => {
    const all = new Map(tests.map(({ path, text }) => [path, importsOf(path, text)]));
    const reached = (path: string, seen = new Set<string>()): Set<string> => {
      for (const { target, typeOnly } of all.get(path) ?? []) {
        if (typeOnly || seen.has(target)) continue;
        seen.add(target);
        reached(target, seen);
      }
      return seen;
    };
    const outside = ['node:child_process', 'test/helpers/require.ts'];
    const wrong = [...all.keys()].filter(
      (path) =>
        /\.(?:unit|int)\.test\.ts$/.test(path) && outside.some((one) => reached(path).has(one)),
    );
    expect(wrong).toEqual([]);
  });

  it('pass nothing on, but for what the package exports; the one index is the list of operations', () => {
    const everything = [...sources, ...tests];
    const indexes = everything.filter(({ path }) => /(?:^|\/)index\.tsx?$/.test(path));
    expect(indexes.map(({ path }) => path)).toEqual(['shared/operations/index.ts']);
    const passing = everything.filter(({ text }) =>
      /^export\s+(?:type\s+)?(?:\*|\{[^}]*\}\s*from\b)/m.test(text),
    );
    // What the package exports stands in one file each.
    expect(passing.map(({ path }) => path)).toEqual([
      'clients/typescript/main.ts',
      'clients/typescript/testing/main.ts',
    ]);
  });

  it('have fewer than 400 lines', () => {
    const written = [...sources, ...tests].filter(({ text }) => !text.startsWith('// Written by'));
    const long = written.filter(({ text }) => text.split('\n').length > 400);
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  it('name builtin modules with node:', () => {
    const bare = offences(
      sources,
      ({ target }) => isBuiltin(target) && !target.startsWith('node:'),
    );
    expect(bare).toEqual([]);
  });

  it('stand in shared/ only when more than one house uses them', () => {
    const usersOf = new Map<string, Set<string>>();
    const reach = (path: string, house: string): void => {
      const users = usersOf.get(path) ?? new Set();
      if (users.has(house)) return;
      usersOf.set(path, users.add(house));
      for (const { target } of sources.find((one) => one.path === path)?.imports ?? [])
        if (target.startsWith('shared/')) reach(target, house);
    };
    for (const { path, imports } of sources) {
      const house = houseOf(path);
      if (house === undefined || house === 'shared') continue;
      for (const { target } of imports) if (target.startsWith('shared/')) reach(target, house);
    }
    const alone = sourcesIn('shared').filter(({ path }) => (usersOf.get(path)?.size ?? 0) < 2);
    expect(alone.map(({ path }) => path)).toEqual([]);
  });

  it('lie at the top only where they must', () => {
    const ignored = new Set(
      readFileSync('.gitignore', 'utf8')
        .split('\n')
        .map((line) => line.replace(/\/$/, '')),
    );
    const files =
      'CHANGELOG.md CONTRIBUTING.md LICENSE README.md SECURITY.md SKILL.md build.mjs bundle.mjs knip.json llms.txt package-lock.json package.json server.json tsconfig.json vitest.config.ts';
    const folders = 'cli clients daemon docs gateway plugin shared test';
    const known = new Set(`${files} ${folders}`.split(' '));
    const unknown = readdirSync('.').filter(
      (name) => !name.startsWith('.') && !ignored.has(name) && !known.has(name),
    );
    expect(unknown).toEqual([]);
  });
});

describe('the executable', () => {
  it('is built from our own files, commander, and the parser of clients’ JSON: `svc mcp` and --jq alone load another package, and late', async () => {
    const metafile = await commandBundle();
    const inputs = Object.keys(metafile.inputs);
    const packages = inputs.flatMap(
      (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
    );
    expect(new Set(packages)).toEqual(new Set(['commander', 'jsonc-parser']));
    expect(inputs.filter((path) => path.startsWith('gateway/'))).toEqual([]);
    // The walk reached the commands that are loaded late.
    expect(inputs).toContain('cli/commands/mcp.ts');
    expect(inputs).toContain('cli/commands/up.ts');
    const outside = Object.entries(metafile.inputs).filter(([, { imports }]) =>
      imports.some(
        ({ external, path }) => external === true && !isBuiltin(path) && !path.startsWith('.'),
      ),
    );
    expect(outside.map(([input]) => input).toSorted()).toEqual([
      'cli/jq/filter.ts',
      'cli/mcp/bridge.ts',
    ]);
  });
});
