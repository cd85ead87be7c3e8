/** What settles first decides; the others are ended. */
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
