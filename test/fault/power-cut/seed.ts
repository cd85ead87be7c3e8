/** Another one each time, and told, so that a run can be repeated: SVC_TEST_SEED. */
export function chooseSeed(): number {
  const seed = Number(process.env['SVC_TEST_SEED'] ?? Date.now() % 1_000_000);
  process.stderr.write(`SVC_TEST_SEED=${seed}\n`);
  return seed;
}
