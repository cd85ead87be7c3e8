import { operations } from '../../shared/operations/index.ts';
import type { OperationShape } from '../call/operation-shape.ts';
import { shapeOf } from './shape-of.ts';

/** Every operation's shape. The build writes this list into the bundle in place of this file: see build.mjs. */
export const operationShapes: readonly OperationShape[] = operations.map(shapeOf);
