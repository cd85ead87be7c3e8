import { statfsSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

// Terminals show local times, and the tests spell them out.
process.env['TZ'] = 'UTC';

/** Those that hold the program to short times or need most of the memory: one by one, after the others of their kind. */
const ALONE = [
  'test/daemon/up-down.e2e.test.ts',
  'test/fault/flood.torture.test.ts',
  'test/fault/gateways.torture.test.ts',
  'test/fault/key-guessing.torture.test.ts',
  'test/fault/memory.torture.test.ts',
  'test/fault/slow-clients.torture.test.ts',
  'test/fault/slow-receivers.torture.test.ts',
];

/**
 * Those that run a second time with every gateway over a libSQL server: many callers meet in one transaction there, or
 * read pages of what others write. What a driver does is pinned by `store/conformance*.int.test.ts`, over every driver;
 * that each operation works over a server, by `surface/parity-gateway.e2e.test.ts`.
 */
const REMOTE = [
  'test/gateway/approvals/people-races.int.test.ts',
  'test/gateway/executor/idempotency.int.test.ts',
  'test/shared/operations/inbox/inbox.int.test.ts',
  'test/shared/operations/inbox/leases.int.test.ts',
  'test/shared/operations/kv/kv.int.test.ts',
];

interface Kind {
  readonly suffix: string;
  /** When a test counts as hung: a guard, and no measure of anything. */
  readonly seconds: number;
  /** How many times more a test may be tried where a machine is shared: other programs and people's networks are in it. */
  readonly retries: number;
  /** Much of the suite waits for a clock: more than one a core are faster. */
  readonly workers: number;
  /** Kinds of one order run side by side. */
  readonly order: number;
}

const UNIT: Kind = { suffix: 'unit', seconds: 300, retries: 0, workers: 4, order: 0 };
const INTEGRATION: Kind = { suffix: 'int', seconds: 300, retries: 0, workers: 4, order: 0 };
const E2E: Kind = { suffix: 'e2e', seconds: 600, retries: 1, workers: 3, order: 2 };
const TORTURE: Kind = { suffix: 'torture', seconds: 900, retries: 1, workers: 2, order: 5 };

function project(name: string, { seconds, retries, workers, order }: Kind, test: object) {
  return {
    extends: true as const,
    test: {
      name,
      testTimeout: seconds * 1000,
      hookTimeout: seconds * 1000,
      // `.ci/run` names each test that needed its second try.
      retry: process.env['CI'] ? retries : 0,
      maxWorkers: workers,
      sequence: { groupOrder: order },
      ...test,
    },
  };
}

/** All of a kind, then those of it that run one by one. */
function projects(name: string, kind: Kind, options: object = {}) {
  const alone = ALONE.filter((path) => path.endsWith(`.${kind.suffix}.test.ts`));
  const all = { include: [`test/**/*.${kind.suffix}.test.ts`], exclude: ALONE };
  const last = { ...kind, workers: 1, order: kind.order + 1 };
  return [
    project(name, kind, { ...all, ...options }),
    ...(alone.length > 0 ? [project(`${name}-alone`, last, { include: alone, ...options })] : []),
  ];
}

const IN_MEMORY = '/dev/shm';
const ROOM_BYTES = 2 ** 29;

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > ROOM_BYTES;
  } catch {
    return false;
  }
}

/** In a process that runs other tests, too, and with temporary folders for which a sync costs nothing. */
const inProcess = {
  isolate: false,
  restoreMocks: true,
  setupFiles: ['test/helpers/answered.ts'],
  ...(hasRoom(IN_MEMORY) && { env: { TMPDIR: IN_MEMORY } }),
};
/** The program is built once, before them, and `svc` on PATH is it; what they leave behind is ended after them. */
const built = {
  globalSetup: ['test/helpers/build.ts', 'test/helpers/reaper.ts'],
  env: { PATH: [resolve('test/helpers/bin'), process.env['PATH']].join(delimiter) },
};

/** The kind of a test stands in its name: `*.unit.test.ts`, `*.int.test.ts`, `*.e2e.test.ts`, `*.torture.test.ts`. */
export default defineConfig({
  test: {
    exclude: ['dist/**', 'node_modules/**'],
    reporters: ['default', './test/helpers/second-tries.ts'],
    // What is waited for comes over HTTP, from other processes and from disks that are slow at times.
    expect: { poll: { timeout: 60_000 } },
    projects: [
      ...projects('unit', UNIT, inProcess),
      ...projects('integration', INTEGRATION, inProcess),
      ...projects('e2e', E2E, built),
      project(
        'e2e-remote',
        { ...E2E, suffix: INTEGRATION.suffix },
        {
          include: [...REMOTE, 'test/surface/parity-gateway.e2e.test.ts'],
          env: { SVC_TEST_STORE: 'remote' },
        },
      ),
      ...projects('torture', TORTURE, built),
    ],
  },
});
