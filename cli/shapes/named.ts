import type { OperationName } from '../call/answers.ts';
import type { OperationShape } from '../call/operation-shape.ts';
import { operationShapes } from './operations.ts';

/** The shape of an operation, for the command of another one. */
export function shapeNamed<N extends OperationName>(name: N): OperationShape<N> {
  const isIt = (shape: OperationShape): shape is OperationShape<N> => shape.name === name;
  const shape = operationShapes.find(isIt);
  if (!shape) throw new Error(`There is no ${name}.`);
  return shape;
}
