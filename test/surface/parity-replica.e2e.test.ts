import { describe } from 'vitest';
import { describeParity } from './parity.ts';
import { Harness } from './harness.ts';

describe("a daemon over a copy of a gateway's project", () => {
  describeParity((agent) => Harness.replica(agent));
});
