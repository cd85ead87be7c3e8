import { describe } from 'vitest';
import { describeParity } from './parity.ts';
import { Harness } from './harness.ts';

describe('a gateway', () => {
  describeParity((agent) => Harness.gateway(agent));
});
