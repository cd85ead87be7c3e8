import { describe } from 'vitest';
import { describeParity } from './parity.ts';
import { Stand } from './stand.ts';

describe("a daemon over a copy of a gateway's project", () => {
  describeParity((agent) => Stand.replica(agent));
});
