/**
 * True if `present`. Otherwise prints a line that says what is skipped and why. Under SVC_TEST_REQUIRE=all it throws, so
 * that a complete run can't skip silently.
 */
export function required(what: string, present: boolean, why: string): boolean {
  if (present) return true;
  const line = `SKIPPED: ${what}: ${why}`;
  if (process.env['SVC_TEST_REQUIRE'] === 'all') throw new Error(line);
  process.stderr.write(`\n${line}\n\n`);
  return false;
}
