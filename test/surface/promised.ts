import { expect } from 'vitest';
import { Contract } from './contract.ts';
import { wholeDocument } from './doors/document.ts';
import { operationNamed, requestFor, type Answer, type World } from './scenario.ts';

const contract = new Contract(wholeDocument());

export type Input = Readonly<Record<string, unknown>>;

/** The answer to a request that is as described, which then is as promised. */
export async function promisedBy(
  world: World,
  name: string,
  input: Input,
  headers: Record<string, string> = {},
): Promise<Answer> {
  expect(contract.requestFaults(name, requestFor(operationNamed(name), input))).toEqual([]);
  const answer = await world.run(name, input, { headers });
  expect(contract.faults(name, answer.status, answer.body)).toEqual([]);
  return answer;
}
