import { describe } from 'vitest';
import { describeParity } from './parity.ts';
import { Stand } from './stand.ts';

describe('a gateway', () => {
  describeParity((agent) => Stand.gateway(agent));
});
