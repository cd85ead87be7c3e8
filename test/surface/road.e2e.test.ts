import { describe } from 'vitest';
import { describeRoads } from './roads.ts';
import { Stand } from './stand.ts';

describe('a daemon that has the project', () => {
  describeRoads((agent) => Stand.local(agent));
});
