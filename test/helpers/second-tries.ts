import { appendFileSync } from 'node:fs';
import type { Reporter, TestCase } from 'vitest/node';

/** Writes a line for each test that passed at its second try, to the file that SVC_SECOND_TRIES names: `.ci/run` prints them. */
export default class SecondTries implements Reporter {
  onTestCaseResult(test: TestCase): void {
    const file = process.env['SVC_SECOND_TRIES'];
    if (file === undefined || test.diagnostic()?.flaky !== true) return;
    appendFileSync(file, `${test.module.relativeModuleId} > ${test.fullName}\n`);
  }
}
