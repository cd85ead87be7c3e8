import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../helpers/gateway.ts';
import { openApiText } from './files.ts';

const require = createRequire(import.meta.url);
const redocly = require.resolve('@redocly/cli/bin/cli.js');

it('the OpenAPI document has nothing a linter would remark on', () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const file = join(folder.path, 'openapi.json');
  writeFileSync(file, openApiText());
  const { status, stdout } = spawnSync(
    process.execPath,
    [redocly, 'lint', file, '--extends=recommended-strict', '--format=json'],
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
