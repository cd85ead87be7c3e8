import { defineConfig } from 'vitest/config';

/** Those that hold the program to short times: they run last, and one by one. */
const ALONE = [
  'test/daemon/deadlines.int.test.ts',
  'test/daemon/up-down.e2e.test.ts',
  'test/fault/gateways.e2e.test.ts',
  'test/fault/key-guessing.int.test.ts',
  'test/fault/memory.e2e.test.ts',
  'test/fault/slow-clients.e2e.test.ts',
  'test/fault/slow-receivers.int.test.ts',
  'test/fuzz/ingress.int.test.ts',
  'test/fuzz/mcp.int.test.ts',
  'test/fuzz/rest.int.test.ts',
  'test/gateway/bodies.int.test.ts',
  'test/gateway/ledger.int.test.ts',
  'test/gateway/mail/inbound/reader/hostile.int.test.ts',
  'test/gateway/requests-waits.int.test.ts',
  'test/gateway/waits.int.test.ts',
  'test/shared/bindings/mcp-call.int.test.ts',
  'test/store/remote.int.test.ts',
];

/** After all that run two at a time. */
const oneByOne = { maxWorkers: 1, sequence: { groupOrder: 1 } };

const kind = (name: string, suffix: string, seconds: number) => ({
  extends: true as const,
  test: {
    name,
    include: [`test/**/*.${suffix}.test.ts`],
    exclude: ALONE,
    testTimeout: seconds * 1000,
    hookTimeout: seconds * 1000,
  },
});

/** Those that run a second time with every gateway over a libSQL server: they look into no file. */
const REMOTE = [
  'deliveries',
  'dedup',
  'idempotency',
  'inbox',
  'isolation',
  'keys',
  'kv',
  'leases',
  'people-races',
  'policy',
  'requests',
  'routing',
  'waits',
];

/** The kind of a test stands in its name: `*.unit.test.ts`, `*.int.test.ts`, `*.e2e.test.ts`. */
export default defineConfig({
  test: {
    exclude: ['dist/**', 'node_modules/**'],
    // Much of the suite waits for a clock: two at a time are faster even where there are two cores.
    maxWorkers: 2,
    // What is waited for comes over HTTP, from other processes and from disks that are slow at times.
    expect: { poll: { timeout: 10_000 } },
    projects: [
      kind('unit', 'unit', 20),
      kind('integration', 'int', 60),
      kind('e2e', 'e2e', 300),
      {
        extends: true as const,
        test: {
          name: 'remote',
          include: [
            ...REMOTE.map((name) => `test/gateway/${name}.int.test.ts`),
            'test/surface/road-gateway.int.test.ts',
          ],
          env: { SVC_TEST_STORE: 'remote' },
          // They hold the program to the same times.
          ...oneByOne,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true as const,
        test: {
          name: 'alone',
          include: ALONE,
          ...oneByOne,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
