import { defineConfig } from 'vitest/config';

const kind = (name: string, suffix: string, seconds: number) => ({
  extends: true as const,
  test: {
    name,
    include: [`test/**/*.${suffix}.test.ts`],
    testTimeout: seconds * 1000,
    hookTimeout: seconds * 1000,
  },
});

/** The kind of a test stands in its name: `*.unit.test.ts`, `*.int.test.ts`, `*.e2e.test.ts`. */
export default defineConfig({
  test: {
    exclude: ['dist/**', 'node_modules/**'],
    projects: [kind('unit', 'unit', 20), kind('integration', 'int', 60), kind('e2e', 'e2e', 300)],
  },
});
