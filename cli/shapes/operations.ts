import { operations } from '../../shared/operations/index.ts';
import type { OperationShape } from '../operation-shape.ts';
import { shapeOf } from './shape-of.ts';

/** Every operation, as the command line needs it. The bundle has this list written out in place of this file: see build.mjs. */
export const operationShapes: readonly OperationShape[] = operations.map(shapeOf);
