/**
 * True when `present`. Otherwise says in one line what is skipped and why; under SVC_TEST_REQUIRE=all that is a failure,
 * so that a run meant to be complete cannot skip in silence.
 */
export function required(what: string, present: boolean, why: string): boolean {
  if (present) return true;
  const line = `SKIPPED: ${what}: ${why}`;
  if (process.env['SVC_TEST_REQUIRE'] === 'all') throw new Error(line);
  process.stderr.write(`\n${line}\n\n`);
  return false;
}
