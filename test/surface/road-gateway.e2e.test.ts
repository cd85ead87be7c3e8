import { describe } from 'vitest';
import { describeRoads } from './roads.ts';
import { Stand } from './stand.ts';

describe('a gateway', () => {
  describeRoads((agent) => Stand.gateway(agent));
});
