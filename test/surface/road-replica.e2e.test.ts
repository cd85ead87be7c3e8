import { describe } from 'vitest';
import { describeRoads } from './roads.ts';
import { Stand } from './stand.ts';

describe("a daemon over a copy of a gateway's project", () => {
  describeRoads((agent) => Stand.replica(agent));
});
