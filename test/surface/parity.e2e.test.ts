import { describe } from 'vitest';
import { describeParity } from './parity.ts';
import { Stand } from './stand.ts';

describe('a daemon that has the project', () => {
  describeParity((agent) => Stand.local(agent));
});
