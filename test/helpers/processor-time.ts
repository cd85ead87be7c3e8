/** Milliseconds that this process has had a core: unlike the clock, they don't grow while other programs have it. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
