import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';

const require = createRequire(import.meta.url);
const redocly = require.resolve('@redocly/cli/bin/cli.js');

it('the OpenAPI document has nothing a linter would remark on', () => {
  const { status, stdout } = spawnSync(
    process.execPath,
    [redocly, 'lint', 'test/surface/openapi.json', '--extends=recommended-strict', '--format=json'],
    {
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        REDOCLY_TELEMETRY: 'off',
        REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      },
    },
  );
  const report = JSON.parse(stdout) as { totals: Record<string, number>; problems: unknown[] };
  expect(report.problems).toEqual([]);
  expect(report.totals).toEqual({ errors: 0, warnings: 0, ignored: 0 });
  expect(status).toBe(0);
});
