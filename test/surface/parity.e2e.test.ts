import { describe } from 'vitest';
import { describeParity } from './parity.ts';
import { Harness } from './harness.ts';

describe('a daemon that has the project', () => {
  describeParity((agent) => Harness.local(agent), { isLocal: true });
});
