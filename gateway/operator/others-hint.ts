/** What to do about gateways that share a store with the one that gets an order. */
export function othersHint(others: number): string {
  const who =
    others === 1 ? '1 other gateway uses this store' : `${others} other gateways use this store`;
  return `${who}, and would not notice. End all but one first, and start them again once this is done. One that was killed counts until it has been silent for 15 seconds.`;
}
