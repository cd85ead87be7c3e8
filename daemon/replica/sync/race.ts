/** Settles like the first work that settles, and aborts the others. */
export async function raceAndEnd(
  works: readonly Promise<void>[],
  session: AbortController,
): Promise<void> {
  try {
    await Promise.race(works);
  } finally {
    session.abort();
    await Promise.allSettled(works);
  }
}
